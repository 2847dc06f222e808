"""A part of the library, and the filter over the index's columns that keeps a search to it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.documents.section_kind import MARKS

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOOK_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class SearchFilter:
    """A part of the library.

    Attributes:
        books: Ids of books; None for all that are in the index.
        pages: First and last page; None for all.
        sections: Paths of sections, as in `Passage.section`; None for all.
        marks: What must stand in a passage: names of `Marks`.
    """

    books: tuple[str, ...] | None = None
    pages: tuple[int, int] | None = None
    sections: tuple[str, ...] | None = None
    marks: tuple[str, ...] = ()

    def filter(self) -> str | None:
        """Return it as a filter on the tables' columns; nothing in it is anybody's text.

        Ids are checked to be hexadecimal, pages and sections go in as numbers, and of marks only
        names of columns.
        """
        parts = [] if self.books is None else [only(self.books)]
        if self.pages is not None:
            first, last = (int(page) for page in self.pages)
            parts.append(f"page BETWEEN {first} AND {last}")
        if self.sections is not None:
            numbers = ", ".join(str(section_number(path)) for path in self.sections)
            parts.append(f"section IN ({numbers})" if numbers else "false")
        parts += [name for name in MARKS if name in self.marks]
        return " AND ".join(parts) or None


EVERYWHERE = SearchFilter()


def section_number(path: str) -> int:
    """Return the number that stands for a section's path in the index."""
    return int.from_bytes(hashlib.blake2s(path.encode(), digest_size=8).digest(), signed=True)


def only(books: Sequence[str]) -> str:
    """Return the filter for some books. Ids are hexadecimal, so nothing needs quoting."""
    for book in books:
        if not _BOOK_ID.fullmatch(book):
            message = f"not a book id: {book!r}"
            raise ValueError(message)
    return f"book IN ({', '.join(repr(book) for book in books)})" if books else "false"
