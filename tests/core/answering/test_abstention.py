from __future__ import annotations

import pytest

from desktop.core.answering.abstention import refuses, unproved
from desktop.core.answering.citations import Proved

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


def test_an_answer_without_proof() -> None:
    assert unproved(Proved("x", (), ("x",), 1))
