"""Which section of a book a place on a page belongs to, from the book's outline."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.records import Heading, Page

SEPARATOR = " › "
_NOT_WORD = re.compile(r"\W+")
_SLACK_POINTS = 6.0
"""A destination often lies a little above or below its heading's line."""


@dataclass(frozen=True)
class Boundary:
    """From this offset of a page's text on, `section` holds."""

    offset: int
    section: str


class Sections:
    """The section path at any place of a book.

    Args:
        headings: The outline in reading order.
    """

    def __init__(self, headings: Sequence[Heading]) -> None:
        self._headings = sorted(headings, key=lambda heading: heading.page)
        self._pages = [heading.page for heading in self._headings]
        self._paths = _paths(self._headings)

    def on_page(self, page: Page) -> list[Boundary]:
        """Return where on the page sections begin; the first boundary is at offset 0."""
        first = bisect_right(self._pages, page.number - 1)
        after = bisect_right(self._pages, page.number)
        boundaries = [Boundary(0, self._paths[first - 1] if first else "")]
        blocks = block_spans(page.text)
        for index in range(first, after):
            offset = _locate(self._headings[index], page, blocks)
            offset = max(offset, boundaries[-1].offset)
            if offset == boundaries[-1].offset:
                boundaries.pop()
            boundaries.append(Boundary(offset, self._paths[index]))
        if boundaries[0].offset > 0:
            boundaries.insert(0, Boundary(0, boundaries[0].section))
        return boundaries


def own_title(section: str) -> str:
    """Return the last of the titles in a section's path."""
    return section.rpartition(SEPARATOR)[2]


def block_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each block of a page's text (they are parted by empty lines)."""
    result = []
    start = 0
    for piece in text.split("\n\n"):
        if piece:
            result.append((start, start + len(piece)))
        start += len(piece) + 2
    return result


def _paths(headings: Sequence[Heading]) -> list[str]:
    stack: list[Heading] = []
    paths = []
    for heading in headings:
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        paths.append(SEPARATOR.join(entry.title for entry in stack))
    return paths


def _fold(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()


def _locate(heading: Heading, page: Page, blocks: list[tuple[int, int]]) -> int:
    """Return the offset of a heading in its page: by its words, else by its height, else 0."""
    title = _fold(heading.title)
    for start, end in blocks:
        block = _fold(page.text[start:end])
        if title and block.startswith(title) and len(block) < 3 * len(title) + 40:
            return start
    if heading.y is not None and page.words:
        starts = {start for start, _ in blocks}
        for word in page.words:
            if word.start in starts and word.rect[1] >= heading.y - _SLACK_POINTS:
                return word.start
    return 0
