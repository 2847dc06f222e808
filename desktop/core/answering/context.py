"""What of a book is put before the model, and how it fits into the window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from desktop.core.records import ContextItem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.library.where import Where
    from desktop.core.records import Hit, LeftOut


@dataclass(frozen=True)
class Source:
    """A piece of a page that the model reads and that citations may point into.

    Attributes:
        start: Offset of `text` in the page's text.
        score: Of the finding that brought it; 0 where none did.
    """

    book: str
    title: str
    page: int
    page_label: str
    section: str
    start: int
    text: str
    score: float
    tokens: int = 0

    def item(self) -> ContextItem:
        """Return it as the answer lists it."""
        return ContextItem(
            book=self.book,
            title=self.title,
            page=self.page,
            page_label=self.page_label,
            section=self.section,
            start=self.start,
            end=self.start + len(self.text),
            tokens=self.tokens,
            score=self.score,
        )


@dataclass(frozen=True)
class Context:
    """The sources of one answer in the order of reading.

    Attributes:
        left_out: What did not fit; None where everything did.
        notes: Sentences for the user.
    """

    sources: tuple[Source, ...]
    left_out: tuple[LeftOut, ...] | None = None
    notes: tuple[str, ...] = field(default=())


class ModeContext(Protocol):
    """Chooses the sources of one mode."""

    def __call__(
        self,
        catalog: Catalog,
        hits: Sequence[Hit],
        *,
        books: Sequence[str],
        where: Where,
        count: Callable[[str], int],
        room: int,
    ) -> Context:
        """Return what to read.

        Args:
            catalog: Where the pages are.
            hits: What was found, best first.
            books: Ids of the books that are asked.
            where: The part of the library to keep to.
            count: Tokens of a text.
            room: Most tokens of all sources together.
        """


FRAME_TOKENS = 48
"""Tokens of the line before each source (number, title, page, section), at most."""


def from_hit(hit: Hit, count: Callable[[str], int]) -> Source:
    """Return a found passage as a source."""
    passage = hit.passage
    return Source(
        book=passage.book,
        title=hit.title,
        page=passage.page,
        page_label=passage.page_label,
        section=passage.section,
        start=passage.start,
        text=passage.text,
        score=hit.score,
        tokens=count(passage.text),
    )


def best_first(sources: Sequence[Source]) -> list[Source]:
    """Return sources by what found them, best first."""
    return sorted(sources, key=lambda source: -source.score)
