from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.library.catalog import Catalog
from desktop.core.records import Book, BookStatus, Page
from desktop.core.retrieval.table_of_contents import chapter, parse_number
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOOK = makers.book_id("a")
SECTIONS = [
    "",  # the title page
    "Preface",
    "1 Ways of Thinking",
    "1 Ways of Thinking › 1.1 Scarcity",
    "1 Ways of Thinking › 1.2 Markets",
    "1 Ways of Thinking › 1.2 Markets",
    "Chapter 2: Markets and Prices",
    "Chapter 2: Markets and Prices › 2.10 Elasticity",
    "Part IV › Civil Wars",
    "Part IV › Civil Wars › Key Terms",
    "12 The Nerve",
]


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """A book with a page for each of SECTIONS."""
    opened = Catalog(tmp_path / "library.sqlite3")
    opened.put(Book(BOOK, "Economics", "/e.pdf", BookStatus.INDEXED, pages=len(SECTIONS)))
    pages = [Page(n, str(n), "text") for n in range(1, len(SECTIONS) + 1)]
    opened.commit_pages(
        BOOK,
        pages,
        [
            makers.passage(BOOK, page.number, "text", section=section)
            for page, section in zip(pages, SECTIONS, strict=True)
        ],
    )
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("1", (3, 6)),
        ("chapter 1", (3, 6)),
        ("Chapitre 1", (3, 6)),
        ("1.2", (5, 6)),
        ("section 1.1", (4, 4)),
        ("2", (7, 8)),
        ("Chapter 2", (7, 8)),
        ("2.10", (8, 8)),
        ("IV", (9, 10)),
        ("part iv", (9, 10)),
        ("12", (11, 11)),
        ("Preface", (2, 2)),
        ("preface", (2, 2)),
        ("1  ways of\nTHINKING", (3, 6)),
        ("elasticity", (8, 8)),
        ("markets", (7, 8)),  # the chapter before its section
        ("Key Terms", (10, 10)),
        ("civil", (9, 10)),
        ("Price", (7, 8)),  # the start of a word is enough
        ("nerve", (11, 11)),
    ],
)
def test_pages_of_a_chapter(catalog: Catalog, name: str, pages: tuple[int, int]) -> None:
    book = catalog.resolve(BOOK)
    assert chapter(catalog, book, name) == pages


@pytest.mark.parametrize("name", ["3", "2.1", "1.3", "Poetry", "", "  ", "V"])
def test_no_such_chapter_lists_those_there_are(catalog: Catalog, name: str) -> None:
    with pytest.raises(UserFacingError, match=r"“Economics” has no chapter") as caught:
        chapter(catalog, catalog.resolve(BOOK), name)
    assert "1 Ways of Thinking; Chapter 2" in caught.value.remedy
    assert "1.1" not in caught.value.remedy


def test_a_book_without_an_outline_says_so(catalog: Catalog) -> None:
    other = makers.shelve(catalog, makers.book_id("b"), ["text"], title="Bare")
    with pytest.raises(UserFacingError, match="it has no table of contents"):
        chapter(catalog, replace(other), "1")


@pytest.mark.parametrize(
    ("name", "number"),
    [("", ()), (".", ()), ("iv", (4,)), ("XL", (40,)), ("xlix", (49,)), ("Four", (4,)), ("b", ())],
)
def test_a_number_is_read(name: str, number: tuple[int, ...]) -> None:
    assert parse_number(name) == number
