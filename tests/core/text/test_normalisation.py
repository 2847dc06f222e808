from __future__ import annotations

import pytest

from desktop.core.text import normalisation


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Shortages", "shortage"),
        ("Économie", "economie"),
        ("co\u00adoperate", "cooperate"),
        ("ﬁnal", "final"),
        ("increases", "increase"),
        ("measuring", "measured"),
        ("10,000 coins", "10000 coins"),
        ("1,234,567", "1234567"),
        ("½", "1⁄2"),
        ("Straße", "STRASSE"),
    ],
)
def test_equal_after_folding(one: str, other: str) -> None:
    assert normalisation.words(one) == normalisation.words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.5", "15"), ("1,5", "1.5"), ("heron", "here"), ("cat", "cats and"), ("bus", "bu")],
)
def test_different_after_folding(one: str, other: str) -> None:
    assert normalisation.words(one) != normalisation.words(other)


def test_short_words_are_not_cut_to_nothing() -> None:
    assert normalisation.words("is as gas red sing fly") == [
        "is",
        "as",
        "gas",
        "red",
        "sing",
        "fly",
    ]


def test_content_words_leave_out_what_says_nothing() -> None:
    assert normalisation.content_words("What is the price of it, and why?") == normalisation.words(
        "price"
    )
    assert normalisation.content_words("Qu'est-ce que le prix des qubits ?")[-1] == "qubit"
    assert normalisation.content_words("the of and") == []


@pytest.mark.parametrize("text", ["", "…", "\x00", "_", "🦆", "\u0301\u0301"])
def test_what_has_no_words_has_none(text: str) -> None:
    assert normalisation.words(text) == normalisation.content_words(text) == []
