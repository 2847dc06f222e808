from __future__ import annotations

import sqlite3
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.library.catalog import SCHEMA_VERSION, Catalog
from desktop.core.records import Book, BookStatus, Page
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

A, B, C = (makers.book_id(letter) for letter in "abc")


@pytest.fixture
def catalog(file: Path) -> Iterator[Catalog]:
    opened = Catalog(file)
    yield opened
    opened.close()


def book(identity: str = A, title: str = "Herons", **values: object) -> Book:
    return replace(Book(identity, title, "/h.pdf", BookStatus.READING, pages=4), **values)  # type: ignore[arg-type]


def test_a_book_comes_back_as_it_was_put(catalog: Catalog, file: Path) -> None:
    given = book(
        status=BookStatus.FAILED, warnings=("Ça", "“two”"), error="why", added=12.5, pages_read=3
    )
    catalog.put(given)
    assert catalog.find(A) == given
    assert catalog.find(B) is None
    other = Catalog(file)
    assert other.books() == [given]
    other.close()


def test_books_are_listed_oldest_first(catalog: Catalog) -> None:
    for identity, added in ((A, 3.0), (B, 1.0), (C, 2.0)):
        catalog.put(book(identity, added=added))
    assert [b.id for b in catalog.books()] == [B, C, A]


def test_pages_and_passages_are_kept_by_chunks(catalog: Catalog) -> None:
    catalog.put(book())
    texts = ["zero 😀 é one", "", "three"]
    pages = [Page(n, f"l{n}", text) for n, text in enumerate(texts, 1)]
    first = makers.passage(A, 1, "😀 é", start=5, section="S › T")
    catalog.commit_pages(A, pages[:2], [first])
    assert catalog.find(A) == replace(catalog.find(A) or book(), pages_read=2, passages=1)
    catalog.commit_pages(A, pages[2:], [makers.passage(A, 3, "three")])
    kept = catalog.find(A)
    assert kept
    assert (kept.pages_read, kept.passages) == (3, 2)
    assert catalog.pages(A) == pages
    assert catalog.pages(A, 2, 3) == pages[1:]
    assert catalog.page(A, 2) == pages[1]
    assert catalog.page(A, 9) is None
    # The text is cut from the page by characters, and the label is the page's.
    (found, last) = catalog.passages(A)
    assert found == replace(first, page_label="l1")
    assert last.text == "three"
    assert catalog.passages_by_id([first.id, f"{A}:7:0", last.id]) == {
        first.id: found,
        last.id: last,
    }
    assert catalog.section_pages(A) == [("S › T", 1), ("", 3)]


def test_a_chunk_is_stored_whole_or_not_at_all(catalog: Catalog) -> None:
    catalog.put(book())
    bad = replace(makers.passage(A, 1, "x"), section=None)  # type: ignore[arg-type]
    with pytest.raises(sqlite3.IntegrityError):
        catalog.commit_pages(A, [Page(1, "1", "x")], [makers.passage(A, 1, "x"), bad])
    assert catalog.pages(A) == []
    assert catalog.passages(A) == []
    assert (catalog.find(A) or book(pages_read=9)).pages_read == 0
    catalog.commit_pages(A, [Page(1, "1", "x")], [makers.passage(A, 1, "x")])  # goes on working


def test_a_full_disk_says_so_and_undoes(catalog: Catalog) -> None:
    catalog.put(book())
    limit = catalog.rows("PRAGMA page_count")[0][0] + 2
    catalog.rows(f"PRAGMA max_page_count = {limit}")
    pages = [Page(n, "1", "long " * 5000) for n in range(1, 9)]
    with pytest.raises(sqlite3.OperationalError, match="full"):
        catalog.commit_pages(A, pages, [])
    catalog.rows("PRAGMA max_page_count = 100000")
    assert catalog.pages(A) == []
    catalog.commit_pages(A, pages, [])
    assert len(catalog.pages(A)) == 8


def test_attempts_are_counted_until_there_is_progress(catalog: Catalog) -> None:
    catalog.put(book())
    assert [catalog.begin_attempt(A) for _ in range(3)] == [1, 2, 3]
    catalog.commit_pages(A, [Page(1, "1", "x")], [])
    assert catalog.begin_attempt(A) == 1
    catalog.update(A, attempts=0)
    assert catalog.begin_attempt(A) == 1
    catalog.put(book())
    assert catalog.begin_attempt(A) == 1
    catalog.forget_attempts()
    assert catalog.begin_attempt(A) == 1
    assert catalog.begin_attempt(B) == 0  # not there


def test_a_book_is_removed_restored_and_deleted(catalog: Catalog) -> None:
    makers.shelve(catalog, A, ["one", "two"])
    makers.shelve(catalog, B, ["three"])
    catalog.remove(A)
    assert [b.id for b in catalog.books()] == [B]
    assert catalog.find(A) is None
    assert catalog.removed() == [A]
    restored = catalog.restore(A)
    assert restored
    assert restored.passages == 2
    assert catalog.removed() == []
    assert len(catalog.pages(A)) == 2
    catalog.delete(A)
    assert catalog.restore(A) is None
    assert catalog.pages(A) == catalog.passages(A) == []
    assert len(catalog.passages(B)) == 1


def test_putting_a_book_again_starts_it_afresh(catalog: Catalog) -> None:
    makers.shelve(catalog, A, ["one", "two"])
    catalog.remove(A)
    catalog.put(book())
    assert catalog.removed() == []
    assert catalog.pages(A) == []
    assert (catalog.find(A) or book(passages=9)).passages == 0


def test_update_returns_the_book_as_it_is_now(catalog: Catalog) -> None:
    catalog.put(book())
    changed = catalog.update(A, status=BookStatus.PAUSED, warnings=["w"], title="T")
    assert changed
    assert (changed.status, changed.warnings, changed.title) == (BookStatus.PAUSED, ("w",), "T")
    assert catalog.update(B, title="x") is None


X = "abcd" + "0" * 60
Y = "abce" + "0" * 60


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (X, X),
        ("abcd", X),
        ("ABCE0", Y),
        ("Herons", X),
        ("herons of the lake", Y),
        ("LAKE", Y),
    ],
)
def test_a_reference_is_an_id_its_start_or_a_title(
    catalog: Catalog, reference: str, expected: str
) -> None:
    catalog.put(book(X, "Herons"))
    catalog.put(book(Y, "Herons of the Lake"))
    assert catalog.resolve(reference).id == expected


@pytest.mark.parametrize("reference", ["", "abc", "swans", "%", "_", "'", "abcdx"])
def test_a_reference_to_nothing_is_told(catalog: Catalog, reference: str) -> None:
    catalog.put(book(X, "Herons"))
    with pytest.raises(UserFacingError, match="No book here is called"):
        catalog.resolve(reference)


def test_an_ambiguous_reference_lists_what_it_may_mean(catalog: Catalog) -> None:
    catalog.put(book(X, "Herons"))
    catalog.put(book(Y, "More herons"))
    catalog.put(book(A, "Herons"))
    with pytest.raises(UserFacingError, match=r"may mean .*abcd0000.*aaaaaaaa") as caught:
        catalog.resolve("Herons")
    assert "More herons" not in str(caught.value)  # exact titles go before parts of titles
    catalog.remove(A)
    assert catalog.resolve("Herons").id == X


def test_a_newer_library_is_refused_and_left_alone(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(UserFacingError, match="newer version"):
        Catalog(file)
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize("size", [10, 5000])
def test_a_damaged_file_is_refused_and_left_alone(file: Path, size: int) -> None:
    file.write_bytes(b"no database " * size)
    with pytest.raises(UserFacingError, match="catalogue can't be opened") as caught:
        Catalog(file)
    assert file.name in caught.value.remedy
    assert file.read_bytes() == b"no database " * size


def test_a_folder_in_its_place_is_refused(file: Path) -> None:
    file.mkdir()
    with pytest.raises(UserFacingError, match="catalogue can't be opened"):
        Catalog(file)


def test_two_connections_see_each_other(catalog: Catalog, file: Path) -> None:
    other = Catalog(file)
    catalog.put(book())
    assert other.find(A) == catalog.find(A)
    other.remove(A)
    assert catalog.books() == []
    other.close()


def test_two_connections_write_in_turn(catalog: Catalog, file: Path) -> None:
    """The second writer waits for the first instead of failing, and nothing is lost."""
    catalog.put(book())
    other, reader = Catalog(file), Catalog(file)
    with catalog.transaction() as run:
        run.execute("UPDATE books SET title = 'first' WHERE id = ?", (A,))
        writer = threading.Thread(target=lambda: other.update(A, error="second"))
        writer.start()
        time.sleep(0.15)
        assert writer.is_alive()
        assert (reader.find(A) or book()).title == "Herons"  # readers don't wait
    writer.join(10)
    assert not writer.is_alive()
    both = catalog.find(A)
    assert both
    assert (both.title, both.error) == ("first", "second")
    other.close()
    reader.close()


def test_many_threads_may_write_at_once(catalog: Catalog, file: Path) -> None:
    catalog.put(book())
    other = Catalog(file)

    def count(own: Catalog) -> None:
        for _ in range(25):
            own.begin_attempt(A)

    threads = [threading.Thread(target=count, args=(c,)) for c in (catalog, other) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert catalog.begin_attempt(A) == 101
    other.close()
