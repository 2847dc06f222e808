from __future__ import annotations

import pytest

from desktop.core.retrieval import late_interaction
from tests.core import makers
from tests.fakes import FakeEmbedder

BOOK = makers.book_id("a")
QUESTION = "heron in water"


def look(*texts: str, section: str = "") -> list[float]:
    passages = [makers.passage(BOOK, 1, text, section=section) for text in texts]
    return late_interaction.scores(FakeEmbedder(), QUESTION, passages)


def test_a_passage_that_speaks_of_each_word_fits_best() -> None:
    every, one, none = look(
        "In deep water stands a heron", "A heron, a heron and a heron", "Kingfishers dive"
    )
    assert every == pytest.approx(1.0, abs=0.01)
    assert every > one > none


def test_what_stands_in_the_title_of_the_section_counts_a_little_less() -> None:
    (here,) = look("Water in which a heron stands")
    (titled,) = look("Water in which it stands", section="1 The heron")
    (bare,) = look("Water in which it stands")
    assert bare < titled < here
    assert titled == pytest.approx((1 + 0.1 + late_interaction.SECTION) / 2.1, abs=0.01)


def test_every_batch_is_looked_at_while_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Heron {number}" for number in range(2 * late_interaction.BATCH + 1)]
    assert len(look(*texts)) == len(texts)
    monkeypatch.setattr(late_interaction, "MOST_S", -1.0)
    assert look(*texts) == []


@pytest.mark.parametrize("question", ["", "?!"])
def test_a_question_without_words_is_not_looked_at(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "QUESTION", question)
    assert look("A heron") == []


def test_a_passage_without_words_fits_least() -> None:
    heron, dots = look("A heron", "...")
    assert heron > 0 > dots
