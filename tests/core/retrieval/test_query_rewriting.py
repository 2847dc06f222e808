from __future__ import annotations

import pytest

from desktop.core.records import Turn
from desktop.core.retrieval.query_rewriting import leans_on_before, standalone

LEANING = [
    "And why?", "Why?", "why is that", "How so?", "What about it?", "And then?", "So what?",
    "Explain it", "Tell me more", "Tell me more about it", "Give an example", "Another example?",
    "Is it dangerous?", "Does it always work?", "When did he die?", "What did she discover?",
    "How are they measured?", "And the second one?", "But is that true?", "What is its mass?",
    "Who wrote this?", "And what happens to the price then?", "Are those the same?",
    "Did their army win?", "What does this mean for the economy of Rome?",
    "Or in France?", "Yes", "no, the other",
    "Et pourquoi ?", "Pourquoi ?", "Et alors ?", "Comment ça ?", "Quelle est leur masse ?",
    "Est-ce que cela marche toujours ?", "Qui est-il ?", "Et en France ?", "Quand est-elle morte ?",
    "Comment il se mesure ?", "Mais pourquoi cette erreur ?",
]  # fmt: skip
ALONE = [
    "How does the price elasticity of demand depend on substitutes?",
    "Who discovered the structure of DNA in 1953?",
    "What causes inflation in an open economy?",
    "Define comparative advantage with numbers from the table",
    "Which enzymes unwind the double helix during replication?",
    "List the stages of mitosis in order",
    "Why did the Roman republic fall after Caesar crossed the Rubicon?",
    "Qu'est-ce que l'intrication quantique entre deux qubits ?",
    "Qu’est-ce qui limite la cohérence des qubits supraconducteurs ?",
    "Est-ce que la téléportation quantique viole la relativité ?",
    "Quel rôle joue l'intrication en informatique quantique ?",
    "Comment fonctionne l'algorithme de Shor ?",
    "Pourquoi la mesure détruit la superposition quantique ?",
    "Quelle porte logique quantique crée une superposition uniforme ?",
]


@pytest.mark.parametrize("question", LEANING)
def test_leaning_questions(question: str) -> None:
    assert leans_on_before(question)


@pytest.mark.parametrize("question", ALONE)
def test_questions_that_stand_alone(question: str) -> None:
    assert not leans_on_before(question)


def test_a_definition_stands_alone_and_a_bare_word_does_not() -> None:
    assert not leans_on_before("What is inflation?")
    assert not leans_on_before("What is opportunity cost?")
    assert not leans_on_before("What is the enzyme that unwinds the helix?")
    assert leans_on_before("Inflation?")
    assert leans_on_before("Why Germany?")


@pytest.mark.parametrize("question", ["", "?", "  ", "…!"])
def test_no_words_lean_on_nothing(question: str) -> None:
    assert not leans_on_before(question)


def turns(*questions: str) -> list[Turn]:
    return [Turn(question, "an answer") for question in questions]


def test_the_question_before_leads_a_leaning_one() -> None:
    history = turns("Who was Julius Caesar the dictator?", "What is opportunity cost in economics?")
    assert standalone("And why?", history) == "What is opportunity cost in economics? And why?"


def test_a_chain_goes_back_to_one_that_stands_alone() -> None:
    history = turns(
        "Where do herons build their nests?", "What causes inflation in economies?", "Why?"
    )
    assert standalone("And then?", history) == "What causes inflation in economies? Why? And then?"


def test_a_question_that_stands_alone_is_left_as_it_is() -> None:
    question = "What is opportunity cost in economics?"
    assert standalone(question, turns("Who was Caesar?")) == question
    assert standalone("Why?", []) == "Why?"
