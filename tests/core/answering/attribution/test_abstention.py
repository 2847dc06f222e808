from __future__ import annotations

import pytest

from desktop.core.answering.attribution.abstention import Calibration, load, refuses

REFUSAL = "The book does not say."


@pytest.mark.parametrize(
    "answer",
    [
        "The book does not say.",
        "the book DOES NOT say",
        "  The book does not say who built it.",
        "I am sorry. The book does not say.",
        "The passages do not contain the answer to this question.",
        "The provided text doesn't mention the capital of France.",
        "The text does not provide information about this.",
        "There is no information about that in the book.",
        "There is no mention of whales.",
        "It does not say.",
        "It is not known: the book does not state it.",
        "Le livre ne le dit pas.",
        "Les passages fournis ne contiennent rien à ce sujet.",
    ],
)
def test_refusals(answer: str) -> None:
    assert refuses(answer, REFUSAL)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The heron is a bird.",
        "Herons do not say much, but they mention their nests.",
        "It does not contain chlorophyll, so it can't make sugar.",
        "It does not provide energy to the cell.",
        "There is no nucleus in a bacterium, and its DNA lies free.",
        "Prices rose. The book by Smith, which the Crown did not like, says so.",
        f"{'The heron fishes at dawn. ' * 12} The book does not say more.",
    ],
)
def test_answers(answer: str) -> None:
    assert not refuses(answer, REFUSAL)


def test_what_is_not_founded_is_never_given() -> None:
    sure = Calibration({"similar": 9.0}, bias=9.0)
    assert not sure.answers({"similar": 1.0, "founded": 0.0})
    assert sure.answers({"similar": 1.0, "founded": 1.0})


def test_of_a_strange_model_only_what_is_founded_is_given() -> None:
    general = load("strange@9", "strange-model")
    asked = {"similar": 0.6, "asked": 0.6, "pairs": 0.2, "named": 1.0}
    assert general.answers(asked | {"founded": 1.0, "proved": 1.0, "covered": 0.8})
    assert not general.answers({"similar": 0.4, "asked": 0.4, "named": 1.0})


def test_the_signs_are_weighed() -> None:
    fitted = Calibration({"similar": 4.0, "asked": 2.0}, bias=-3.0, threshold=0.5)
    assert fitted.probability({"similar": 0.5, "asked": 0.5}) == pytest.approx(0.5)
    assert fitted.answers({"similar": 0.9, "asked": 0.5, "founded": 1.0})
    assert not fitted.answers({"similar": 0.1, "asked": 0.5, "founded": 1.0})


def test_every_embedder_and_model_has_a_calibration() -> None:
    own = load("all-MiniLM-L6-v2@1", "qwen2.5-coder-1.5b-instruct")
    general = load("strange@9", "strange-model")
    for one in (own, general):
        assert set(one.weights)
        assert 0 <= one.threshold < 1
