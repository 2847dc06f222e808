from __future__ import annotations

import pytest

from desktop.core.text import normalisation


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
    assert set(normalisation.query_terms(query)) & set(normalisation.index_terms(text))


@pytest.mark.parametrize(("text", "query"), [("力学", "学力"), ("48,000", "48"), ("bus", "bu")])
def test_what_is_something_else_does_not_meet(text: str, query: str) -> None:
    assert not set(normalisation.query_terms(query)) & set(normalisation.index_terms(text))


def test_stop_words_count_only_where_there_is_nothing_else() -> None:
    assert normalisation.query_terms("What is the price of a house?") == ["pric", "hous"]
    assert normalisation.query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert normalisation.query_terms("?!") == []


def test_a_pair_of_characters_is_looked_up_and_not_each_of_them() -> None:
    assert normalisation.index_terms("量子力") == ["量", "子", "力", "量子", "子力"]
    assert normalisation.query_terms("量子力") == ["量子", "子力"]
    assert normalisation.query_terms("量") == ["量"]


def test_a_term_is_looked_up_once() -> None:
    assert normalisation.query_terms("tax taxes TAX") == ["tax"]
    assert normalisation.index_terms("tax taxes") == ["tax", "tax"]


def test_a_hyphenated_word_counts_whole_and_in_its_parts() -> None:
    assert set(normalisation.index_terms("well-known")) == {"well", "known", "wellknown"}
    # As it stands in a PDF behind a line break.
    assert set(normalisation.query_terms("cooperation")) & set(
        normalisation.index_terms("co-\noperation")
    )


@pytest.mark.parametrize("text", ["", "\x00", "…", "-", "--", "_", "😀", "\u0301"])
def test_what_has_no_words_has_no_terms(text: str) -> None:
    assert normalisation.index_terms(text) == normalisation.query_terms(text) == []
