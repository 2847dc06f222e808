"""What the retrieval and the long-context modes put before the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.core.answering.modes import long_context, retrieval
from desktop.core.answering.prompt.context import FRAME_TOKENS, Source, quotable
from desktop.core.errors import UserFacingError
from desktop.core.library.catalog import Catalog
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Hit, LeftOut
from desktop.core.text.tables import Row, Table
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.core.answering.prompt.context import Context

A, B = makers.book_id("a"), makers.book_id("b")
PAGE_TOKENS = 10
ONE = PAGE_TOKENS + FRAME_TOKENS


def text(number: int) -> str:
    """Return ten words of ten characters."""
    return " ".join(f"w{number:02}{i:06}" for i in range(PAGE_TOKENS))


def count(given: str) -> int:
    return len(given.split())


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """A book of 12 pages, the seventh empty, and another of one."""
    opened = Catalog(tmp_path / "library.sqlite3")
    makers.shelve(opened, A, [text(n) if n != 7 else "" for n in range(1, 13)], title="Herons")
    makers.shelve(opened, B, [text(99)], title="Swans")
    yield opened
    opened.close()


def found(catalog: Catalog, *pages: int, book: str = A) -> list[Hit]:
    passages = {p.page: p for p in catalog.passages(book)}
    return [
        makers.hit(passages[page], rank, title="Herons", score=1 / rank)
        for rank, page in enumerate(pages, 1)
    ]


def read(context: Context) -> list[int]:
    return [source.page for source in context.sources]


def left_out(context: Context) -> list[tuple[int, int]]:
    return [entry.pages for entry in context.left_out or ()]


def long(
    catalog: Catalog,
    hits: list[Hit],
    room: int,
    *,
    pages: tuple[int, int] | None = None,
    books: tuple[str, ...] = (A,),
) -> Context:
    return long_context.choose(
        catalog, hits, books=books, where=SearchFilter(None, pages), count=count, room=room
    )


def test_retrieval_reads_what_stands_around_a_find_apart_from_it_and_first() -> None:
    text = "Before it. What was found.\n\nYear\n1980\n1990\n\nAfter it."
    start, table_start = text.index("What"), text.index("Year")
    rows = tuple(Row(text.index(y), text.index(y) + 4, (y,)) for y in ("1980", "1990"))
    found = replace(
        makers.hit(makers.passage("b" * 64, 1, text, start=100), 1),
        tables=(Table(table_start, rows[-1].end, ("Year",), rows),),
        found=(100 + start, 100 + rows[0].end),  # the table is cut
    )
    other = makers.hit(makers.passage("b" * 64, 2, "Another page."), 2)
    plain = retrieval.choose([found, other], count=len, room=10_000)
    assert [source.text for source in plain.sources] == ["Another page.", text]
    reordered = retrieval.choose([found, other], count=len, room=10_000, reordered=True)
    assert [source.text.strip() for source in reordered.sources] == [
        "After it.",
        "Before it.",
        "Another page.",
        text[start : rows[-1].end],
    ]
    assert [source.start for source in reordered.sources] == [
        100 + rows[-1].end,
        100,
        0,
        100 + start,
    ]
    assert [len(source.tables) for source in reordered.sources] == [0, 0, 0, 1]
    assert reordered.sources[-1].tables[0].rows[0].start == rows[0].start - start


def test_sentences_and_rows_may_be_quoted_but_no_heading() -> None:
    text = (
        "Of birds\n\nHerons wade at\ndawn. Storks too.\n\n"
        "Year\nBirds\n1980\n12\n\nThen they left the lake."
    )
    start = text.index("Year")
    row = Row(text.index("1980"), text.index("12") + 2, ("1980", "12"))
    source = Source("b", "Birds", 1, "1", "", 0, text, 0.5, tables=(
        Table(start, row.end, ("Year", "Birds"), (row,)),
    ))  # fmt: skip
    assert quotable([source]) == [
        "Herons wade at dawn.",
        "| Year | Birds |",
        "| 1980 | 12 |",
        "Then they left the lake.",
    ]
    assert quotable([]) == []


def test_retrieval_reads_the_best_find_last(catalog: Catalog) -> None:
    hits = found(catalog, 5, 2, 9)
    context = retrieval.choose(hits, count=count, room=10 * ONE)
    assert read(context) == [9, 2, 5]
    assert [s.tokens for s in context.sources] == [PAGE_TOKENS] * 3
    assert [s.score for s in context.sources] == [hit.score for hit in reversed(hits)]
    assert (context.left_out, context.notes) == (None, ())
    item = context.sources[-1].item()
    assert (item.book, item.page, item.page_label) == (A, 5, "p5")
    assert (item.start, item.end) == (0, len(text(5)))


@pytest.mark.parametrize(("room", "pages"), [(2 * ONE, [2, 5]), (2 * ONE - 1, [5]), (ONE - 1, [])])
def test_retrieval_stops_where_the_window_is_full(
    catalog: Catalog, room: int, pages: list[int]
) -> None:
    hits = found(catalog, 5, 2, 9)
    context = retrieval.choose(hits, count=count, room=room)
    assert read(context) == pages
    assert context.notes == (f"{3 - len(pages)} of 3 passages did not fit the window",)


def test_nothing_found_is_nothing_read() -> None:
    context = retrieval.choose([], count=count, room=100)
    assert (context.sources, context.notes) == ((), ())


def test_long_context_reads_all_that_fits(catalog: Catalog) -> None:
    context = long(catalog, found(catalog, 5), 11 * ONE)
    assert read(context) == [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12]  # in the order of reading
    assert (context.left_out, context.notes) == (None, ())
    assert [s.text for s in context.sources] == [text(n) for n in read(context)]
    assert {s.start for s in context.sources} == {0}
    assert [s.score for s in context.sources if s.page == 5] == [1.0]
    assert sum(s.score for s in context.sources) == 1.0


def test_long_context_grows_around_the_finds(catalog: Catalog) -> None:
    context = long(catalog, found(catalog, 10, 2), 4 * ONE)
    assert read(context) == [2, 9, 10, 11]
    assert left_out(context) == [(1, 1), (3, 6), (8, 8), (12, 12)]
    assert "Read 4 of 12 pages" in context.notes[0]


def test_what_is_left_out_is_exact(catalog: Catalog) -> None:
    """Read and left out together are the pages with text, and never overlap."""
    for room in range(ONE, 12 * ONE, ONE):
        context = long(catalog, found(catalog, 4, 11), room)
        pages = read(context)
        for entry in context.left_out or ():
            first, last = entry.pages
            assert entry == LeftOut(
                A, (first, last), pytest.approx(PAGE_TOKENS * (last - first + 1))
            )
            pages += range(first, last + 1)
        assert sorted(pages) == [n for n in range(1, 13) if n != 7]
        assert sum(s.tokens + FRAME_TOKENS for s in context.sources) <= room


def test_pages_limit_what_is_read_and_what_is_missed(catalog: Catalog) -> None:
    context = long(catalog, found(catalog, 3), 100 * ONE, pages=(2, 4))
    assert read(context) == [2, 3, 4]
    assert context.left_out is None
    context = long(catalog, found(catalog, 3), ONE, pages=(2, 4))
    assert read(context) == [3]
    assert left_out(context) == [(2, 2), (4, 4)]


def test_a_find_outside_the_pages_does_not_count(catalog: Catalog) -> None:
    context = long(catalog, found(catalog, 12), 2 * ONE, pages=(2, 4))
    assert read(context) == [2, 3]


def test_without_a_find_it_begins_at_the_beginning(catalog: Catalog) -> None:
    assert read(long(catalog, [], 2 * ONE)) == [1, 2]
    assert read(long(catalog, [], 2 * ONE, pages=(8, 12))) == [8, 9]


def test_one_book_is_read_the_one_found_best(catalog: Catalog) -> None:
    hits = [*found(catalog, 1, book=B), *found(catalog, 1)]
    context = long(catalog, hits, 100 * ONE, books=(A, B))
    assert [(s.book, s.page) for s in context.sources] == [(B, 1)]
    assert context.notes == ("Only “Swans” was read; 1 more in the library",)


def test_another_books_section_is_not_borrowed(catalog: Catalog) -> None:
    other = makers.hit(makers.passage(B, 3, "x", section="Of swans"), 2)
    context = long(catalog, [*found(catalog, 5), other], 100 * ONE, books=(A, B))
    assert {source.section for source in context.sources} == {""}


def test_no_room_for_a_page_says_what_to_do(catalog: Catalog) -> None:
    with pytest.raises(UserFacingError, match=r"Not even page 5 fits.*retrieval mode"):
        long(catalog, found(catalog, 5), ONE - 1)


def test_pages_that_are_not_there(catalog: Catalog) -> None:
    with pytest.raises(UserFacingError, match=r"no such pages\. It has 12 pages"):
        long(catalog, [], 100 * ONE, pages=(50, 60))


def test_a_book_that_is_gone(catalog: Catalog) -> None:
    catalog.remove(A)
    with pytest.raises(UserFacingError, match="no longer in the library"):
        long(catalog, [], 100 * ONE)
