"""Bringing a book into the library, in three stages, each of which goes on after a kill.

1. reading: pages and passages into the catalogue, a chunk a transaction;
2. the full-text index: from then on the book can be asked;
3. vectors, a batch at a time, standing back while an answer is being written.

What is done is always read back from where it is kept, never remembered elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any

from desktop.core.documents.registry import open_document
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.embedding import embed
from desktop.core.library.extraction import extract_pages, refuse_empty
from desktop.core.library.file_import import explain, file_id, import_file
from desktop.core.progress import Pace
from desktop.core.records import Added, Book, BookStatus, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.core.records import Passage

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
"""A book that took the process down this often without getting on is given up."""

_UNFINISHED = (BookStatus.READING, BookStatus.ASKABLE)


class Indexer:
    """Adds and indexes books of one library.

    Args:
        library: The library.
        progress: Gets each step with the book's id ("" before it is known).
        book_changed: Gets a book each time its status changes.
        cancelled: Whether to stop; what is done is kept.
    """

    def __init__(
        self,
        library: Library,
        *,
        progress: Callable[[str, Progress], None] = lambda _book, _progress: None,
        book_changed: Callable[[Book], None] = lambda _book: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._library = library
        self._catalog = library.catalog
        self._progress = progress
        self._changed = book_changed
        self._cancelled = cancelled

    def add(self, path: Path, *, password: str | None = None) -> Added:
        """Add a file and index it to the end.

        Raises:
            PasswordNeededError: if the file is locked and `password` does not open it.
            UserFacingError: if it can't be read, has no text, or does not fit on the disk.
            CancelledError: if stopped; the book stays in the library as paused.
        """
        start = time.monotonic()
        document = open_document(path, password=password)
        try:
            identity = file_id(path)
            with self._library.turns.importing(cancelled=self._cancelled):
                book = self._known(identity)
                if book is None or not self._library.file_of(identity).exists():
                    size = path.stat().st_size
                    self._progress(identity, Progress("copying", 0, size, "bytes"))
                    book = import_file(self._library, path, identity, document)
                    self._changed(book)
        finally:
            document.close()
        if book.status is BookStatus.INDEXED:
            return Added("already", str(path), book, {"askable_s": 0.0, "total_s": 0.0})
        # Asked for by the user: what took the process down before is tried afresh.
        self._catalog.update(book.id, attempts=0)
        book, askable = self.index(book.id)
        return Added(
            "indexed",
            str(path),
            book,
            {
                "askable_s": round(max(0.0, askable - start), 3),
                "total_s": round(time.monotonic() - start, 3),
            },
        )

    def _known(self, identity: str) -> Book | None:
        if identity in self._catalog.removed():
            return self._library.restore(identity)
        return self._catalog.find(identity)

    def unfinished(self) -> list[Book]:
        """Return the books whose indexing was interrupted or whose index is lost, oldest first."""
        if self._catalog.books():
            _ = self._library.store  # its opening finds what is lost
        return [book for book in self._catalog.books() if book.status in _UNFINISHED]

    def index(self, identity: str) -> tuple[Book, float]:
        """Index a book from wherever it stands.

        Returns:
            The book, and the moment (time.monotonic) from which it could be asked.

        Raises:
            UserFacingError: if it can't be indexed.
            CancelledError: if stopped.
        """
        with self._recording(identity), self._turn(f"book-{identity[:16]}", identity):
            passages = self._make_askable(identity)
            askable = time.monotonic()
            return self._complete(identity, passages), askable

    def index_all(self) -> int:
        """Go on with every unfinished book: first all texts, then the vectors; return how many.

        A book that fails says so itself, and the others go on.

        Raises:
            CancelledError: if stopped.
        """
        books = self.unfinished()
        for book in books:
            if book.status is BookStatus.READING:
                with self._going_on(), self._recording(book.id):
                    self._make_askable(book.id)
        for book in books:
            with self._going_on():
                self.index(book.id)
        return len(books)

    @contextlib.contextmanager
    def _going_on(self) -> Iterator[None]:
        """Leave a book that fails or was removed for the next one."""
        try:
            yield
        except UserFacingError:
            return
        except CancelledError:
            if self._cancelled():
                raise

    @contextlib.contextmanager
    def _recording(self, identity: str) -> Iterator[None]:
        """Keep in the catalogue how work on a book ended, where it did not end well."""
        try:
            yield
        except CancelledError:
            self._set(identity, status=BookStatus.PAUSED, attempts=0)
            raise
        except UserFacingError as error:
            self._set(identity, status=BookStatus.FAILED, error=str(error))
            raise
        except (OSError, sqlite3.DatabaseError, RuntimeError) as error:
            logger.exception("indexing %s failed", identity[:8])
            refusal = explain(error)
            # On a full disk even this may not be written; the reason is told all the same, and
            # the book goes on at the next start. Only a lost process counts as an attempt.
            with contextlib.suppress(sqlite3.DatabaseError):
                self._set(identity, status=BookStatus.FAILED, error=str(refusal), attempts=0)
            raise refusal from error

    def _turn(self, name: str, identity: str) -> AbstractContextManager[None]:
        waiting = Progress("waiting", 0, 0, "")
        return self._library.turns.hold(
            name, waiting=lambda: self._progress(identity, waiting), cancelled=self._cancelled
        )

    def _begin(self, identity: str) -> None:
        """Count an attempt at work that may take the process down; what gets on is forgotten."""
        if self._catalog.begin_attempt(identity) > MOST_ATTEMPTS:
            raise UserFacingError(
                "This file stopped the reading part of Lutrin several times",
                "Remove the book, print it to a new PDF with a PDF viewer, and add that",
            )

    def _make_askable(self, identity: str) -> list[Passage]:
        """Read the text and list it; one book at a time, whatever else gets its vectors."""
        with self._turn("reading", identity):
            # LanceDB is imported meanwhile: a second, most of it outside the interpreter.
            opening = threading.Thread(target=lambda: self._library.store, daemon=True)
            opening.start()
            self._read(identity)
            opening.join()
            passages = self._catalog.passages(identity)
            if not passages:
                refuse_empty(self._library, identity)
            with self._library.turns.writing(cancelled=self._cancelled):
                self._library.store.refresh()
                if self._library.store.texts(identity) != len(passages):
                    self._begin(identity)
                    self._progress(identity, Progress("listing", 0, len(passages), "passages"))
                    self._library.store.put_text(identity, passages)
                    self._catalog.update(identity, attempts=0)
            self._set(identity, status=BookStatus.ASKABLE, error="")
        return passages

    def _complete(self, identity: str, passages: list[Passage]) -> Book:
        """Make the vectors, one book at a time."""
        with self._turn("embedding", identity):
            self._embed(identity, passages)
        book = self._set(
            identity,
            status=BookStatus.INDEXED,
            embedder=self._library.embedder.identity,
            attempts=0,
        )
        if book is None:  # removed meanwhile
            raise CancelledError
        return book

    def _read(self, identity: str) -> None:
        book = self._catalog.find(identity)
        if book is None:
            raise CancelledError
        if book.pages_read >= book.pages > 0:
            return
        self._begin(identity)
        self._set(identity, status=BookStatus.READING)
        document = self._library.open(identity)
        try:
            pace = self._pace(identity, "reading", document.page_count, "pages", book.pages_read)
            extract_pages(
                self._library,
                book,
                document,
                pace=pace,
                stand_back=lambda: self._stand_back(identity, pace),
            )
            self._catalog.update(
                identity, warnings=list(dict.fromkeys([*book.warnings, *document.warnings]))
            )
        finally:
            document.close()

    def _embed(self, identity: str, passages: list[Passage]) -> None:
        store = self._library.store
        done = store.embedded(identity)
        left = [passage for passage in passages if passage.id not in done]
        count = len(passages) - len(left)
        self._catalog.update(identity, passages_embedded=count)
        if left:
            self._begin(identity)
            self._library.embedder.load()  # now, so that it does not count into the pace
        elif store.is_finished(identity):
            return
        pace = self._pace(identity, "embedding", len(passages), "passages", count)
        for owners, vectors in embed(
            self._library.embedder,
            left,
            pace=pace,
            stand_back=lambda: self._stand_back(identity, pace),
        ):
            with self._library.turns.writing(cancelled=self._cancelled):
                store.put_vectors(owners, vectors)
            count += len({passage.id for passage in owners})
            self._catalog.update(identity, passages_embedded=count, attempts=0)
        with self._library.turns.writing(cancelled=self._cancelled):
            store.finish(identity)

    def _pace(self, identity: str, stage: str, total: int, unit: str, done: int) -> Pace:
        return Pace(
            lambda progress: self._progress(identity, progress),
            stage,
            total=total,
            unit=unit,
            done=done,
        )

    def _stand_back(self, identity: str, pace: Pace) -> None:
        """Let an answer go first; stop where the book was removed."""
        pace.idle(self._library.turns.stand_back(self._cancelled))
        if self._catalog.find(identity) is None:
            raise CancelledError

    def _set(self, identity: str, **values: Any) -> Book | None:
        book = self._catalog.update(identity, **values)
        if book is not None:
            self._changed(book)
        return book
