"""What of a book is put before the model, and how it fits into the window."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from desktop.core.llm.runtime.constrained_decoding import QuotingGuide
from desktop.core.records import ContextItem
from desktop.core.text import sentences

# decode() reads the hints.
from desktop.core.text.tables import Table, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.records import Hit, LeftOut


@dataclass(frozen=True)
class Source:
    """A piece of a page that the model reads and that citations may point into.

    Attributes:
        start: Offset of `text` in the page's text.
        score: Of the finding that brought it; 0 where none did.
        tables: What the text has of tables, by offsets in it.
        block: Whether it is one of the parts that every page falls into, see `blocks`.
        reused: Whether a saved state spared reading it.
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
    tables: tuple[Table, ...] = ()
    block: bool = False
    reused: bool = False

    @property
    def shown(self) -> str:
        """The text as a model reads it: tables in rows."""
        return laid_out(self.text, self.tables)

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
            reused=self.reused,
        )


@dataclass(frozen=True)
class Context:
    """The sources of one answer in the order of reading.

    Attributes:
        left_out: What did not fit; None where everything did.
        notes: Sentences for the user.
        noted: What was copied of the sources while the book was read through.
    """

    sources: tuple[Source, ...]
    left_out: tuple[LeftOut, ...] | None = None
    notes: tuple[str, ...] = field(default=())
    noted: tuple[str, ...] = ()


VERBATIM_WORDS = 4
"""A run of words shorter than this is a coincidence, not a quotation."""
MOST_QUOTES = 3
"""Sentences that the model may copy before it answers; with more it reads out the page."""
MOST_ANSWER_TOKENS = 400
"""Longest answer; it ends by itself long before."""
FRAME_TOKENS = 48
"""Tokens of the line before each source (number, title, page, section), at most."""


def from_hit(hit: Hit, count: Callable[[str], int]) -> Source:
    """Return a found passage as a source."""
    passage = hit.passage
    source = Source(
        book=passage.book,
        title=hit.title,
        page=passage.page,
        page_label=passage.page_label,
        section=passage.section,
        start=passage.start,
        text=passage.text,
        score=hit.score,
        tables=hit.tables,
    )
    return replace(source, tokens=count(source.shown))


def quotable(sources: Sequence[Source]) -> list[str]:
    """Return what may be quoted of sources, each on a line: sentences, and rows of tables.

    What is shorter than a quotation must be, such as a heading, is left out.
    """
    texts: list[str] = []
    for source in sources:
        position = 0
        for table in (*source.tables, None):
            between = source.text[position : table.start if table else None]
            found = (" ".join(between[a:b].split()) for a, b in sentences.spans(between))
            texts += [text for text in found if len(text.split()) >= VERBATIM_WORDS]
            if table:
                texts += [row for row in str(table).split("\n") if any(map(str.isalnum, row))]
                position = table.end
    return texts


def quoting_guide(
    sources: Sequence[Source], tokenize: Callable[[str], Sequence[int]]
) -> QuotingGuide:
    """Return a guide for a text that may quote sources, word for word."""
    return QuotingGuide(tokenize, quotable(sources), most=MOST_QUOTES, least=VERBATIM_WORDS)


def best_first(sources: Sequence[Source]) -> list[Source]:
    """Return sources by what found them, best first."""
    return sorted(sources, key=lambda source: -source.score)
