"""What was found brings its tables along, whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pymupdf
import pytest

from desktop.core.library.indexing import Indexer
from desktop.core.retrieval import tables
from tests.core import makers

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.core.records import Passage

ROWS = [("Year", "Birds", "Nests"), *((str(1980 + n), str(3 * n), str(n)) for n in range(6))]


@pytest.fixture
def passage(library: Library, tmp_path: Path) -> Passage:
    """A passage that holds the last rows of a table of a book in the library."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((60, 60), "The herons of the lake were counted in many years.")
    for y, row in enumerate(ROWS):
        for x, cell in enumerate(row):
            page.insert_text((60 + 120 * x, 100 + 20 * y), cell)
    file = tmp_path / "herons.pdf"
    document.save(file)
    document.close()
    book = Indexer(library).add(file).book.id
    (whole,) = library.catalog.passages(book)
    start = whole.text.index("1983")
    return replace(whole, start=whole.start + start, text=whole.text[start:])


def test_a_cut_table_is_made_whole(library: Library, passage: Passage) -> None:
    (hit,) = tables.with_tables(library, [makers.hit(passage)])
    (table,) = hit.tables
    assert table.heading == ROWS[0]
    assert [row.cells for row in table.rows] == ROWS[1:]
    text = hit.passage.text
    assert [tuple(text[row.start : row.end].split()) for row in table.rows] == ROWS[1:]
    page = library.catalog.page(passage.book, 1)
    assert page
    assert text == page.text[hit.passage.start : hit.passage.end]


def test_a_long_table_stays_cut_but_has_its_heading(
    library: Library, passage: Passage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", 5)
    (hit,) = tables.with_tables(library, [makers.hit(passage)])
    assert hit.passage == passage
    assert hit.tables[0].heading == ROWS[0]
    assert [row.cells for row in hit.tables[0].rows] == ROWS[4:]


def test_a_passage_that_another_holds_is_left_out(library: Library, passage: Passage) -> None:
    first = replace(passage, end=passage.start + 14, text=passage.text[:14])
    hits = tables.with_tables(library, [makers.hit(passage, 1), makers.hit(first, 2)])
    assert [hit.rank for hit in hits] == [1]


def test_passages_stay_as_they_are_where_the_file_is_gone(
    library: Library, passage: Passage
) -> None:
    library.file_of(passage.book).unlink()
    assert tables.with_tables(library, [makers.hit(passage)]) == [makers.hit(passage)]
