"""Small PDFs and records for the tests of the core."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pymupdf

from desktop.core.records import Book, BookStatus, Hit, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from desktop.core.library.catalog import Catalog

LINE = 16
_ids = itertools.count(1)


def book_id(letter: str) -> str:
    """Return an id of the right form."""
    return (letter * 64)[:64]


def pdf(
    path: Path,
    pages: Sequence[str],
    *,
    toc: Sequence[tuple[int, str, int]] = (),
    labels: Sequence[dict[str, Any]] = (),
    title: str = "",
    **saving: Any,
) -> Path:
    """Write a PDF: one string a page, its lines apart by newlines, blocks by empty lines."""
    document = pymupdf.open()
    for text in pages:
        page = document.new_page(width=595, height=842)
        for number, line in enumerate(text.split("\n")):
            if line:
                page.insert_text((72, 72 + LINE * number), line, fontsize=11)
    document.set_metadata({"title": title, "keywords": f"unlike any other {next(_ids)}"})
    if toc:
        document.set_toc([list(entry) for entry in toc])
    if labels:
        document.set_page_labels(list(labels))
    document.save(path, **saving)
    document.close()
    return path


def passage(book: str, page: int, text: str, *, start: int = 0, section: str = "") -> Passage:
    """Return a passage of a page."""
    return Passage(
        f"{book}:{page}:{start}", book, page, str(page), start, start + len(text), section, text
    )


def hit(found: Passage, rank: int = 1, *, title: str = "A book", score: float = 0.5) -> Hit:
    """Return a passage as found."""
    return Hit(rank, found, title, score)


def shelve(catalog: Catalog, book: str, texts: Sequence[str], *, title: str = "A book") -> Book:
    """Enter a book of some pages, a passage each, into a catalogue."""
    from desktop.core.records import Page

    catalog.put(Book(book, title, f"/{title}.pdf", BookStatus.READING, pages=len(texts)))
    pages = [Page(n, f"p{n}", text) for n, text in enumerate(texts, start=1)]
    catalog.commit_pages(book, pages, [passage(book, p.number, p.text) for p in pages if p.text])
    entered = catalog.update(book, status=BookStatus.INDEXED)
    assert entered is not None
    return entered
