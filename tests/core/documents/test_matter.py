from __future__ import annotations

import pytest

from desktop.core.documents import matter

TEXT = "Scarcity means that wants exceed what is there. Nobody can have it all."


@pytest.mark.parametrize(
    "section",
    [
        "1 Welcome › Self-Check Questions", "Answer Key › Chapter 4", "References", "Index",
        "Index of names", "Subject Index", "Bibliographie", "Exercices",
        "Contents", "Chapter 3 Problems", "Lösungen",
    ],
)  # fmt: skip
def test_sections_that_only_ask_list_or_point(section: str) -> None:
    assert matter.marks(section, TEXT).side


@pytest.mark.parametrize(
    "section",
    ["", "1 Welcome › 1.1 Scarcity", "The Problem of Evil", "Indexing in databases", "Contentment",
     "22.1 Inflation › Index Numbers", "Key Terms", "The Question Concerning Technology"],
)  # fmt: skip
def test_sections_that_teach(section: str) -> None:
    assert not matter.marks(section, TEXT).side


def test_a_passage_of_questions_is_an_exercise_wherever_it_stands() -> None:
    asks = "1. What is scarcity? 2. Can you think of two causes of it? 3. Name a third one please."
    assert matter.marks("1.1 Scarcity", asks).side
    assert not matter.marks("1.1 Scarcity", f"{TEXT} Why is that so, one may ask?").side


@pytest.mark.parametrize("text", ["Figure 3.2 Supply", "Fig. 4: A heron", "FIGURE 7\nA heron"])
def test_captions_of_figures(text: str) -> None:
    assert matter.marks("", f"Before.\n{text}").figure


@pytest.mark.parametrize("text", ["Figure 3.2 shows that", "see Figure 3", "Figures of speech"])
def test_talk_of_figures_is_no_caption(text: str) -> None:
    assert not matter.marks("", text).figure


def test_tables_and_definitions() -> None:
    assert matter.marks("", "Table 2.1 Wages by trade").table
    assert not matter.marks("", "table that shows the wages").table
    assert matter.marks("", "A good that is used up is called a consumable.").definition
    assert matter.marks("2 Choice › Key Terms", "budget what one has").definition
    assert not matter.marks("", TEXT).definition
