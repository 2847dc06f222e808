"""Where on the page a citation's words stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.documents.page_text import rects_of

if TYPE_CHECKING:
    from desktop.core.library.library import Library
    from desktop.core.records import Answer, Page, Rect


def locate(library: Library, answer: Answer) -> Answer:
    """Return the answer with the rectangles of each citation's words.

    Raises:
        UserFacingError: if the library's copy of a book can't be opened.
    """
    pages: dict[tuple[str, int], Page] = {}
    for book in {citation.book for citation in answer.citations}:
        document = library.open(book)
        for number in {c.page for c in answer.citations if c.book == book}:
            pages[book, number] = document.page(number)
        document.close()

    def rects(book: str, page: int, start: int, end: int) -> tuple[Rect, ...]:
        found = rects_of(pages[book, page].words, start, end)
        return tuple((round(a, 2), round(b, 2), round(c, 2), round(d, 2)) for a, b, c, d in found)

    return replace(
        answer,
        citations=tuple(
            replace(c, rects=rects(c.book, c.page, c.start, c.end)) for c in answer.citations
        ),
    )
