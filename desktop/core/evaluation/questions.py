"""Questions whose answers and pages are known, one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from desktop.core.codec import decode
from desktop.core.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Question:
    """A question with what is known of its answer.

    Attributes:
        id: Names it in a report.
        question: As a user would ask it.
        answer: A right answer, for people.
        pages: Physical pages that the answer needs; empty where the book does not say.
        alt_pages: Other pages that answer as well.
        exclude_pages: Pages that must not count as a find, such as an answer key.
        any_page: Whether any one of `pages` is enough.
        quote: The sentence of the book that answers.
        type: "fact", "definition", "why", "comparison", "multi-page", "table", "exercise" or
            "unanswerable".
        must: For each fact that the answer must state, the spellings that count; empty where
            the answer is not judged.
        weak: Whether the question is doubtful; it is then reported apart.
    """

    id: str
    question: str
    answer: str = ""
    pages: tuple[int, ...] = ()
    alt_pages: tuple[int, ...] = ()
    exclude_pages: tuple[int, ...] = ()
    any_page: bool = False
    quote: str = ""
    type: str = "fact"
    must: tuple[tuple[str, ...], ...] = ()
    weak: bool = False

    @property
    def answerable(self) -> bool:
        """Whether the book answers it."""
        return bool(self.pages)

    def on_gold(self, page: int) -> bool:
        """Whether a page is one that answers."""
        return page in (*self.pages, *self.alt_pages) and page not in self.exclude_pages


_NAMES = frozenset(field.name for field in fields(Question))


def read(path: Path) -> list[Question]:
    """Read a file of questions.

    Raises:
        UserFacingError: if it can't be read or a line is no question; says which.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserFacingError(
            f"The questions in “{path.name}” can't be read ({error})", "Name a text file in UTF-8"
        ) from error
    questions = [_question(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    if not questions:
        raise UserFacingError(f"“{path.name}” holds no question", "Write one JSON object a line")
    return questions


def _question(path: Path, number: int, line: str) -> Question:
    try:
        row: dict[str, Any] = json.loads(line)
        question = decode(Question, row)
        well_formed = isinstance(question.question, str) and all(
            isinstance(page, int)
            for page in (*question.pages, *question.alt_pages, *question.exclude_pages)
        )
        well_formed = well_formed and all(
            isinstance(fact, list) and all(isinstance(spelling, str) for spelling in fact)
            for fact in row.get("must", ())
        )
    except (ValueError, TypeError, AttributeError):
        well_formed = False
    if not well_formed or not question.question.strip():
        raise UserFacingError(
            f"Line {number} of “{path.name}” is no question",
            'Write it as {"id": "1", "question": "…", "pages": [12], "must": [["…"]]}',
        )
    return question
