"""Named collections of books, so that a question can be asked of some at once.

They stand in the catalogue's file. A removed book keeps its places, unseen, until it is deleted
for good. Knows nothing of what is in a book.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from desktop.core.library.catalog import Catalog


class Collections:
    """The collections of one library. Names are compared without regard to case.

    Every change counts as a whole or not at all, and raises `UserFacingError` where a collection
    is not there, or a name is empty or taken.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def all(self) -> dict[str, tuple[str, ...]]:
        """Return name -> ids of the books that are not removed; by name, books oldest first."""
        found: dict[str, tuple[str, ...]] = {}
        for name, book in self._catalog.rows(
            "SELECT c.name, b.id FROM collections c LEFT JOIN collected m ON m.collection = c.id "
            "LEFT JOIN books b ON b.id = m.book AND b.removed IS NULL "
            "ORDER BY c.key, b.added, b.id"
        ):
            found[name] = (*found.get(name, ()), *([book] if book else []))
        return found

    def find(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Return a collection's name as it was given to it, and the ids of its books."""
        found = {_key(known): (known, books) for known, books in self.all().items()}
        if _key(name) not in found:
            raise _unknown(name, (known for known, _ in found.values()))
        return found[_key(name)]

    def create(self, name: str, books: Iterable[str]) -> None:
        """Make a collection, whose name is not taken yet."""
        with self._catalog.transaction() as run:
            _refuse_taken(run, name)
            _add(run, name, books)

    def add(self, name: str, books: Iterable[str]) -> None:
        """Put books into a collection, which is made where it is not there."""
        with self._catalog.transaction() as run:
            _add(run, name, books)

    def take_out(self, name: str, books: Iterable[str]) -> None:
        """Take books out of a collection; it stays, even without any."""
        with self._catalog.transaction() as run:
            number = self._number(run, name)
            run.executemany(
                "DELETE FROM collected WHERE collection = ? AND book = ?",
                [(number, book) for book in books],
            )

    def rename(self, name: str, to: str) -> None:
        """Give a collection another name."""
        with self._catalog.transaction() as run:
            number = self._number(run, name)
            _refuse_taken(run, to, but=number)
            run.execute(
                "UPDATE collections SET name = ?, key = ? WHERE id = ?",
                (_clean(to), _key(to), number),
            )

    def delete(self, name: str) -> None:
        """Delete a collection; its books stay."""
        with self._catalog.transaction() as run:
            number = self._number(run, name)
            run.execute("DELETE FROM collected WHERE collection = ?", (number,))
            run.execute("DELETE FROM collections WHERE id = ?", (number,))

    def _number(self, run: sqlite3.Connection, name: str) -> int:
        row = run.execute("SELECT id FROM collections WHERE key = ?", (_key(name),)).fetchone()
        if row is None:
            raise _unknown(name, self.all())
        return int(row[0])


def _add(run: sqlite3.Connection, name: str, books: Iterable[str]) -> None:
    key = _key(name)
    run.execute("INSERT OR IGNORE INTO collections (name, key) VALUES (?, ?)", (_clean(name), key))
    run.executemany(
        "INSERT OR IGNORE INTO collected SELECT c.id, b.id FROM collections c, books b "
        "WHERE c.key = ? AND b.id = ?",
        [(key, book) for book in books],
    )


def _refuse_taken(run: sqlite3.Connection, name: str, but: int | None = None) -> None:
    row = run.execute("SELECT id, name FROM collections WHERE key = ?", (_key(name),)).fetchone()
    if row is not None and row[0] != but:
        raise UserFacingError(
            f"There is a collection called “{row[1]}” already", "Choose another name"
        )


def _clean(name: str) -> str:
    """Return a name as it is kept: composed letters, single spaces."""
    cleaned = " ".join(unicodedata.normalize("NFC", name).split())
    if not cleaned:
        raise UserFacingError("A collection needs a name", "Write one, such as “Exam in June”")
    return cleaned


def _key(name: str) -> str:
    """Return what names are compared by; SQLite itself folds the case of ASCII only."""
    return _clean(name).casefold()


def _unknown(name: str, known: Iterable[str]) -> UserFacingError:
    names = ", ".join(f"“{one}”" for one in known)
    return UserFacingError(
        f"No collection here is called “{name}”",
        f"There are: {names}" if names else "There is none yet",
    )
