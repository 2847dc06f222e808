from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.core.library.indexing import Indexer
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Turn
from desktop.core.retrieval import evidence
from desktop.core.retrieval.retrieve import retrieve
from tests.core import makers

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.library.library import Library

PAGES = [
    "1 Birds\n\nHerons wade in shallow water.",
    "Herons nest in trees.\n\nFigure 1 A heron at dawn",
    "2 Fish\n\nTrout live in cold rivers.",
    "Trout are caught with flies.",
]
TOC = [(1, "1 Birds", 1), (1, "2 Fish", 3)]


@pytest.fixture
def book(library: Library, tmp_path: Path) -> str:
    added = Indexer(library).add(makers.pdf(tmp_path / "a.pdf", PAGES, toc=TOC, title="Animals"))
    assert added.book
    return added.book.id


def test_passages_names_and_books_are_found(library: Library, book: str) -> None:
    found = retrieve(library, "Where do trout live, and what does Darwin say of it?")
    assert found.hits[0].passage.page == 3
    assert found.absent == ("Darwin",)
    assert found.books == ((book, "Animals"),)
    assert found.complete
    assert found.retrieve_s > 0


@pytest.mark.usefixtures("book")
def test_a_limit_holds_for_all_that_is_found(library: Library) -> None:
    found = retrieve(library, "In chapter 2, where do herons live?")
    assert [limit.key for limit in found.limits] == ["section"]
    assert {hit.passage.page for hit in found.hits} <= {3, 4}
    free = retrieve(library, "In chapter 2, where do herons live?", without=("section",))
    assert free.limits == ()
    assert {1, 2} & {hit.passage.page for hit in free.hits}


@pytest.mark.usefixtures("book")
def test_a_place_alone_gives_what_stands_there(library: Library) -> None:
    found = retrieve(library, "What is on page 3?")
    assert [hit.passage.page for hit in found.hits] == [3]
    assert not found.listing


@pytest.mark.usefixtures("book")
def test_a_list_needs_no_passages(library: Library) -> None:
    found = retrieve(library, "List the chapters")
    assert found.listing == "contents"
    assert [entry.text for entry in found.entries] == ["1 Birds", "2 Fish"]
    assert found.hits == ()


@pytest.mark.usefixtures("book")
def test_a_list_that_the_book_does_not_have_is_looked_up(library: Library) -> None:
    found = retrieve(library, "List the tables about trout")
    assert (found.listing, found.entries) == ("", ())
    assert found.hits
    assert found.where.marks == ()


@pytest.mark.usefixtures("book")
def test_known_passages_are_left_out(library: Library) -> None:
    first = retrieve(library, "herons", limit=1)
    known = [hit.passage.id for hit in first.hits]
    again = retrieve(library, "herons", limit=2, skip=known)
    assert again.hits
    assert not set(known) & {hit.passage.id for hit in again.hits}


@pytest.mark.usefixtures("book")
def test_a_question_may_lean_on_the_one_before(library: Library) -> None:
    found = retrieve(library, "And why?", history=[Turn("Where do trout live?", "In rivers.")])
    assert "trout" in found.hits[0].passage.text.lower()


def test_the_best_passage_brings_along_its_page(library: Library) -> None:
    book = makers.book_id("c")
    page = "\n\n".join(f"Paragraph {n} speaks of {w}." for n, w in enumerate("abcdef"))
    makers.shelve(library.catalog, book, [page])
    starts = [page.index(f"Paragraph {n}") for n in range(6)]
    spans = [*zip(starts, [start - 2 for start in starts[1:]] + [len(page)], strict=True)]
    whole = library.catalog.page(book, 1)
    assert whole
    parts = [makers.passage(book, 1, page[a:b], start=a) for a, b in spans]
    parts[4] = replace(parts[4], section="Another")
    library.catalog.commit_pages(book, [whole], parts)
    middle, last = makers.hit(parts[2], 1), makers.hit(parts[5], 2)
    found = evidence.with_page(library.catalog, [middle, last])
    assert found[0].passage.text == page
    assert found[0].found == spans[2]
    assert found[1] == last
    kept = evidence.with_page(library.catalog, [middle], {parts[0].section})
    assert kept[0].passage.text == page[: spans[3][1]]


def test_a_page_that_is_too_long_comes_in_part(library: Library) -> None:
    book = makers.book_id("c")
    texts = [f"Part {n} " + "word " * (evidence.PAGE_WORDS // 3) for n in range(6)]
    page = "\n\n".join(text.strip() for text in texts)
    makers.shelve(library.catalog, book, [page])
    whole = library.catalog.page(book, 1)
    assert whole
    starts = [page.index(f"Part {n}") for n in range(6)]
    ends = [start - 2 for start in starts[1:]] + [len(page)]
    parts = [makers.passage(book, 1, page[a:b], start=a) for a, b in zip(starts, ends, strict=True)]
    library.catalog.commit_pages(book, [whole], parts)
    (found,) = evidence.with_page(library.catalog, [makers.hit(parts[3], 1)])
    assert found.passage.text == page[starts[2] : ends[3]]


def test_books_that_are_compared_each_have_their_say(library: Library, tmp_path: Path) -> None:
    ids = []
    for title, text in (("Herons", "Herons eat fish."), ("Storks", "Storks eat frogs.")):
        pages = [text, *(f"{text} Again {n}." for n in range(6))]
        added = Indexer(library).add(makers.pdf(tmp_path / f"{title}.pdf", pages, title=title))
        assert added.book
        ids.append(added.book.id)
    where = SearchFilter(tuple(ids))
    both = retrieve(library, "How do herons and storks differ in what they eat?", where=where)
    assert {hit.passage.book for hit in both.hits[:4]} == set(ids)
    assert len({hit.passage.id for hit in both.hits}) == len(both.hits)
