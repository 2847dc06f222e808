"""One library: its books, their files, and the parts that find things in them.

Opens the heavy parts (LanceDB, the embedder) only once they are needed. Knows nothing of
windows, command lines or language models.
"""

from __future__ import annotations

import logging
import shutil
import threading
from typing import TYPE_CHECKING

from desktop import settings
from desktop.core.documents.registry import open_document
from desktop.core.library.catalog import Catalog
from desktop.core.library.collections import Collections
from desktop.core.library.embedding import MiniLM
from desktop.core.library.notes import NoteStore
from desktop.core.llm.runtime.kv_store import KVStore
from desktop.core.records import BookStatus
from desktop.core.scheduling import Turns

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.documents.document import Document
    from desktop.core.library.embedding import Embedder
    from desktop.core.library.store import Store
    from desktop.core.records import Book
    from desktop.paths import Paths


logger = logging.getLogger(__name__)


class Library:
    """The library in one folder.

    Args:
        paths: Its folders; made where missing.
        embedder: Turns texts into vectors; all-MiniLM-L6-v2 unless a test brings its own.
    """

    def __init__(self, paths: Paths, *, embedder: Embedder | None = None) -> None:
        self.paths = paths.create()
        self.catalog = Catalog(paths.catalog)
        self.collections = Collections(self.catalog)
        self.turns = Turns(paths.locks)
        self.embedder: Embedder = embedder or MiniLM()  # its model is loaded at the first use
        self.states = KVStore(
            paths.states, quota=lambda: settings.load(paths.settings).reading_ahead_bytes
        )
        self.notes = NoteStore(paths.notes)
        self._opening = threading.Lock()
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        """The index; importing LanceDB takes about a second.

        A book that the index has lost is askable once more only when it is indexed again.
        """
        with self._opening:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    def _open_store(self) -> Store:
        from desktop.core.library.store import Store

        # Listed before the index is opened: what was indexed by then must be in it.
        books = [b for b in self.catalog.books() if b.status is BookStatus.INDEXED]
        store = Store(
            self.paths.index,
            embedder=self.embedder.identity,
            dimension=self.embedder.dimension,
        )
        for book in books:
            if (store.texts(book.id), store.vectors(book.id)) != (book.passages, book.passages):
                logger.warning("the index has lost %s", book.id[:8])
                self.catalog.update(book.id, status=BookStatus.READING, passages_embedded=0)
        return store

    def file_of(self, book: str) -> Path:
        """Return the library's own copy of a book."""
        return self.paths.books / book / "book.pdf"

    def open(self, book: str) -> Document:
        """Open the library's copy of a book.

        Raises:
            UserFacingError: if the copy is missing or damaged.
        """
        return open_document(self.file_of(book))

    def remove(self, book: str) -> None:
        """Take a book out; `restore` brings it back until `purge`."""
        self.catalog.remove(book)

    def restore(self, book: str) -> Book | None:
        """Bring back a removed book; None where it was deleted for good."""
        return self.catalog.restore(book)

    def purge(self, book: str) -> None:
        """Delete a removed book for good. A book that was brought back is left alone."""
        with self.turns.writing():
            if book not in self.catalog.removed():
                return
            self.store.delete(book)
            self.states.forget(book)
            self.notes.forget(book)
            shutil.rmtree(self.paths.books / book, ignore_errors=True)
            self.catalog.delete(book)

    def close(self) -> None:
        """Close the catalogue."""
        self.catalog.close()
