from __future__ import annotations

import random

import pytest

from desktop.core.library.search_filter import EVERYWHERE, SearchFilter, section_number
from tests.core import makers

A = makers.book_id("a")


def test_everywhere_needs_no_filter() -> None:
    assert EVERYWHERE.filter() is None


def test_a_filter_has_numbers_and_ids_only() -> None:
    where = SearchFilter((A,), (3, 9), ('Birds\' › "Waders"',), ("figure",))
    number = section_number('Birds\' › "Waders"')
    assert (
        where.filter()
        == f"book IN ('{A}') AND page BETWEEN 3 AND 9 AND section IN ({number}) AND figure"
    )


def test_unknown_marks_are_no_columns() -> None:
    assert SearchFilter(marks=("1=1; DROP TABLE x", "table")).filter() == "table"


@pytest.mark.parametrize("pages", [("1 OR 1=1", 2), (1, "x")])
def test_pages_are_numbers(pages: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        SearchFilter(pages=pages).filter()


def test_no_sections_is_nothing() -> None:
    assert SearchFilter(sections=()).filter() == "false"


def test_section_numbers_differ() -> None:
    rng = random.Random(1)
    paths = {"".join(rng.choices("abc ›1.", k=12)) for _ in range(5000)}
    assert len({section_number(path) for path in paths}) == len(paths)
    assert all(-(2**63) <= section_number(path) < 2**63 for path in paths)
