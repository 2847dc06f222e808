from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pymupdf
import pytest

from desktop.core.documents.page_text import SOFT_HYPHEN, build, rects_of
from desktop.core.records import Word

if TYPE_CHECKING:
    from collections.abc import Iterable

Raw = tuple[float, float, float, float, str, int, int, int]


def laid_out(lines: Iterable[tuple[int, int, str]]) -> list[Raw]:
    """Return MuPDF's words for lines (block, line, text): 10 points a letter, 20 a line."""
    words: list[Raw] = []
    for row, (block, line, text) in enumerate(lines):
        x = 0.0
        for index, word in enumerate(text.split(" ")):
            width = 10.0 * len(word)
            words.append((x, 20.0 * row, x + width, 20.0 * row + 12, word, block, line, index))
            x += width + 10
    return words


def texts(text: str, words: Iterable[Word]) -> list[str]:
    return [text[word.start : word.end] for word in words]


def test_words_lines_and_blocks_are_joined() -> None:
    text, words = build(laid_out([(0, 0, "one two"), (0, 1, "three"), (1, 0, "four five")]))
    assert text == "one two\nthree\n\nfour five"
    assert texts(text, words) == ["one", "two", "three", "four", "five"]


def test_no_words_make_an_empty_page() -> None:
    assert build([]) == ("", ())
    assert build(laid_out([(0, 0, "\x00"), (0, 1, "  ")])) == ("", ())


@pytest.mark.parametrize("mark", ["-", "\u2010", SOFT_HYPHEN])
@pytest.mark.parametrize("block", [0, 1], ids=["same block", "next block"])
def test_a_divided_word_is_one_word_with_two_rectangles(mark: str, block: int) -> None:
    text, words = build(laid_out([(0, 0, f"an elec{mark}"), (block, 1, "tron moves")]))
    assert text == "an electron moves"
    assert texts(text, words) == ["an", "elec", "tron", "moves"]
    start = text.index("electron")
    assert len(rects_of(words, start, start + len("electron"))) == 2
    assert rects_of(words, start, start + 4) == (words[1].rect,)
    assert rects_of(words, start + 4, start + 8) == (words[2].rect,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Anglo-", "Saxon"),  # a name goes on with a capital letter
        ("COVID-", "19"),
        ("1939-", "1945"),
        ("A-", "level"),  # too short to be a part of a word
        ("x-", "axis"),
        ("NATO-", "led"),
        ("-", "item"),  # a list mark
        ("word", "next"),
        ("dash—", "next"),
    ],
)
def test_other_hyphens_stay(before: str, after: str) -> None:
    text, words = build(laid_out([(0, 0, f"an {before}"), (0, 1, f"{after} x")]))
    assert text == f"an {before}\n{after} x"
    assert texts(text, words) == ["an", before, after, "x"]


def test_a_hyphen_inside_a_line_stays() -> None:
    text, _ = build(laid_out([(0, 0, "pre- and post-war")]))
    assert text == "pre- and post-war"


def test_soft_hyphens_inside_a_word_are_not_text() -> None:
    text, words = build(laid_out([(0, 0, f"inter{SOFT_HYPHEN}na{SOFT_HYPHEN}tional law")]))
    assert text == "international law"
    assert texts(text, words) == ["international", "law"]


def test_control_characters_and_halves_of_surrogates_are_dropped() -> None:
    text, words = build(laid_out([(0, 0, "a\x00b\x1fc \ud800 \ufeffd\x85 \x07 e\ufffe")]))
    assert text == "abc d e"
    assert texts(text, words) == ["abc", "d", "e"]
    text.encode()  # can be stored


def test_words_outside_the_visible_page_are_dropped() -> None:
    raw = laid_out([(0, 0, "in out"), (0, 1, "below")])
    text, words = build(raw, visible=pymupdf.Rect(0, 0, 30, 15))
    assert text == "in"
    assert len(words) == 1


def test_rectangles_are_those_of_the_displayed_page() -> None:
    raw = laid_out([(0, 0, "ab")])
    _, words = build(raw, matrix=pymupdf.Matrix(0, 1, -1, 0, 100, 0))  # a quarter turn
    assert words[0].rect == (88, 0, 100, 20)


@pytest.mark.parametrize("seed", range(25))
def test_offsets_always_match(seed: int) -> None:
    """Whatever the words are, they stand at their offsets, in order, with only gaps between."""
    rng = random.Random(seed)
    alphabet = ["a", "é", "-", SOFT_HYPHEN, "\x00", "B", "7", "\u2010", "\ud9ff", "界", "."]
    lines = []
    for row in range(rng.randint(1, 12)):
        words = ["".join(rng.choices(alphabet, k=rng.randint(0, 6))) for _ in range(5)]
        lines.append((row // 3, row, " ".join(words)))
    text, placed = build(laid_out(lines))
    position = 0
    for word in placed:
        assert text[position : word.start] in ("", " ", "\n", "\n\n")
        assert word.start < word.end <= len(text)
        assert text[word.start : word.end].strip() == text[word.start : word.end]
        position = word.end
    assert position == len(text)
    assert rects_of(placed, 0, len(text)) or not placed
    text.encode()


def test_one_rectangle_a_line() -> None:
    text, words = build(laid_out([(0, 0, "aa bb cc"), (0, 1, "dd ee")]))
    assert rects_of(words, 0, len(text)) == ((0, 0, 80, 12), (0, 20, 50, 32))
    start = text.index("bb")
    assert rects_of(words, start, start + 2) == ((30, 0, 50, 12),)
    assert rects_of(words, start, start + 1) == ((30, 0, 50, 12),)  # a part marks its word
    assert rects_of(words, start, start) == ()
    assert rects_of(words, len(text), len(text) + 5) == ()


def test_a_line_that_runs_to_the_left_is_one_rectangle() -> None:
    words = [Word(0, 2, (60, 0, 80, 12)), Word(3, 5, (30, 0, 50, 12)), Word(6, 8, (0, 0, 20, 12))]
    assert rects_of(words, 0, 8) == ((0, 0, 80, 12),)


def test_columns_at_one_height_are_not_joined_to_the_left() -> None:
    words = [Word(0, 2, (300, 0, 340, 12)), Word(3, 5, (20, 0, 60, 12))]
    assert len(rects_of(words, 0, 5)) == 2
