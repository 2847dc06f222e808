"""Which pages a chapter covers, by its number or its title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from desktop.core.documents.outline import SEPARATOR
from desktop.core.errors import UserFacingError

if TYPE_CHECKING:
    from desktop.core.library.catalog import Catalog
    from desktop.core.records import Book

_NUMBER = re.compile(
    r"(?:chapter|chapitre|part|section)?\s*([\divxlc]+(?:\.\d+)*)\b", re.IGNORECASE
)


def chapter(catalog: Catalog, book: Book, name: str) -> tuple[int, int]:
    """Return the first and last page of a chapter or section.

    Args:
        catalog: Where the book's sections are.
        book: The book.
        name: A number ("4", "4.2") or a title or a part of it.

    Raises:
        UserFacingError: if the book has no such chapter.
    """
    ranges: dict[tuple[str, ...], list[int]] = {}
    for section, page in catalog.section_pages(book.id):
        path = tuple(section.split(SEPARATOR)) if section else ()
        for depth in range(1, len(path) + 1):
            pages = ranges.setdefault(path[:depth], [page, page])
            pages[0], pages[1] = min(pages[0], page), max(pages[1], page)
    wanted = " ".join(name.casefold().split())
    for matches in (_is_title, _is_number, _contains):
        found = [path for path in ranges if matches(path[-1].casefold(), wanted)]
        if found:
            first, last = ranges[min(found, key=len)]
            return first, last
    titles = [path[0] for path in ranges if len(path) == 1]
    known = "; ".join(titles[:12]) or "it has no table of contents"
    raise UserFacingError(
        f"“{book.title}” has no chapter “{name}”", f"Name one of these, or use --pages: {known}"
    )


def _is_title(title: str, wanted: str) -> bool:
    return title == wanted


def _is_number(title: str, wanted: str) -> bool:
    match = _NUMBER.match(title)
    asked = _NUMBER.fullmatch(wanted)
    return bool(match and asked and match.group(1) == asked.group(1))


def _contains(title: str, wanted: str) -> bool:
    """Whether a word of the title begins so; a number must be there as a whole ("2.1", "2.10")."""
    end = r"(?!\w|\.\d)" if _NUMBER.fullmatch(wanted) else ""
    return bool(wanted) and re.search(rf"(?<![\w.]){re.escape(wanted)}{end}", title) is not None
