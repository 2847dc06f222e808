from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.library.indexing import Indexer
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import BookStatus
from desktop.core.retrieval import late_interaction, search
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.core.records import Passage

BIRDS = [
    "The grey heron fishes in shallow water.",
    "A kingfisher dives for minnows.",
    "Herons nest in tall trees called heronries.",
]
COINS = ["Inflation is a rise of prices.", "The heron on the coin was minted in 1902."]


@pytest.fixture
def books(library: Library, tmp_path: Path) -> tuple[str, str]:
    """Two small indexed books; their ids."""
    indexer = Indexer(library)
    ids = []
    for name, pages in (("Birds", BIRDS), ("Coins", COINS)):
        added = indexer.add(makers.pdf(tmp_path / f"{name}.pdf", pages, title=name))
        assert added.book
        ids.append(added.book.id)
    return ids[0], ids[1]


def texts(hits: list) -> list[str]:  # type: ignore[type-arg]
    return [hit.passage.text for hit in hits]


def test_the_passage_asked_for_comes_first(library: Library, books: tuple[str, str]) -> None:
    hits = search.find(library, "Where does the kingfisher dive?")
    assert hits[0].passage.text == BIRDS[1]
    assert (hits[0].title, hits[0].passage.page, hits[0].passage.book) == ("Birds", 2, books[0])
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(hit.similarity is not None and -1 <= hit.similarity <= 1.001 for hit in hits)
    assert len({hit.passage.id for hit in hits}) == len(hits)


@pytest.mark.usefixtures("books")
def test_both_books_are_searched(library: Library) -> None:
    found = texts(search.find(library, "heron", limit=3))
    assert set(found) == {BIRDS[0], BIRDS[2], COINS[1]}


def test_a_book_and_pages_may_be_chosen(library: Library, books: tuple[str, str]) -> None:
    birds, coins = books
    assert {
        h.passage.book for h in search.find(library, "heron", where=SearchFilter((coins,)))
    } == {coins}
    assert texts(search.find(library, "heron", where=SearchFilter((coins,))))[0] == COINS[1]
    hits = search.find(library, "heron", where=SearchFilter((birds, coins), (2, 3)))
    assert {(h.title, h.passage.page) for h in hits} == {
        ("Birds", 2),
        ("Birds", 3),
        ("Coins", 2),
    }
    assert search.find(library, "heron", where=SearchFilter(None, (90, 99))) == []


@pytest.mark.usefixtures("books")
def test_the_limit_holds(library: Library) -> None:
    assert len(search.find(library, "heron", limit=2)) == 2
    assert search.find(library, "heron", limit=0) == []


@pytest.mark.usefixtures("books")
@pytest.mark.parametrize("query", ["", "?", '"', "😀", "x" * 10_000, "%' OR 1=1 --"])
def test_any_query_is_harmless(library: Library, query: str) -> None:
    assert len(search.find(library, query)) <= 5


@pytest.mark.usefixtures("books")
def test_late_interaction_reranks_the_best_and_only_those(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "LATE_INTERACTION", 0.0)
    first = texts(search.find(library, "heron in water", limit=5))
    asked: list[list[str]] = []

    def longest(_embedder: object, question: str, passages: Sequence[Passage]) -> list[float]:
        assert question == "heron in water"
        asked.append([passage.text for passage in passages])
        return [len(passage.text) for passage in passages]

    monkeypatch.setattr(late_interaction, "scores", longest)
    assert texts(search.find(library, "heron in water", limit=5)) == first
    monkeypatch.setattr(search, "LATE_INTERACTION", 1.0)
    monkeypatch.setattr(late_interaction, "CANDIDATES", 3)
    found = search.find(library, "heron in water", limit=5)
    assert asked == [first, first[:3]]
    assert texts(found) == [*sorted(first[:3], key=len, reverse=True), *first[3:]]
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert texts(search.find(library, "heron in water", limit=1)) == texts(found[:1])


@pytest.mark.usefixtures("books")
def test_those_that_there_was_no_time_for_stay_behind(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_interaction, "scores", lambda *_: [])
    first = texts(search.find(library, "heron in water"))
    monkeypatch.setattr(late_interaction, "scores", lambda *_: [0.1, 0.9])
    again = texts(search.find(library, "heron in water"))
    assert again == [first[1], first[0], *first[2:]]


def test_a_removed_book_is_not_found(library: Library, books: tuple[str, str]) -> None:
    library.remove(books[0])
    assert {hit.title for hit in search.find(library, "heron")} == {"Coins"}
    with pytest.raises(UserFacingError, match="no book to look in"):
        search.find(library, "heron", where=SearchFilter((books[0],)))
    library.restore(books[0])
    assert {hit.title for hit in search.find(library, "heron")} == {"Birds", "Coins"}


def test_words_are_found_before_there_are_vectors(library: Library, books: tuple[str, str]) -> None:
    for book in books:
        library.catalog.update(book, passages_embedded=0, status=BookStatus.ASKABLE)
    hits = search.find(library, "kingfisher")
    assert texts(hits) == [BIRDS[1]]
    assert hits[0].similarity is None


def test_no_books_say_what_to_do(library: Library) -> None:
    with pytest.raises(UserFacingError, match=r"no book to look in\. Add a PDF"):
        search.find(library, "heron")
    with pytest.raises(UserFacingError, match="no book to look in"):
        search.searchable(library, [])


@pytest.mark.parametrize(
    ("status", "pages_read", "there"),
    [
        (BookStatus.READING, 1, False),
        (BookStatus.READING, 2, False),
        (BookStatus.ASKABLE, 2, True),
        (BookStatus.INDEXED, 2, True),
        (BookStatus.PAUSED, 1, False),
        (BookStatus.PAUSED, 2, True),
        (BookStatus.FAILED, 0, False),
        (BookStatus.FAILED, 2, True),
    ],
)
def test_a_book_can_be_asked_once_its_text_is_there(
    library: Library, status: BookStatus, pages_read: int, there: bool
) -> None:
    book = makers.shelve(library.catalog, makers.book_id("a"), ["one", "two"])
    library.catalog.update(book.id, status=status, pages_read=pages_read)
    if there:
        assert [b.id for b in search.searchable(library)] == [book.id]
    else:
        with pytest.raises(UserFacingError, match="still being read"):
            search.searchable(library)
