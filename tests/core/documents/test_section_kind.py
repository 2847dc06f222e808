from __future__ import annotations

import pytest

from desktop.core.documents import section_kind

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
    assert section_kind.marks(section, TEXT).side


@pytest.mark.parametrize(
    "section",
    ["", "1 Welcome › 1.1 Scarcity", "The Problem of Evil", "Indexing in databases", "Contentment",
     "22.1 Inflation › Index Numbers", "Key Terms", "The Question Concerning Technology"],
)  # fmt: skip
def test_sections_that_teach(section: str) -> None:
    assert not section_kind.marks(section, TEXT).side


def test_a_passage_of_questions_is_an_exercise_wherever_it_stands() -> None:
    asks = "1. What is scarcity? 2. Can you think of two causes of it? 3. Name a third one please."
    assert section_kind.marks("1.1 Scarcity", asks).side
    assert not section_kind.marks("1.1 Scarcity", f"{TEXT} Why is that so, one may ask?").side


@pytest.mark.parametrize("text", ["Figure 3.2 Supply", "Fig. 4: A heron", "FIGURE 7\nA heron"])
def test_captions_of_figures(text: str) -> None:
    assert section_kind.marks("", f"Before.\n{text}").figure


@pytest.mark.parametrize("text", ["Figure 3.2 shows that", "see Figure 3", "Figures of speech"])
def test_talk_of_figures_is_no_caption(text: str) -> None:
    assert not section_kind.marks("", text).figure


def test_tables_and_definitions() -> None:
    assert section_kind.marks("", "Table 2.1 Wages by trade").table
    assert not section_kind.marks("", "table that shows the wages").table
    assert section_kind.marks("", "A good that is used up is called a consumable.").definition
    assert section_kind.marks("2 Choice › Key Terms", "budget what one has").definition
    assert not section_kind.marks("", TEXT).definition
