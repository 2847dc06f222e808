from __future__ import annotations

import pytest

from desktop.core.documents.outline import Boundary, Sections, block_spans
from desktop.core.records import Heading, Page, Word


def page(number: int, text: str) -> Page:
    """Return a page whose blocks' first words lie 100 points apart."""
    words = []
    for row, (start, end) in enumerate(block_spans(text)):
        first = text[start:end].split()[0]
        words.append(Word(start, start + len(first), (50, 100.0 * row, 90, 100.0 * row + 12)))
    return Page(number, str(number), text, tuple(words))


def sections(*headings: Heading) -> Sections:
    return Sections(headings)


def test_no_outline_is_one_nameless_section() -> None:
    assert sections().on_page(page(3, "Some text")) == [Boundary(0, "")]
    assert sections().on_page(page(1, "")) == [Boundary(0, "")]


def test_before_the_first_heading_there_is_no_section() -> None:
    found = sections(Heading(1, "Start", 5))
    assert found.on_page(page(4, "preface")) == [Boundary(0, "")]
    assert found.on_page(page(6, "anything")) == [Boundary(0, "Start")]


def test_a_section_begins_at_the_words_of_its_heading() -> None:
    text = "The end of one.\n\n1.2  Energy — and Work\n\nIts first words."
    found = sections(Heading(1, "One", 1), Heading(1, "1.2 Energy and work", 2))
    assert found.on_page(page(2, text)) == [
        Boundary(0, "One"),
        Boundary(text.index("1.2"), "1.2 Energy and work"),
    ]


def test_a_paragraph_that_begins_with_the_title_is_no_heading() -> None:
    long = "Work is what a force does along a way, " * 5
    text = f"{long}\n\nWork\n\nrest"
    found = sections(Heading(1, "Work", 1))
    assert found.on_page(page(1, text))[-1] == Boundary(text.index("\n\nWork") + 2, "Work")


@pytest.mark.parametrize(("y", "block"), [(100.0, 1), (104.0, 1), (106.5, 2), (230.0, None)])
def test_else_at_its_height(y: float, block: int | None) -> None:
    """A destination may lie a little below its line; one below all text is taken as the top."""
    text = "first block\n\nsecond block\n\nthird block"
    found = sections(Heading(1, "Before", 1), Heading(1, "Drawn as a picture", 2, y))
    offset = block_spans(text)[block][0] if block else 0
    boundaries = found.on_page(page(2, text))
    assert boundaries[-1] == Boundary(offset, "Drawn as a picture")
    assert len(boundaries) == (2 if block else 1)


def test_else_at_the_top_of_its_page() -> None:
    found = sections(Heading(1, "Before", 1), Heading(1, "Nowhere", 2))
    assert found.on_page(page(2, "text")) == [Boundary(0, "Nowhere")]


def test_several_on_one_page_in_order() -> None:
    text = "tail\n\nB\n\nbody of b\n\nC\n\nbody of c"
    found = sections(Heading(1, "A", 1), Heading(2, "B", 2), Heading(2, "C", 2), Heading(1, "D", 3))
    assert found.on_page(page(2, text)) == [
        Boundary(0, "A"),
        Boundary(text.index("B"), "A › B"),
        Boundary(text.index("C"), "A › C"),
    ]
    assert found.on_page(page(3, "x")) == [Boundary(0, "D")]
    assert found.on_page(page(99, "x")) == [Boundary(0, "D")]


def test_a_heading_listed_out_of_order_never_goes_back() -> None:
    text = "X\n\nbody\n\nY\n\nbody"
    found = sections(Heading(1, "Y", 1), Heading(1, "X", 1))
    offsets = [boundary.offset for boundary in found.on_page(page(1, text))]
    assert offsets == sorted(set(offsets))
    assert offsets[0] == 0


def test_paths_are_nested_by_level() -> None:
    found = sections(
        Heading(1, "I", 1),
        Heading(3, "deep", 2),
        Heading(2, "I.1", 3),
        Heading(3, "I.1.a", 4),
        Heading(1, "II", 5),
        Heading(2, "II.1", 6),
    )
    paths = [found.on_page(page(n, "x"))[-1].section for n in range(1, 7)]
    assert paths == ["I", "I › deep", "I › I.1", "I › I.1 › I.1.a", "II", "II › II.1"]


def test_headings_in_any_order_of_pages() -> None:
    found = sections(Heading(1, "Late", 9), Heading(1, "Early", 2))
    assert found.on_page(page(5, "x")) == [Boundary(0, "Early")]


def test_blocks_are_parted_by_empty_lines() -> None:
    text = "one\nline\n\n\n\ntwo\n\n"
    assert [text[a:b] for a, b in block_spans(text)] == ["one\nline", "two"]
    assert block_spans("") == []
