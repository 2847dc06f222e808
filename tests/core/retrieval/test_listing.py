from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.library.catalog import Catalog
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Book, BookStatus, Page
from desktop.core.retrieval.listing import MOST, Entry, entries
from desktop.core.retrieval.plan import Plan
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

A, B = makers.book_id("a"), makers.book_id("b")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "library.sqlite3")
    yield opened
    opened.close()


def enter(catalog: Catalog, pages: Sequence[tuple[str, str]], book: str = A) -> None:
    """Enter a book: for each page its section and its text, which is one passage."""
    catalog.put(Book(book, "A book", "/a.pdf", BookStatus.READING, pages=len(pages)))
    catalog.commit_pages(
        book,
        [Page(n, f"p{n}", text) for n, (_, text) in enumerate(pages, 1)],
        [makers.passage(book, n, text, section=s) for n, (s, text) in enumerate(pages, 1) if text],
    )
    catalog.update(book, status=BookStatus.INDEXED)


def listed(
    catalog: Catalog,
    kind: str,
    query: str = "",
    where: SearchFilter = SearchFilter(),  # noqa: B008
) -> list[Entry]:
    found = entries(catalog, Plan(query, where, (), kind), catalog.books())
    for entry in found:
        page = catalog.page(entry.book, entry.page)
        assert page
        assert page.label == entry.page_label
        if entry.end > entry.start and kind != "contents":
            assert page.text[entry.start : entry.end] == entry.text
    return found


def texts(found: list[Entry]) -> list[str]:
    return [entry.text for entry in found]


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("Before.\n\nFigure 1.2 A heron at dawn\n\nAfter.", "Figure 1.2 A heron at dawn"),
        ("Fig. 3. A heron at dawn. It waits.", "Fig. 3. A heron at dawn."),
        ("Figure 4: Herons (left) and owls.\nMore text.", "Figure 4: Herons (left) and owls."),
        ("FIGURE 5 A heron", "FIGURE 5 A heron"),
        ("Figure 3.2 shows that herons fish.", None),
        ("As Figure 3 shows, herons fish.", None),
    ],
)
def test_a_caption_goes_to_the_end_of_its_sentence(
    catalog: Catalog, text: str, caption: str | None
) -> None:
    enter(catalog, [("1 Birds", text)])
    assert texts(listed(catalog, "figures")) == ([caption] if caption else [])


def test_a_caption_without_an_end_is_cut(catalog: Catalog) -> None:
    enter(catalog, [("", "Figure 1 A heron " + "and another " * 200)])
    (entry,) = listed(catalog, "figures")
    assert 200 < len(entry.text) <= 300


def test_figures_and_tables_are_apart(catalog: Catalog) -> None:
    enter(catalog, [("", "Figure 1 A heron\n\nTable 1 Weights of herons")])
    assert texts(listed(catalog, "figures")) == ["Figure 1 A heron"]
    assert texts(listed(catalog, "tables")) == ["Table 1 Weights of herons"]


def test_only_entries_on_the_subject_are_listed(catalog: Catalog) -> None:
    enter(catalog, [("", "Figure 1 A heron\n\nFigure 2 Two owls\n\nFigure 3 Owl and heron")])
    assert texts(listed(catalog, "figures", "herons")) == [
        "Figure 1 A heron", "Figure 3 Owl and heron",
    ]  # fmt: skip
    assert listed(catalog, "figures", "swans") == []
    assert len(listed(catalog, "figures", "the of")) == 3


def test_a_list_keeps_to_its_part_of_the_library(catalog: Catalog) -> None:
    enter(catalog, [("1 Birds", "Figure 1 A heron"), ("2 Fish", "Figure 2 A trout")])
    enter(catalog, [("1 Birds", "Figure 9 A swan")], B)
    assert len(listed(catalog, "figures")) == 3
    assert texts(listed(catalog, "figures", where=SearchFilter((B,)))) == ["Figure 9 A swan"]
    assert texts(listed(catalog, "figures", where=SearchFilter((A,), (2, 9)))) == [
        "Figure 2 A trout"
    ]
    kept = SearchFilter((A,), sections=("1 Birds",))
    assert texts(listed(catalog, "figures", where=kept)) == ["Figure 1 A heron"]
    assert listed(catalog, "figures", where=SearchFilter(sections=())) == []


def test_a_glossary_is_listed_sentence_by_sentence(catalog: Catalog) -> None:
    enter(catalog, [
        ("1 Birds › Key Terms", "Key Terms\n\nheron a wader of marshes\n\nowl a bird of the night"),
        ("1 Birds", "A heron is called a wader. It fishes. By definition it is a bird."),
    ])  # fmt: skip
    assert texts(listed(catalog, "definitions")) == [
        "heron a wader of marshes", "owl a bird of the night",
        "A heron is called a wader.", "By definition it is a bird.",
    ]  # fmt: skip


def test_contents_are_the_chapters_with_their_pages(catalog: Catalog) -> None:
    enter(catalog, [
        ("Preface", "Welcome"), ("1 Birds", "1 Birds\n\nFeathers"), ("1 Birds › 1.1 Owls", "x"),
        ("2 Fish", "They swim. 2\nFISH have fins."), ("Index", "owl 3"),
    ])  # fmt: skip
    found = listed(catalog, "contents")
    assert [(e.text, e.page, e.level) for e in found] == [("1 Birds", 2, 1), ("2 Fish", 4, 1)]
    assert [(e.start, e.end) for e in found] == [(0, 7), (11, 17)]
    inside = listed(
        catalog, "contents", where=SearchFilter((A,), sections=("1 Birds", "1 Birds › 1.1 Owls"))
    )
    assert [(e.text, e.level) for e in inside] == [("1 Birds", 1), ("1.1 Owls", 2)]
    assert inside[1].end == 0  # its title does not stand on its page


def test_parts_have_their_chapters_below_them(catalog: Catalog) -> None:
    enter(catalog, [
        ("Part I Air › 1 Birds", "x"), ("Part I Air › 2 Bats", "x"), ("Part II Sea › 3 Fish", "x"),
    ])  # fmt: skip
    assert [(e.text, e.level) for e in listed(catalog, "contents")] == [
        ("Part I Air", 1), ("1 Birds", 2), ("2 Bats", 2), ("Part II Sea", 1), ("3 Fish", 2),
    ]  # fmt: skip


def test_a_book_without_an_outline_has_no_contents(catalog: Catalog) -> None:
    enter(catalog, [("", "Herons fish.")])
    for kind in ("contents", "figures", "tables", "definitions"):
        assert listed(catalog, kind) == []


def test_a_list_has_an_end(catalog: Catalog) -> None:
    enter(catalog, [("", f"Figure {n} A heron") for n in range(1, MOST + 50)])
    found = listed(catalog, "figures")
    assert len(found) == MOST
    assert [entry.more for entry in found[-2:]] == [0, 49]
    assert len(listed(catalog, "figures", "Figure")) == MOST


def test_a_list_of_just_the_most_has_no_more(catalog: Catalog) -> None:
    enter(catalog, [(f"{n} Birds", "Herons fish.") for n in range(1, MOST + 1)])
    assert [entry.more for entry in listed(catalog, "contents")] == [0] * MOST


def test_the_books_own_list_of_figures_is_not_listed_again(catalog: Catalog) -> None:
    enter(catalog, [
        ("List of Figures", "Figure 1 A heron 2"), ("1 Birds", "Figure 1 A heron\n\nIt fishes."),
    ])  # fmt: skip
    assert [entry.page for entry in listed(catalog, "figures")] == [2]


def test_a_table_among_exercises_is_listed_where_it_is_the_only_one(catalog: Catalog) -> None:
    enter(catalog, [
        ("List of Tables", "Table 1 Weights 2"),
        ("1 Birds", "Table 1 Weights\n\nThey fish."),
        ("1 Birds › Problems", "Table 1 Weights\n\nTable 2 Heights\n\nBy definition, what is it?"),
    ])  # fmt: skip
    found = listed(catalog, "tables")
    assert [(entry.text, entry.page) for entry in found] == [("Table 1 Weights", 2),
                                                             ("Table 2 Heights", 3)]  # fmt: skip
    assert listed(catalog, "definitions") == []


def test_a_chapter_whose_text_is_all_in_its_sections_is_listed(catalog: Catalog) -> None:
    enter(catalog, [
        ("Part I Air › 1 Birds › 1.1 Owls", "x"), ("Part I Air › 1 Birds › 1.2 Herons", "x"),
        ("Part II Sea › 2 Fish › 2.1 Trout", "x"), ("Part II Sea › 3 Crabs", "x"),
    ])  # fmt: skip
    birds = ("Part I Air › 1 Birds › 1.1 Owls", "Part I Air › 1 Birds › 1.2 Herons")
    sea = ("Part II Sea › 2 Fish › 2.1 Trout", "Part II Sea › 3 Crabs")
    found = listed(catalog, "contents", where=SearchFilter((A,), sections=birds))
    assert [(e.text, e.level) for e in found] == [("1 Birds", 1), ("1.1 Owls", 2),
                                                  ("1.2 Herons", 2)]  # fmt: skip
    found = listed(catalog, "contents", where=SearchFilter((A,), sections=sea))
    assert [(e.text, e.level) for e in found] == [("Part II Sea", 1), ("2 Fish", 2), ("3 Crabs", 2)]
    assert listed(catalog, "contents", where=SearchFilter((A,), sections=())) == []
