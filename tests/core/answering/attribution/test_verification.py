from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering.attribution import abstention
from desktop.core.answering.attribution.abstention import Calibration, signs
from desktop.core.answering.attribution.citations import prove
from desktop.core.answering.attribution.verification import no_evidence_answer, verify
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.context import Source
from desktop.core.answering.request import Draft, Request
from desktop.core.records import LeftOut, Limit, Mode, Timings
from desktop.core.retrieval.results import RetrievalResult
from tests.core import makers

if TYPE_CHECKING:
    from desktop.core.records import Answer

BOOK = makers.book_id("a")
TRUE = "The grey heron is a wading bird of the marshes."
FALSE = "Herons were invented by Napoleon during a banquet."
REFUSAL = prompts.load().refusal
LIMITS = (Limit("section", "Chapter 1"),)
FIRST = Source(BOOK, "Birds", 3, "p3", "1 Herons", 40, f"{TRUE} It fishes at dawn.", 0.9, 12)
SECOND = Source(BOOK, "Birds", 2, "p2", "", 0, "Inflation is a rise of prices.", 0.4, 6)
HITS = (makers.hit(replace(makers.passage(BOOK, 3, FIRST.text), section="1 Herons")),)
REQUEST = Request(
    "What is the grey heron?",
    Mode.RETRIEVAL,
    RetrievalResult("q", HITS, ((BOOK, "Birds"),), limits=LIMITS),
)


def draft(text: str, **more: Any) -> Draft:
    # In the order of reading, the best one last.
    return replace(Draft(text, "small", (SECOND, FIRST), Timings(ttft_s=1.5)), **more)


def judged(text: str, request: Request = REQUEST, **more: Any) -> Answer:
    return verify(request, draft(text, **more), embedder="fake@1")


def calibrate(monkeypatch: pytest.MonkeyPatch, *, answers: bool) -> None:
    made = Calibration({}, bias=9.0 if answers else -9.0)
    monkeypatch.setattr(abstention, "load", lambda _embedder, _model: made)


def test_a_proved_answer_is_given_with_all_that_is_known_of_it() -> None:
    left_out = (LeftOut(BOOK, (7, 9), 900),)
    answer = judged(TRUE, notes=("Read 2 of 9 pages",), left_out=left_out)
    assert answer.answer == "The grey heron is a wading bird of the marshes [1]."
    assert (answer.abstained, answer.unsupported, answer.rounds) == (False, (), 1)
    assert (answer.question, answer.mode, answer.model) == (
        REQUEST.question,
        Mode.RETRIEVAL,
        "small",
    )
    assert (answer.limits, answer.left_out, answer.timings.ttft_s) == (LIMITS, left_out, 1.5)
    assert answer.notes == ("Read 2 of 9 pages",)
    assert [(item.page, item.section) for item in answer.context] == [(3, "1 Herons"), (2, "")]
    (citation,) = answer.citations
    assert (citation.page, citation.start, citation.end) == (3, 40, 40 + len(TRUE))


def test_the_quotation_goes_before_the_answer() -> None:
    answer = judged(f"> It fishes at dawn.\n\n{TRUE}")
    assert answer.answer.startswith("> It fishes at dawn [1].\n\nThe grey heron")
    assert len(answer.citations) == 2


def test_what_is_not_proved_is_told_and_kept() -> None:
    answer = judged(f"{TRUE} {FALSE}")
    assert answer.unsupported == (FALSE,)
    assert answer.notes == (f"1 of 2 sentences was not found in the book: {FALSE}",)
    both = judged(f"{TRUE} {FALSE} Nobody saw Napoleon eat it.")
    assert both.notes[0].startswith("2 of 3 sentences were not found in the book: ")


@pytest.mark.parametrize(
    "text", [REFUSAL, f"{REFUSAL} Maybe Napoleon did.", f"> {TRUE}\n\n{REFUSAL}", f"> {REFUSAL}"]
)
def test_a_refusal_is_one_sentence_without_citations(text: str) -> None:
    answer = judged(text, notes=("a note",))
    assert (answer.answer, answer.abstained, answer.citations) == (REFUSAL, True, ())
    assert answer.notes == ("a note",)
    assert answer.limits == LIMITS
    assert [item.page for item in answer.context] == [3, 2]
    assert not answer.confidence  # there is nothing to weigh


def test_the_calibration_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    calibrate(monkeypatch, answers=False)
    answer = judged(f"{TRUE} [4]")
    assert (answer.answer, answer.abstained, answer.citations) == (REFUSAL, True, ())
    assert f"{TRUE} [4]" in answer.notes[-1]
    calibrate(monkeypatch, answers=True)
    assert not judged(TRUE).abstained
    assert judged(FALSE).abstained  # nothing of it is founded


def test_what_is_quoted_founds_an_answer() -> None:
    assert judged(FALSE).confidence["founded"] == 0
    assert judged(f"> {TRUE}\n\n{FALSE}").confidence["founded"] == 1


def test_it_is_that_of_the_embedder_and_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load(embedder: str, model: str) -> Calibration:
        asked.append((embedder, model))
        return Calibration({}, bias=9.0)

    monkeypatch.setattr(abstention, "load", load)
    judged(TRUE)
    assert asked == [("fake@1", "small")]


def test_a_stopped_text_is_kept_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    calibrate(monkeypatch, answers=False)
    for text in (FALSE, TRUE, REFUSAL):
        answer = judged(text, stopped=True)
        assert answer.stopped
        assert not answer.abstained
        assert answer.answer.startswith(text[:-1])


def test_what_was_made_of_many_pages_is_marked_not_withheld(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calibrate(monkeypatch, answers=False)
    request = replace(REQUEST, mode=Mode.LONG_CONTEXT)
    answer = judged(FALSE, request)
    assert (answer.abstained, answer.answer, answer.citations) == (False, FALSE, ())
    assert answer.unsupported == (FALSE,)
    assert "not found in the book" in answer.notes[-1]
    assert judged(REFUSAL, request).abstained


def test_nothing_read_proves_nothing() -> None:
    answer = judged(TRUE, sources=())
    assert (answer.abstained, answer.context, answer.citations) == (True, (), ())


@pytest.mark.parametrize("text", ["", " ", "…", "> ", ">", "[1]", "```\n```", "\x00"])
def test_a_text_that_says_nothing_is_withheld(text: str) -> None:
    answer = judged(text)
    assert (answer.abstained, answer.answer) == (True, REFUSAL)


def test_signs_lie_between_nothing_and_one() -> None:
    full = signs(REQUEST, draft(TRUE), prove(TRUE, "", [FIRST]))
    assert full["proved"] == full["asked"] == full["pairs"] == full["certain"] == 1.0
    assert full["founded"] == 1.0
    none = replace(REQUEST, question="So what does Darwin say of owls in Peru?")
    low = signs(none, draft(FALSE, certainty=-2.0), prove(FALSE, "", [FIRST]))
    assert (
        low["founded"]
        == low["proved"]
        == low["covered"]
        == low["asked"]
        == low["named"]
        == low["similar"]
        == 0.0
    )
    assert 0 < low["certain"] < 0.2
    for values in (full, low):
        assert values.pop("self_evaluation") == 0.0
        assert all(0 <= value <= 1 for value in values.values()), values


@pytest.mark.parametrize("said", [-1.5, 0.4])
def test_what_the_model_says_of_the_passages_is_a_sign(said: float) -> None:
    values = signs(REQUEST, draft(TRUE, self_evaluation=said), prove(TRUE, "", [FIRST]))
    assert values["self_evaluation"] == said


def test_names_in_headings_and_titles_are_known() -> None:
    asked = replace(REQUEST, question="What does Darwin say of it in Peru?")
    read = draft(TRUE, sources=(replace(FIRST, section="Darwin", title="Peru"),))
    assert signs(asked, read, prove(TRUE, "", [FIRST]))["named"] == 1.0
    assert signs(asked, draft(TRUE), prove(TRUE, "", [FIRST]))["named"] == 0.0


def test_nothing_to_read_says_why() -> None:
    found = replace(REQUEST.found, absent=("Darwin", "Wallace"), retrieve_s=0.12345)
    answer = no_evidence_answer("q", Mode.RETRIEVAL, "small", found)
    assert (answer.answer, answer.abstained, answer.limits) == (REFUSAL, True, LIMITS)
    assert answer.notes == ("“Darwin”, “Wallace” does not occur in the book",)
    assert [item.page for item in answer.context] == [3]
    assert (answer.timings.retrieve_s, answer.timings.generated_tokens) == (0.123, 0)
    none = no_evidence_answer("q", Mode.RETRIEVAL, "", RetrievalResult("q"))
    assert none.notes == ("No passage was found that has to do with the question",)
    assert none.context == ()
