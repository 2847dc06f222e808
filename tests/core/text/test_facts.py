from __future__ import annotations

import random

import pytest

from desktop.core.text.facts import Facts, contradicts, names, numbers_missing
from desktop.core.text.quantities import Quantity, quantities


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


@pytest.mark.parametrize("seed", range(10))
def test_a_number_is_one_however_it_is_written(seed: int) -> None:
    number = random.Random(seed).randrange(1, 10**7)
    value = str(number)
    for written in (value, f"{number:,}", f"{number}.0", f"{number:,}.00", f"00{number}"):
        assert [q.value for q in quantities(f"It has {written} parts.")] == [value], written
    negative = (Quantity(f"-{value}", "c"),)
    assert quantities(f"It was -{value} °C.") == quantities(f"It was −{value} °C.") == negative


@pytest.mark.parametrize("text", ["from 3-5", "from 3–5", "3 - 5", "1914-18", "x-5", "B-12"])
def test_a_dash_between_is_no_minus(text: str) -> None:
    assert all(not quantity.value.startswith("-") for quantity in quantities(text))


@pytest.mark.parametrize(
    ("claim", "proof"),
    [("10 thousand", "10 million"), ("5 days", "5 years"), ("$5", "€5"), ("1.5 kg", "15 kg"),
     ("3,5", "35"), ("five", "six"), ("1,902", "1.902"), ("5 g", "5 kg"), ("7.0", "70")],
)  # fmt: skip
def test_another_size_or_unit_is_missed_both_ways(claim: str, proof: str) -> None:
    one, other = Facts(f"It is {claim} now."), Facts(f"It is {proof} now.")
    assert numbers_missing(one, other)
    assert numbers_missing(other, one)


def test_each_number_that_is_missing_is_told() -> None:
    claim = Facts("From 3 kg to 5 kg in 1980.")
    assert numbers_missing(claim, Facts("It was 5 kg.")) == (Quantity("3", "kg"), Quantity("1980"))
    assert numbers_missing(Facts("No number."), Facts("")) == ()


DENIALS = [
    "It is not so.", "It isn't so.", "It isn’t so.", "It cannot be.", "It can't be.",
    "It never is.",
    "Neither is so.", "Nobody came.", "It is without end.", "It fails to work.", "It lacks a leaf.",
    "Ce n'est pas lui.", "Ce n’est rien.", "Il ne vient jamais.", "Aucun ne vient.", "Sans fin.",
]  # fmt: skip


@pytest.mark.parametrize("text", DENIALS)
def test_denials(text: str) -> None:
    assert Facts(text).denies


@pytest.mark.parametrize(
    "text", ["It is notable.", "They know.", "A novel idea.", "An annex.", "Une aune.", "Nones."]
)
def test_words_that_only_look_like_denials(text: str) -> None:
    assert not Facts(text).denies


@pytest.mark.parametrize("pair", ["rise/fall", "before/after", "buyer/seller", "hausse/baisse"])
def test_an_opposite_contradicts_both_ways(pair: str) -> None:
    one, other = (Facts(f"So the {word} it was.") for word in pair.split("/"))
    assert contradicts(one, other)
    assert contradicts(other, one)
    assert not contradicts(one, one)
    both = Facts(f"So the {pair.replace('/', ' and the ')} it was.")
    assert not contradicts(both, both)


def test_what_says_nothing_has_no_facts() -> None:
    for text in ("", "…", "\x00", "😀"):
        facts = Facts(text)
        assert (facts.quantities, facts.names, facts.denies, facts.relation) == (
            (), frozenset(), False, None,
        )  # fmt: skip
        assert not contradicts(facts, facts)


def test_the_start_of_a_sentence_is_no_name_nor_are_months() -> None:
    assert names("Herons fish. In May and June they nest.") == frozenset()
    assert names("So Élodie met Leibniz; they wrote in LaTeX.") == {"elodie", "leibniz", "latex"}


SWAPPED = [
    ("Inflation causes unemployment in the long run.",
     "Unemployment causes inflation in the long run."),
    ("Athens defeated Sparta in the long war.", "Sparta defeated Athens in the long war."),
    ("Gold is heavier than lead in this table.", "Lead is heavier than gold in this table."),
    ("Gold is heavier than lead.", "Lead is heavier than gold."),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "proof"), SWAPPED)
def test_sides_changed_over_contradict_whatever_else_is_said(claim: str, proof: str) -> None:
    assert contradicts(Facts(claim), Facts(proof))


def test_a_passive_says_the_same() -> None:
    assert not contradicts(
        Facts("Sparta was defeated by Athens."), Facts("Athens defeated Sparta.")
    )


@pytest.mark.parametrize(
    ("claim", "proof"),
    [("The firm rarely makes a profit.", "The firm makes a profit."),
     ("It is insoluble in water.", "It is soluble in water."),
     ("It is impossible when cold.", "It is possible when cold."),
     ("All of the swans are white.", "Some of the swans are white.")],
)  # fmt: skip
def test_other_words_that_deny_contradict(claim: str, proof: str) -> None:
    assert contradicts(Facts(claim), Facts(proof))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5%-10%", ["5", "10"]), ("a loss of -$5", ["-5"]), ("1.000.000", ["1000000"]),
        ("twenty-five", ["25"]), ("one hundred", ["100"]), ("1\u202f500 people", ["1500"]),
        ("1,2,3", ["1", "2", "3"]), ("½", ["0.5"]), ("16½ miles", ["16.5"]),
    ],
)  # fmt: skip
def test_numbers_that_are_misread(text: str, values: list[str]) -> None:
    assert [quantity.value for quantity in quantities(text)] == values


@pytest.mark.parametrize("unit", ["miles", "feet", "inches", "tons", "gallons", "litres", "joules"])
def test_common_units_differ(unit: str) -> None:
    assert numbers_missing(Facts("It is 5 meters."), Facts(f"It is 5 {unit}."))


@pytest.mark.parametrize(
    ("claim", "proof"),
    [
        (
            "He found the curves by fixing his plane and cutting different cones.",
            "He found the curves, not by taking planes of one cone, but by fixing his plane and "
            "cutting different cones.",
        ),
        (
            "The machine could do arithmetic, and print the results.",
            "The machine could not\nonly do arithmetic, but could print the results.",
        ),
    ],
)
def test_what_is_said_beside_a_denial_is_no_contradiction(claim: str, proof: str) -> None:
    assert not contradicts(Facts(claim), Facts(proof))


@pytest.mark.parametrize(
    ("claim", "proof"),
    [
        ("Wages rise.", "Prices rise, but wages do not rise."),
        ("Owls hunt by day.", "Owls hunt at night, not by day."),
    ],
)
def test_what_is_denied_in_a_clause_is_contradicted(claim: str, proof: str) -> None:
    assert contradicts(Facts(claim), Facts(proof))
