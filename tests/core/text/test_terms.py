from __future__ import annotations

from itertools import pairwise

import pytest

from desktop.core.text import terms, windows


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("taxes", "tax"), ("running", "runs"), ("co-operation", "cooperation"),
        ("cooperation", "co-operation"), ("behaviour", "behavior"), ("analysed", "analyze"),
        ("l'électron", "electrons"), ("Trait´e", "traité"), ("NAÏVE", "naive"),
        ("量子力学", "量子"), ("companies", "company"), ("48,000", "48000"), ("ﬁeld", "fields"),
    ],
)  # fmt: skip
def test_text_and_query_meet(text: str, query: str) -> None:
    assert set(terms.of_query(query)) & set(terms.of_text(text))


@pytest.mark.parametrize(("text", "query"), [("力学", "学力"), ("48,000", "48"), ("bus", "bu")])
def test_what_is_something_else_does_not_meet(text: str, query: str) -> None:
    assert not set(terms.of_query(query)) & set(terms.of_text(text))


def test_stop_words_count_only_where_there_is_nothing_else() -> None:
    assert terms.of_query("What is the price of a house?") == ["pric", "hous"]
    assert terms.of_query("to be or not to be") == ["to", "be", "or", "not"]
    assert terms.of_query("?!") == []


def test_windows_cover_all_sentences_in_order() -> None:
    text = " ".join(f"Sentence {n} has exactly seven words here." for n in range(40))
    spans = windows.spans(text)
    assert len(spans) > 5
    assert "".join(text[a:b] for a, b in spans).replace(" ", "") == text.replace(" ", "")
    assert all(len(text[a:b].split()) <= windows.WINDOW_WORDS for a, b in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))


def test_a_long_sentence_is_a_window_of_its_own() -> None:
    long = "Word " * 200 + "end."
    assert windows.spans(f"Short one. {long} Short two.")[1] == (11, 11 + len(long))
    assert windows.spans("") == []
