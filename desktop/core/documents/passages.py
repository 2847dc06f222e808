"""Chunking: cutting pages into passages, the units of retrieval.

A passage follows paragraphs, stays inside one section and one page, and fits the embedder's
window together with its section's title: what would be longer is cut silently by the embedder.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from desktop.core.documents.outline import block_spans
from desktop.core.records import Passage, passage_id
from desktop.core.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from desktop.core.documents.outline import Boundary, Sections
    from desktop.core.records import Page


class Tokenizer(Protocol):
    """Counts the way the embedder does."""

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """Return for each text the character offset at which each of its tokens begins."""


@dataclass(frozen=True)
class _Unit:
    """A paragraph or a piece of one: offsets in the page's text and its length in tokens."""

    start: int
    end: int
    tokens: int


class Splitter:
    """Cuts pages into passages.

    Args:
        book: The book's id, for the passages.
        sections: The book's sections.
        tokenizer: The embedder's tokenizer.
        budget: Most tokens of a passage's own text; the embedder's window less its two special
            tokens and the room for the section's title.
    """

    def __init__(self, book: str, sections: Sections, tokenizer: Tokenizer, budget: int) -> None:
        self._book = book
        self._sections = sections
        self._tokenizer = tokenizer
        self._budget = budget

    def split(self, pages: Sequence[Page]) -> list[Passage]:
        """Return the passages of some pages, in reading order."""
        blocks = [
            (page, boundary, span)
            for page in pages
            for boundary, span in _sectioned_blocks(page, self._sections.on_page(page))
        ]
        starts = self._tokenizer.token_starts(
            [page.text[start:end] for page, _, (start, end) in blocks]
        )
        passages: list[Passage] = []
        group: list[_Unit] = []
        where: tuple[Page, Boundary] | None = None
        for (page, boundary, span), tokens in zip(blocks, starts, strict=True):
            if where != (page, boundary):
                passages.extend(self._pack(where, group))
                where, group = (page, boundary), []
            group.extend(self._units(page.text, span, tokens))
        passages.extend(self._pack(where, group))
        return passages

    def _units(self, text: str, span: tuple[int, int], tokens: list[int]) -> Iterator[_Unit]:
        """Yield a paragraph whole, or by sentences, or by runs of tokens where it is too long."""
        start, end = span
        if len(tokens) <= self._budget:
            yield _Unit(start, end, len(tokens))
            return
        for first, last in sentences.spans(text[start:end]):
            low, high = bisect_left(tokens, first), bisect_left(tokens, last)
            for piece in range(low, max(high, low + 1), self._budget):
                stop = min(piece + self._budget, high)
                begin = tokens[piece] if piece > low else first
                finish = tokens[stop] if stop < high else last
                yield _Unit(start + begin, start + finish, stop - piece)

    def _pack(
        self, where: tuple[Page, Boundary] | None, units: Iterable[_Unit]
    ) -> Iterator[Passage]:
        """Fill passages with whole units, one after the other."""
        if where is None:
            return
        page, boundary = where
        held: list[_Unit] = []
        for unit in units:
            if held and sum(u.tokens for u in held) + unit.tokens > self._budget:
                yield self._passage(page, boundary, held)
                held = []
            held.append(unit)
        if held:
            yield self._passage(page, boundary, held)

    def _passage(self, page: Page, boundary: Boundary, units: list[_Unit]) -> Passage:
        start, end = units[0].start, units[-1].end
        return Passage(
            id=passage_id(self._book, page.number, start),
            book=self._book,
            page=page.number,
            page_label=page.label,
            start=start,
            end=end,
            section=boundary.section,
            text=page.text[start:end],
        )


def _sectioned_blocks(
    page: Page, boundaries: list[Boundary]
) -> Iterator[tuple[Boundary, tuple[int, int]]]:
    current = 0
    for span in block_spans(page.text):
        while current + 1 < len(boundaries) and boundaries[current + 1].offset <= span[0]:
            current += 1
        yield boundaries[current], span
