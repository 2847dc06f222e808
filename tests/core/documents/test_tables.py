"""Tables are found by where their cells stand, and nothing else is taken for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymupdf
import pytest

from desktop.core.documents import tables
from desktop.core.documents.registry import open_document
from desktop.core.text.tables import Row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from desktop.core.text.tables import Table

PRICES = [
    ("Price (per\ngallon)", "Quantity demanded (millions\nof gallons)", "Quantity supplied"),
    ("$1.60", "550", "640"),
    ("$1.80", "500", "680"),
    ("$2.00", "460", "700"),
]
COLUMN = 150


def drawn(
    folder: Path,
    rows: Sequence[Sequence[str]],
    *,
    before: str = "A line above.",
    after: str = "A line below.",
    right: int = COLUMN,
) -> tuple[str, tuple[Table, ...]]:
    """Return the text and the tables of a page with a table on it."""
    document = pymupdf.open()
    page = document.new_page(width=650)
    page.insert_text((60, 60), before)
    y = 100
    for row in rows:
        for n, cell in enumerate(row):
            page.insert_text((60 + n * right, y), cell, fontsize=10)
        y += 12 * max(cell.count("\n") + 1 for cell in row) + 8
    page.insert_text((60, y + 30), after)
    file = folder / "table.pdf"
    document.save(file)
    document.close()
    opened = open_document(file)
    read = opened.page(1)
    opened.close()
    return read.text, tables.find(read)


def test_rows_are_read_across_and_the_heading_over_several_lines(tmp_path: Path) -> None:
    text, (table,) = drawn(tmp_path, PRICES)
    assert table.heading == (
        "Price (per gallon)",
        "Quantity demanded (millions of gallons)",
        "Quantity supplied",
    )
    assert [row.cells for row in table.rows] == PRICES[1:]
    assert [text[row.start : row.end].split() for row in table.rows] == [
        list(row) for row in PRICES[1:]
    ]
    assert text[: table.start].strip() == "A line above."
    assert text[table.end :].strip() == "A line below."


def test_a_column_of_words_without_a_heading_belongs_to_the_one_before(tmp_path: Path) -> None:
    rows = [
        ("Country", "GDP in the money of the land", "", "Rate"),
        ("Egypt", "5,820.00", "pounds", "4.511"),
        ("India", "195,861.61", "rupees", "21.990"),
        ("Japan", "531,247.88", "yen", "102.835"),
    ]
    _, (table,) = drawn(tmp_path, rows, right=100)
    assert table.heading == ("Country", "GDP in the money of the land", "Rate")
    assert table.rows[0].cells == ("Egypt", "5,820.00 pounds", "4.511")


def test_a_missing_cell_leaves_its_column_empty(tmp_path: Path) -> None:
    rows = [*PRICES[:2], ("$1.80", "", "680"), PRICES[3]]
    _, (table,) = drawn(tmp_path, rows)
    assert table.rows[1].cells == ("$1.80", "", "680")


def test_a_line_between_two_rows_belongs_to_the_table(tmp_path: Path) -> None:
    rows = [*PRICES[:3], ("Since the last war:",), PRICES[3]]
    _, (table,) = drawn(tmp_path, rows)
    assert table.rows[2].cells == ("Since the last war:", "", "")
    assert table.rows[3].cells == PRICES[3]


def test_a_table_of_numbers_alone_has_no_heading(tmp_path: Path) -> None:
    _, (table,) = drawn(tmp_path, PRICES[1:])
    assert table.heading == ()
    assert len(table.rows) == 3


@pytest.mark.parametrize(
    "rows",
    [
        PRICES[:2],  # two rows may be a formula
        [("one", "two"), ("three", "four"), ("five", "six")],  # no number at all
        [(f"{n}.", "A question of an exercise with a good many words in it?") for n in range(5)],
        [("A line of text",), ("A line with 5",), ("And 7 more",)],
        [],
    ],
    ids=["two rows", "words", "exercises", "one column", "no rows"],
)
def test_what_is_no_table(tmp_path: Path, rows: Sequence[Sequence[str]]) -> None:
    assert drawn(tmp_path, rows, right=80)[1] == ()


def test_text_in_two_columns_is_no_table(tmp_path: Path) -> None:
    column = "\n".join(f"This is line {n} of the text in a column of a paper" for n in range(20))
    assert drawn(tmp_path, [(column, column)], right=280)[1] == ()


def test_a_bar_in_a_cell_is_no_border(tmp_path: Path) -> None:
    _, (table,) = drawn(tmp_path, [*PRICES, ("|x|", "1", "2")])
    assert table.rows[-1].cells == ("/x/", "1", "2")
    assert str(Row(0, 0, table.rows[-1].cells)) == "| /x/ | 1 | 2 |"


def test_fractions_in_a_line_are_no_table(shared: Path) -> None:
    document = open_document(shared / "books" / "history_of_mathematics.pdf")
    try:
        assert tables.find(document.page(23)) == ()
        assert tables.find(document.page(24)) == ()
    finally:
        document.close()


def test_every_shared_table_row_stands_on_its_page(shared: Path) -> None:
    document = open_document(shared / "books" / "openstax_economics.pdf")
    try:
        for number, count in ((64, 1), (196, 1), (530, 2), (1000, 1)):
            page = document.page(number)
            found = tables.find(page)
            assert len(found) == count
            for table in found:
                assert table.heading
                for row in table.rows:
                    words = page.text[row.start : row.end].split()
                    assert sorted(" ".join(row.cells).split()) == sorted(words)
    finally:
        document.close()
