"""Reading a book's pages into the catalogue, a chunk a transaction."""

from __future__ import annotations

import contextlib
import gc
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NoReturn

from desktop.core.documents.outline import Sections
from desktop.core.documents.passages import Splitter
from desktop.core.errors import UserFacingError
from desktop.core.library import embedding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from desktop.core.documents.document import Document
    from desktop.core.library.library import Library
    from desktop.core.progress import Pace
    from desktop.core.records import Book, Page

CHUNK_PAGES = 128
"""Pages a transaction: some tenths of a second of work that a kill can lose."""


def extract_pages(
    library: Library,
    book: Book,
    document: Document,
    *,
    pace: Pace,
    stand_back: Callable[[], None],
) -> None:
    """Read the pages that are still to be read, and cut them into passages.

    Args:
        library: Where they go.
        book: The book as it stands.
        document: Its open file.
        pace: Told how many pages are kept.
        stand_back: Called between chunks; raises to stop.
    """
    splitter = Splitter(book.id, Sections(document.outline()), library.embedder, embedding.BUDGET)

    def commit(pages: list[Page]) -> int:
        library.catalog.commit_pages(book.id, pages, splitter.split(pages))
        return pages[-1].number

    # A chunk is cut and kept while the next is read: the tokenizer and SQLite work outside the
    # interpreter, so that both cores are used.
    with ThreadPoolExecutor(max_workers=1) as keeper, _no_garbage_collection():
        kept: Future[int] | None = None
        for first in range(book.pages_read + 1, document.page_count + 1, CHUNK_PAGES):
            stand_back()
            last = min(first + CHUNK_PAGES - 1, document.page_count)
            pages = [document.page(number) for number in range(first, last + 1)]
            if kept is not None:
                pace.at(kept.result())
            kept = keeper.submit(commit, pages)
        if kept is not None:
            pace.at(kept.result())


def refuse_empty(library: Library, identity: str) -> NoReturn:
    """Take a book without text out again, and say why.

    Raises:
        UserFacingError: always.
    """
    document = library.open(identity)
    scanned = document.has_pictures()
    document.close()
    library.store.delete(identity)
    library.catalog.delete(identity)
    shutil.rmtree(library.paths.books / identity, ignore_errors=True)
    if scanned:
        raise UserFacingError(
            "Its pages are pictures of text (a scan), with nothing in them to search",
            "Make its text searchable with a text-recognition (OCR) program and add that file",
        )
    raise UserFacingError(
        "It has no text at all, so there is nothing to index", "Add a file with text in it"
    )


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Spare a seventh of the time of reading: its half a million tuples make no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
