"""Found passages with the tables that they touch, whole and in rows."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from desktop.core.documents import tables
from desktop.core.errors import UserFacingError
from desktop.core.text.tables import whole, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.library.library import Library
    from desktop.core.records import Hit, Page, Passage
    from desktop.core.text.tables import Table

logger = logging.getLogger(__name__)

MOST_ROWS = 30
"""A longer table is not made whole: it would crowd the other passages out."""
_SHORT = 40
"""Characters of a line that may be a table's cell."""


def with_tables(library: Library, hits: Sequence[Hit]) -> list[Hit]:
    """Return passages with their tables; one whose table was cut gets the whole of it.

    What another passage then holds as well is left out. Pages are read again from the library's
    copy, since where words stand is not kept; where one can't be read, its passages
    stay as they are.
    """
    pages = _pages(library, [hit.passage for hit in hits])
    result: list[Hit] = []
    for hit in hits:
        page, found = pages.get((hit.passage.book, hit.passage.page), (None, ()))
        short = (table for table in found if len(table.rows) <= MOST_ROWS)
        start, end = whole(short, hit.passage.start, hit.passage.end)
        for other in result:
            start, end = _apart((start, end), hit.passage, other.passage)
        if start >= end:
            continue
        if page is not None:
            text = page.text[start:end]
            passage = replace(hit.passage, start=start, end=end, text=text)
            hit = replace(hit, passage=passage, tables=within(found, start, end))
        result.append(hit)
    return [replace(hit, rank=rank) for rank, hit in enumerate(result, start=1)]


def tables_on(
    library: Library, passages: Sequence[Passage]
) -> dict[tuple[str, int], tuple[Table, ...]]:
    """Return book and page -> the page's tables, for the pages of passages that may have one."""
    return {place: found for place, (_, found) in _pages(library, passages).items()}


def _may(passage: Passage) -> bool:
    lines = passage.text.split("\n")
    return sum(0 < len(line) < _SHORT for line in lines) > tables.LEAST_ROWS


def _pages(
    library: Library, passages: Sequence[Passage]
) -> dict[tuple[str, int], tuple[Page, tuple[Table, ...]]]:
    places = {(passage.book, passage.page) for passage in passages if _may(passage)}
    read = {}
    for book, group in groupby(sorted(places), key=lambda place: place[0]):
        try:
            with closing(library.open(book)) as document:
                for _, number in group:
                    page = document.page(number)
                    read[book, number] = page, tables.find(page)
        except UserFacingError as error:
            logger.warning("the tables of %s can't be read: %s", book[:8], error)
    return read


def _apart(span: tuple[int, int], passage: Passage, other: Passage) -> tuple[int, int]:
    """Return what of a passage's span is not in another passage as well."""
    start, end = span
    if (passage.book, passage.page) != (other.book, other.page):
        return span
    if other.start <= start < other.end:
        start = other.end
    if other.start < end <= other.end:
        end = other.start
    return start, end
