"""A text with its tables in rows, and the part of a table that a part of a page has."""

from __future__ import annotations

from desktop.core.text.tables import Row, Table, laid_out, within

PAGE = "Before.\n\nYear\n\nBirds\n\n1980\n12\n\n1990\n30\n\nAfter."


def row(*cells: str) -> Row:
    start = PAGE.index(cells[0])
    return Row(start, PAGE.index(cells[-1]) + len(cells[-1]), cells)


FIRST, SECOND = row("1980", "12"), row("1990", "30")
TABLE = Table(PAGE.index("Year"), SECOND.end, ("Year", "Birds"), (FIRST, SECOND))


def test_a_table_stands_in_rows_where_it_stood() -> None:
    assert laid_out(PAGE, [TABLE]) == (
        "Before.\n\n| Year | Birds |\n|---|---|\n| 1980 | 12 |\n| 1990 | 30 |\n\nAfter."
    )
    assert laid_out(PAGE, []) == PAGE


def test_a_table_without_a_heading_has_no_line_under_one() -> None:
    assert str(Table(0, 1, (), (FIRST,))) == "| 1980 | 12 |"


def test_a_part_keeps_the_heading_and_its_own_rows() -> None:
    start = SECOND.start
    (part,) = within([TABLE], start, len(PAGE))
    assert part.heading == TABLE.heading
    assert part.rows == (Row(0, SECOND.end - start, SECOND.cells),)
    assert laid_out(PAGE[start:], [part]) == "| Year | Birds |\n|---|---|\n| 1990 | 30 |\n\nAfter."


def test_a_part_that_begins_in_the_heading_begins_its_table_there() -> None:
    (part,) = within([TABLE], 0, FIRST.end)
    assert (part.start, part.end) == (TABLE.start, FIRST.end)


def test_a_part_without_a_whole_row_has_no_table() -> None:
    assert within([TABLE], 0, FIRST.end - 1) == ()
    assert within([], 0, len(PAGE)) == ()
