from __future__ import annotations

import pytest

from desktop.core.text.facts import Facts, Quantity, contradicts, names, numbers_missing, quantities


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("48,000 pins", ["48000"]), ("-5 degrees", ["-5"]), ("from 3-5", ["3", "5"]),
        ("3,14", ["3.14"]), ("1.234,5", ["1234.5"]), ("2845.80", ["2845.8"]), (".5", ["0.5"]),
        ("81.1 million", ["81100000"]), ("8.1M", ["8100000"]), ("twenty", ["20"]),
        ("x", []), ("7 and 8", ["7", "8"]),
    ],
)  # fmt: skip
def test_numbers_in_plain_digits(text: str, values: list[str]) -> None:
    assert [quantity.value for quantity in quantities(text)] == values


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5 %", "%"), ("5 percent", "%"), ("$5", "$"), ("5 dollars", "$"), ("5 kg", "kg"),
        ("5 kilograms", "kg"), ("5-mm", "mm"), ("5 apples", ""), ("5 a gallon", ""),
        ("5 years", "year"), ("5 °C", "c"),
    ],
)  # fmt: skip
def test_units(text: str, unit: str) -> None:
    assert quantities(text) == (Quantity("5", unit),)


@pytest.mark.parametrize(
    ("claim", "proof"),
    [("5", "-5"), ("-5", "5"), ("5", "50"), ("5 %", "5 kg"), ("$5", "5 percent"), ("3", "3,5")],
)
def test_other_numbers_are_missed(claim: str, proof: str) -> None:
    assert numbers_missing(Facts(f"It is {claim} now."), Facts(f"It is {proof} now."))


@pytest.mark.parametrize(
    ("claim", "proof"),
    [("5 %", "5 percent"), ("five", "5"), ("5 kg", "5"), ("1,000", "1000"), ("3,5", "3.5")],
)
def test_the_same_number_written_otherwise_is_there(claim: str, proof: str) -> None:
    assert not numbers_missing(Facts(f"It is {claim} now."), Facts(f"It is {proof} now."))


@pytest.mark.parametrize(
    ("claim", "proof"),
    [
        ("Quantity supplied exceeds quantity demanded.",
         "The quantity demanded exceeds the quantity supplied."),
        ("Prices rise when demand falls.", "Prices fall when demand falls."),
        ("A credit card is money.", "A credit card is not money."),
        ("A credit card is not money.", "A credit card is money."),
        ("The loser defeated the winner.", "The winner defeated the loser."),
        ("A higher wage cuts jobs.", "A lower wage cuts jobs."),
    ],
)  # fmt: skip
def test_opposites_contradict(claim: str, proof: str) -> None:
    assert contradicts(Facts(claim), Facts(proof))


@pytest.mark.parametrize(
    ("claim", "proof"),
    [
        ("Demand exceeds supply, so there is a shortage.",
         "Where quantity demanded exceeds quantity supplied, a shortage exists."),
        ("Prices rise.", "The prices of all goods rise."),
        ("It isn't money.", "It is not money."),
        ("The winner defeated the loser.", "In 1212 the winner defeated the loser."),
    ],
)  # fmt: skip
def test_paraphrases_do_not(claim: str, proof: str) -> None:
    assert not contradicts(Facts(claim), Facts(proof))


def test_names_are_words_with_a_capital_inside_a_sentence() -> None:
    text = "Theano was the wife of Pythagoras. In May the LaTeX-derived GDP of Cuba rose."
    assert names(text) == {"pythagoras", "latex", "gdp", "cuba"}
