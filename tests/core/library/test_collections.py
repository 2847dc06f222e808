from __future__ import annotations

import sqlite3
import unicodedata
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.library.catalog import SCHEMA_VERSION, Catalog
from desktop.core.library.collections import Collections
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.core.library.library import Library

A, B, C = (makers.book_id(letter) for letter in "abc")

FIRST_SCHEMA = """
CREATE TABLE books (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, file TEXT NOT NULL, status TEXT NOT NULL,
  pages INTEGER NOT NULL DEFAULT 0, pages_read INTEGER NOT NULL DEFAULT 0,
  passages INTEGER NOT NULL DEFAULT 0, passages_embedded INTEGER NOT NULL DEFAULT 0,
  warnings TEXT NOT NULL DEFAULT '[]', error TEXT NOT NULL DEFAULT '',
  added REAL NOT NULL, removed REAL, attempts INTEGER NOT NULL DEFAULT 0,
  embedder TEXT NOT NULL DEFAULT ''
);
CREATE TABLE pages (
  book TEXT NOT NULL, number INTEGER NOT NULL, label TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (book, number)
) WITHOUT ROWID;
CREATE TABLE passages (
  book TEXT NOT NULL, page INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  section TEXT NOT NULL,
  PRIMARY KEY (book, page, start)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""
"""A library's file as version 1 of the schema made it."""


@pytest.fixture
def catalog(file: Path) -> Iterator[Catalog]:
    opened = Catalog(file)
    for book in (A, B, C):
        makers.shelve(opened, book, ["text"])
    yield opened
    opened.close()


@pytest.fixture
def collections(catalog: Catalog) -> Collections:
    return Collections(catalog)


def test_a_collection_is_kept_in_the_file(collections: Collections, file: Path) -> None:
    assert collections.all() == {}
    collections.create("Exam in June", [B, A])
    other = Catalog(file)
    assert Collections(other).all() == {"Exam in June": (A, B)}
    other.close()


def test_names_are_compared_without_case_spaces_and_composition(collections: Collections) -> None:
    collections.create("  Été   1 ", [A])
    collections.add(unicodedata.normalize("NFD", "éTÉ 1"), [B])
    assert collections.all() == {"Été 1": (A, B)}
    assert collections.find("ÉTÉ 1") == ("Été 1", (A, B))
    with pytest.raises(UserFacingError, match="called “Été 1” already"):
        collections.create("été 1", [C])
    assert collections.all() == {"Été 1": (A, B)}


def test_books_are_added_and_taken_out(collections: Collections) -> None:
    collections.add("Exam", [A])
    collections.add("exam", [A, C])
    assert collections.all() == {"Exam": (A, C)}
    collections.take_out("EXAM", [A, B])
    assert collections.all() == {"Exam": (C,)}
    collections.take_out("Exam", [C])
    assert collections.all() == {"Exam": ()}
    collections.add("Exam", [B])
    assert collections.all() == {"Exam": (B,)}


def test_a_collection_is_renamed_and_deleted(collections: Collections) -> None:
    collections.create("b", [A])
    collections.create("a", [B])
    collections.rename("B", "Exam")
    assert list(collections.all().items()) == [("a", (B,)), ("Exam", (A,))]
    collections.rename("Exam", "EXAM")
    assert collections.find("exam") == ("EXAM", (A,))
    with pytest.raises(UserFacingError, match="called “a” already"):
        collections.rename("exam", "A")
    collections.delete("exam")
    assert collections.all() == {"a": (B,)}


@pytest.mark.parametrize("name", ["", " ", "\n\t"])
def test_an_empty_name_is_refused(collections: Collections, name: str) -> None:
    collections.create("Exam", [A])
    for change in (
        lambda: collections.create(name, [A]),
        lambda: collections.add(name, [A]),
        lambda: collections.rename("Exam", name),
    ):
        with pytest.raises(UserFacingError, match="needs a name"):
            change()
    assert collections.all() == {"Exam": (A,)}


def test_an_unknown_name_says_which_there_are(collections: Collections) -> None:
    with pytest.raises(UserFacingError, match=r"called “Exam”\. There is none yet"):
        collections.find("Exam")
    collections.create("One", [A])
    collections.create("Two", [A])
    for change in (
        lambda: collections.find("Exam"),
        lambda: collections.take_out("Exam", [A]),
        lambda: collections.rename("Exam", "Three"),
        lambda: collections.delete("Exam"),
    ):
        with pytest.raises(UserFacingError, match="There are: “One”, “Two”"):
            change()


def test_a_change_counts_whole_or_not_at_all(collections: Collections) -> None:
    collections.create("Exam", [A])
    with pytest.raises(sqlite3.Error):
        collections.create("Other", [B, object()])  # type: ignore[list-item]
    with pytest.raises(sqlite3.Error):
        collections.take_out("Exam", [A, object()])  # type: ignore[list-item]
    assert collections.all() == {"Exam": (A,)}


def test_a_removed_book_is_unseen_until_it_comes_back(
    catalog: Catalog, collections: Collections
) -> None:
    collections.create("Exam", [A, B])
    catalog.remove(A)
    assert collections.all() == {"Exam": (B,)}
    collections.add("Exam", [C])
    catalog.restore(A)
    assert collections.all() == {"Exam": (A, B, C)}


def test_a_book_that_is_deleted_for_good_leaves(catalog: Catalog, collections: Collections) -> None:
    collections.create("Exam", [A, B])
    catalog.remove(A)
    catalog.delete(A)
    makers.shelve(catalog, A, ["the same file, added again"])
    assert collections.all() == {"Exam": (B,)}


def test_only_books_that_are_there_get_in(catalog: Catalog, collections: Collections) -> None:
    catalog.delete(C)
    collections.create("Exam", [A, C])
    makers.shelve(catalog, C, ["the same file, added again"])
    assert collections.all() == {"Exam": (A,)}


def test_purging_takes_a_book_out(library: Library) -> None:
    for book in (A, B):
        makers.shelve(library.catalog, book, ["text"])
    library.collections.create("Exam", [A, B])
    library.remove(A)
    library.purge(A)
    library.remove(B)
    library.restore(B)
    library.purge(B)  # too late: it came back
    assert library.collections.all() == {"Exam": (B,)}


def test_a_library_of_the_first_version_keeps_everything(file: Path) -> None:
    with closing(sqlite3.connect(file)) as old:
        old.executescript(FIRST_SCHEMA)
        old.execute(
            "INSERT INTO books VALUES (?, 'Herons', '/h.pdf', 'indexed', 2, 2, 1, 1, "
            "'[\"w\"]', '', 12.5, NULL, 1, 'mini')",
            (A,),
        )
        old.execute(
            "INSERT INTO books (id, title, file, status, added, removed) "
            "VALUES (?, 'Swans', '/s.pdf', 'indexed', 13.5, 14.0)",
            (B,),
        )
        old.execute("INSERT INTO pages VALUES (?, 1, 'i', 'Herons wade.')", (A,))
        old.execute("INSERT INTO passages VALUES (?, 1, 0, 12, 'One')", (A,))
        old.commit()
        books = old.execute("SELECT * FROM books").fetchall()
    for _ in range(2):
        catalog = Catalog(file)
        assert catalog.rows("SELECT * FROM books") == books
        assert [passage.text for passage in catalog.passages(A)] == ["Herons wade."]
        assert catalog.removed() == [B]
        assert catalog.rows("PRAGMA user_version") == [(SCHEMA_VERSION,)] == [(2,)]
        Collections(catalog).add("Exam", [A, B])
        assert Collections(catalog).all() == {"Exam": (A,)}
        catalog.close()
