from __future__ import annotations

import random
from itertools import pairwise

import pytest

from desktop.core.text import sentences, windows

SEVEN = " ".join(f"Sentence {n} has exactly seven words here." for n in range(40))


def test_windows_cover_all_sentences_in_order() -> None:
    spans = windows.spans(SEVEN)
    assert len(spans) > 5
    assert "".join(SEVEN[a:b] for a, b in spans).replace(" ", "") == SEVEN.replace(" ", "")
    assert all(one[1] <= two[0] for one, two in pairwise(spans))


def test_a_window_is_full_before_the_next_begins() -> None:
    counts = [len(SEVEN[a:b].split()) for a, b in windows.spans(SEVEN)]
    assert all(count <= windows.WINDOW_WORDS for count in counts)
    assert all(count + 7 > windows.WINDOW_WORDS for count in counts[:-1])


def test_a_long_sentence_is_a_window_of_its_own() -> None:
    long = "Word " * 200 + "end."
    assert windows.spans(f"Short one. {long} Short two.")[1] == (11, 11 + len(long))


def test_nothing_has_no_windows() -> None:
    assert windows.spans("") == windows.spans(" \n\n ") == []


def test_the_size_may_be_chosen() -> None:
    assert len(windows.spans(SEVEN, words=7)) == 40
    assert len(windows.spans(SEVEN, words=14)) == 20
    assert windows.spans(SEVEN, words=10_000) == [(0, len(SEVEN))]


@pytest.mark.parametrize("seed", range(20))
def test_no_window_cuts_a_sentence(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        "word",
        "Word",
        "e.g.",
        "3.5",
        ".",
        "?",
        "!”",
        "\n\n",
        "\n",
        "。",
        "»",
        "J.",
        "量子。",
    ]
    text = " ".join(rng.choices(pieces, k=300))
    whole = sentences.spans(text)
    spans = windows.spans(text)
    assert {start for start, _ in spans} <= {start for start, _ in whole}
    assert {end for _, end in spans} <= {end for _, end in whole}
    assert all(any(a <= start and end <= b for a, b in spans) for start, end in whole)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
