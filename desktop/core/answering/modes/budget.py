"""The token budget of a part of a book: what reading all of it takes, before any is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.answering.modes import long_context
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.assembly import shared_prefix
from desktop.core.answering.prompt.context import FRAME_TOKENS, MOST_ANSWER_TOKENS

# decode() reads the hints.
from desktop.core.llm.hardware.memory_plan import Shortage  # noqa: TC001
from desktop.core.retrieval import table_of_contents

if TYPE_CHECKING:
    from desktop.core.answering.generation.loaded_model import LoadedModel
    from desktop.core.library.catalog import Catalog
    from desktop.core.library.search_filter import SearchFilter

MOST_COUNTED = 4
"""A text of more characters than so many windows have tokens is not counted but estimated."""
CHARACTERS_A_TOKEN = 4.0
MAP_REDUCE_COST = 1.5
"""Time of reading through for a question, taking notes, against that of reading. On four questions
of the test books, 38 to 71 pages each, it was 1.35 to 1.7."""
_LEVELS = 3
_ANY = "?"


@dataclass(frozen=True)
class Part:
    """A part of a book that can be chosen to be read.

    Attributes:
        label: What it is called.
        level: Depth, from 0.
        pages: First and last page.
        sections: Paths of the sections in it, as in `Passage.section`.
        chapter: Whether it is a chapter of the book.
        characters: Length of its pages' text.
    """

    label: str
    level: int
    pages: tuple[int, int]
    sections: tuple[str, ...]
    chapter: bool
    characters: int


@dataclass(frozen=True)
class Estimate:
    """What reading a part of a book takes.

    Attributes:
        pages: Number of pages.
        tokens: Length of its text; an estimate where it is far too long.
        most: The longest text that the model reads at once here.
        seconds: About how long it takes the first time; where it does not fit, reading it through.
            None where that is not known.
        known: Whether it was read before and kept.
        short: The window that there is too little memory for; None where there is enough.
    """

    pages: int
    tokens: int
    most: int
    seconds: float | None
    known: bool
    short: Shortage | None = None

    @property
    def fits(self) -> bool:
        """Whether it can be read at once."""
        return self.tokens <= self.most


def parts(catalog: Catalog, book: str) -> list[Part]:
    """Return the parts of a book in reading order, chapters and what is in them."""
    outline = table_of_contents.outline(catalog, book)
    lengths = catalog.page_lengths(book)
    chapters = {section.path for section in outline.chapters}
    pages: dict[str, set[int]] = {}
    for path, page in catalog.section_pages(book):
        pages.setdefault(path, set()).add(page)
    found = []
    for section in outline.sections:
        if len(section.path) > _LEVELS:
            continue
        inside = outline.within(section)
        numbers = set().union(*(pages.get(path, ()) for path in inside))
        found.append(
            Part(
                label=outline.label(section) if section.path in chapters else section.title,
                level=len(section.path) - 1,
                pages=(section.first, section.last),
                sections=inside,
                chapter=section.path in chapters,
                characters=sum(lengths.get(number, 0) for number in numbers),
            )
        )
    return found


def estimate(loaded: LoadedModel, catalog: Catalog, where: SearchFilter) -> Estimate:
    """Return what reading a part of one book with a model takes.

    Args:
        loaded: The model.
        catalog: Where the pages are.
        where: The part, of one book.

    Raises:
        UserFacingError: if there is no such book or page.
    """
    engine, texts = loaded.engine, prompts.load()
    frame = len(engine.chat(texts.messages(_ANY, (), ())))
    most = loaded.widest() - frame - MOST_ANSWER_TOKENS
    short = loaded.shortage()
    (book,) = where.books or ()
    pages = long_context.pages(catalog, book, where)
    characters = sum(len(page.text) for page in pages)
    if characters > MOST_COUNTED * most * CHARACTERS_A_TOKEN:
        tokens = round(characters / CHARACTERS_A_TOKEN)
        return Estimate(len(pages), tokens, most, _map_reduce(loaded, tokens), False, short)
    context = long_context.choose(
        catalog,
        (),
        books=[book],
        where=where,
        count=lambda text: len(engine.tokenize(text)),
        room=characters + len(pages) * FRAME_TOKENS,
    )
    prompt = engine.chat(texts.messages(_ANY, context.sources, (), first=True))
    kept = shared_prefix(engine, texts, prompt, context.sources)
    known = loaded.states(book).has(prompt[:kept])
    tokens = len(prompt) - frame
    seconds = loaded.seconds(len(prompt)) if tokens <= most else _map_reduce(loaded, tokens)
    return Estimate(len(pages), tokens, most, seconds, known, short)


def _map_reduce(loaded: LoadedModel, tokens: int) -> float | None:
    """Return about how long a text takes of which half a usual window is read at a time."""
    at_once = loaded.default_window // 2
    each = loaded.seconds(at_once)
    return None if each is None else MAP_REDUCE_COST * each * tokens / at_once
