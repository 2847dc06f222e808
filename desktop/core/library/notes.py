"""A cache of map-reduce notes: what was noted of a book for a question is not noted again.

A JSON file a question, under the book's folder. One that is damaged is none: notes are then taken
again. Knows nothing of models or prompts.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop.core.llm.models.atomic_import import read_json, write_json
from desktop.core.text.normalisation import content_words

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Note:
    """What was noted of some pages.

    Attributes:
        quotes: Page and sentence, or row of a table, word for word; empty where nothing was found.
        odds: Natural logarithm of the odds that the pages answer, by the model's own word.
    """

    quotes: tuple[tuple[int, str], ...] = ()
    odds: float = 0.0


class NoteStore:
    """The notes of one library.

    Args:
        folder: Where they lie; made with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, book: str, model: str, question: str) -> Notes:
        """Return the notes of a book for a question, or any with the same words that count.

        Args:
            book: Its id.
            model: All that changes what a model would note.
            question: What is asked.
        """
        words = " ".join(sorted(set(content_words(question)))) or question
        name = hashlib.sha256(f"{model}\0{words}".encode()).hexdigest()[:32]
        return Notes(self._folder / book / f"{name}.json")

    def forget(self, book: str) -> None:
        """Delete the notes of a book."""
        shutil.rmtree(self._folder / book, ignore_errors=True)


class Notes:
    """The notes of one book for one question, by the text of which they were taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._notes: dict[str, Any] = read_json(path)

    def load(self, text: str) -> Note | None:
        """Return what was noted of a text; None where none was taken yet."""
        try:
            found = self._notes[_digest(text)]
            quotes = tuple((int(page), str(quote)) for page, quote in found["quotes"])
            return Note(quotes, float(found["odds"]))
        except (KeyError, TypeError, ValueError):
            return None

    def save(self, text: str, note: Note) -> None:
        """Keep what was noted of a text, or don't."""
        self._notes[_digest(text)] = {"quotes": note.quotes, "odds": note.odds}
        try:
            write_json(self._path, self._notes)
        except OSError as error:
            logger.warning("a note can't be saved: %s", error)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
