"""The catalogue of books: SQLite, the one source of truth.

Books, their pages and their passages stand here, each chunk of pages in one transaction; the
LanceDB index can be made again from it at any time. The collections that books are in stand in the
same file; see `collections`. Knows nothing of vectors or models.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from desktop.core.database import WAIT_S, prepare
from desktop.core.errors import UserFacingError
from desktop.core.records import Book, BookStatus, Page, Passage, passage_id, passage_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

SCHEMA_VERSION = 2
"""2: collections."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS books (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, file TEXT NOT NULL, status TEXT NOT NULL,
  pages INTEGER NOT NULL DEFAULT 0, pages_read INTEGER NOT NULL DEFAULT 0,
  passages INTEGER NOT NULL DEFAULT 0, passages_embedded INTEGER NOT NULL DEFAULT 0,
  warnings TEXT NOT NULL DEFAULT '[]', error TEXT NOT NULL DEFAULT '',
  added REAL NOT NULL, removed REAL, attempts INTEGER NOT NULL DEFAULT 0,
  embedder TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS pages (
  book TEXT NOT NULL, number INTEGER NOT NULL, label TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (book, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passages (
  book TEXT NOT NULL, page INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  section TEXT NOT NULL,
  PRIMARY KEY (book, page, start)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS collections (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS collected (
  collection INTEGER NOT NULL, book TEXT NOT NULL,
  PRIMARY KEY (collection, book)
) WITHOUT ROWID;
"""
_BOOK_COLUMNS = (
    "id, title, file, status, pages, pages_read, passages, passages_embedded, "
    "warnings, error, added"
)
_PASSAGE_COLUMNS = (
    'p.book, p.page, t.label, p.start, p."end", p.section, '
    'substr(t.text, p.start + 1, p."end" - p.start) '
    "FROM passages p JOIN pages t ON t.book = p.book AND t.number = p.page"
)


class Catalog:
    """Books, pages and passages of one library.

    Args:
        path: The SQLite file; it is made where missing.

    Raises:
        UserFacingError: if the file is damaged or was written by a newer version.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        try:
            self._connection = sqlite3.connect(
                path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.DatabaseError as error:
            raise _unusable(path, error) from error
        try:
            usable = prepare(self._connection, _SCHEMA, SCHEMA_VERSION)
        except sqlite3.DatabaseError as error:
            self.close()
            raise _unusable(path, error) from error
        if not usable:
            self.close()
            raise UserFacingError(
                "This library was made by a newer version of Lutrin", "Update Lutrin to open it"
            )

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run statements that count all together or not at all."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself ends one on a full disk
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return what a query finds."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def books(self) -> list[Book]:
        """Return the books, oldest first, without those removed."""
        rows = self.rows(
            f"SELECT {_BOOK_COLUMNS} FROM books WHERE removed IS NULL ORDER BY added, id"
        )
        return [_book(row) for row in rows]

    def find(self, book: str) -> Book | None:
        """Return the book with this id, unless it is not there or removed."""
        rows = self.rows(
            f"SELECT {_BOOK_COLUMNS} FROM books WHERE id = ? AND removed IS NULL", (book,)
        )
        return _book(rows[0]) if rows else None

    def resolve(self, reference: str) -> Book:
        """Return the book that `reference` names: its id, a unique start of it, or its title.

        Raises:
            UserFacingError: if none or several are meant.
        """
        books = self.books()
        exact = [b for b in books if b.id == reference or b.title == reference]
        folded = reference.casefold()
        found = (
            exact
            or [b for b in books if len(folded) >= 4 and b.id.startswith(folded)]
            or [b for b in books if b.title.casefold() == folded]
            or [b for b in books if folded and folded in b.title.casefold()]
        )
        if len(found) == 1:
            return found[0]
        if not found:
            raise UserFacingError(
                f"No book here is called “{reference}”",
                "See `lutrin books` for what is there, or name a file",
            )
        names = ", ".join(f"“{b.title}” ({b.id[:8]})" for b in found)
        raise UserFacingError(f"“{reference}” may mean {names}", "Use the book's id")

    def put(self, book: Book) -> None:
        """Add a book, or bring back and reset one of the same id."""
        with self.transaction() as run:
            run.execute("DELETE FROM pages WHERE book = ?", (book.id,))
            run.execute("DELETE FROM passages WHERE book = ?", (book.id,))
            run.execute(
                f"INSERT OR REPLACE INTO books ({_BOOK_COLUMNS}) VALUES ({','.join('?' * 11)})",
                (
                    book.id, book.title, book.file, book.status, book.pages, book.pages_read,
                    book.passages, book.passages_embedded, json.dumps(book.warnings),
                    book.error, book.added or time.time(),
                ),
            )  # fmt: skip

    def update(self, book: str, **values: Any) -> Book | None:
        """Set columns of a book; return it as it is now (None where it was removed)."""
        if "warnings" in values:
            values["warnings"] = json.dumps(values["warnings"])
        columns = ", ".join(f"{name} = ?" for name in values)
        with self.transaction() as run:
            run.execute(f"UPDATE books SET {columns} WHERE id = ?", (*values.values(), book))
        return self.find(book)

    def begin_attempt(self, book: str) -> int:
        """Count one more attempt at indexing a book; return how many there were without progress.

        Whatever shows that the book did not take the process down sets the count back.
        """
        with self.transaction() as run:
            run.execute("UPDATE books SET attempts = attempts + 1 WHERE id = ?", (book,))
            row = run.execute("SELECT attempts FROM books WHERE id = ?", (book,)).fetchone()
        return int(row[0]) if row else 0

    def forget_attempts(self) -> None:
        """Set all counts of attempts back: a process that ends in order was not taken down."""
        with self.transaction() as run:
            run.execute("UPDATE books SET attempts = 0 WHERE attempts > 0")

    def commit_pages(self, book: str, pages: Sequence[Page], passages: Iterable[Passage]) -> None:
        """Store a chunk of pages with its passages; all of it, or nothing."""
        with self.transaction() as run:
            run.executemany(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)",
                [(book, page.number, page.label, page.text) for page in pages],
            )
            run.executemany(
                "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?, ?)",
                [(p.book, p.page, p.start, p.end, p.section) for p in passages],
            )
            run.execute(
                "UPDATE books SET attempts = 0, pages_read = ?, passages = "
                "(SELECT count(*) FROM passages WHERE book = ?) WHERE id = ?",
                (pages[-1].number, book, book),
            )

    def page(self, book: str, number: int) -> Page | None:
        """Return a page's text, without its words' places."""
        rows = self.rows(
            "SELECT number, label, text FROM pages WHERE book = ? AND number = ?", (book, number)
        )
        return Page(*rows[0]) if rows else None

    def pages(self, book: str, first: int = 1, last: int = 1 << 31) -> list[Page]:
        """Return the pages from `first` to `last`, in order, without their words' places."""
        rows = self.rows(
            "SELECT number, label, text FROM pages WHERE book = ? AND number BETWEEN ? AND ? "
            "ORDER BY number",
            (book, first, last),
        )
        return [Page(*row) for row in rows]

    def passages(self, book: str) -> list[Passage]:
        """Return the passages of a book in reading order."""
        rows = self.rows(
            f"SELECT {_PASSAGE_COLUMNS} WHERE p.book = ? ORDER BY p.page, p.start", (book,)
        )
        return [_passage(row) for row in rows]

    def section_pages(self, book: str) -> list[tuple[str, int]]:
        """Return section path and page of each passage of a book, in reading order."""
        return self.rows(
            "SELECT DISTINCT section, page FROM passages WHERE book = ? ORDER BY page, start",
            (book,),
        )

    def page_lengths(self, book: str) -> dict[int, int]:
        """Return the characters of each page of a book."""
        return dict(self.rows("SELECT number, length(text) FROM pages WHERE book = ?", (book,)))

    def passages_by_id(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return id -> passage for those that are there."""
        found = {}
        for identity in ids:
            rows = self.rows(
                f"SELECT {_PASSAGE_COLUMNS} WHERE p.book = ? AND p.page = ? AND p.start = ?",
                passage_place(identity),
            )
            if rows:
                found[identity] = _passage(rows[0])
        return found

    def passages_on(self, book: str, page: int) -> list[Passage]:
        """Return the passages of a page in reading order."""
        rows = self.rows(
            f"SELECT {_PASSAGE_COLUMNS} WHERE p.book = ? AND p.page = ? ORDER BY p.start",
            (book, page),
        )
        return [_passage(row) for row in rows]

    def remove(self, book: str) -> None:
        """Take a book out of the library; `restore` brings it back until it is deleted."""
        self.update(book, removed=time.time())

    def restore(self, book: str) -> Book | None:
        """Bring back a removed book; return it, or None where it is deleted for good."""
        return self.update(book, removed=None)

    def removed(self) -> list[str]:
        """Return the ids of removed books that are not deleted yet."""
        return [row[0] for row in self.rows("SELECT id FROM books WHERE removed IS NOT NULL")]

    def delete(self, book: str) -> None:
        """Delete a book, its pages, passages and places in collections for good."""
        with self.transaction() as run:
            for table in ("pages", "passages", "collected"):
                run.execute(f"DELETE FROM {table} WHERE book = ?", (book,))
            run.execute("DELETE FROM books WHERE id = ?", (book,))


def _unusable(path: Path, error: sqlite3.DatabaseError) -> UserFacingError:
    what = f"The library's catalogue can't be opened ({error})"
    # Moving it away gives up the library's list, so it is advised only where that is lost.
    if "not a database" in str(error) or "malformed" in str(error):
        return UserFacingError(
            what, f"Move {path.name} out of {path.parent} to start afresh, and add the books again"
        )
    return UserFacingError(
        what, "Check that the disk is not full and the folder is yours to write in, and try again"
    )


def _book(row: Sequence[Any]) -> Book:
    identity, title, file, status, *counts, warnings, error, added = row
    pages, pages_read, passages, passages_embedded = counts
    return Book(
        identity, title, file, BookStatus(status), pages, pages_read, passages, passages_embedded,
        warnings=tuple(json.loads(warnings)), error=error, added=added,
    )  # fmt: skip


def _passage(row: Sequence[Any]) -> Passage:
    book, page, label, start, end, section, text = row
    return Passage(
        id=passage_id(book, page, start),
        book=book, page=page, page_label=label, start=start, end=end,
        section=section, text=text,
    )  # fmt: skip
