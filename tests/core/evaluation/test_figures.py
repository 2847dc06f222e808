from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from desktop.core.evaluation.figures import Outcome, by_type, percentile, summarise
from desktop.core.evaluation.questions import Question
from desktop.core.evaluation.run import Asked, evaluate
from desktop.core.records import Answer, Citation, Mode, Timings, Verdict
from tests.core import makers

BOOK = makers.book_id("a")
KNOWN = Question("1", "Why?", pages=(7,), alt_pages=(9,), exclude_pages=(8,), must=(("blue",),))
UNKNOWN = Question("2", "Who?", type="unanswerable")


def answer(text: str = "It is blue.", *pages: int, abstained: bool = False, **more: Any) -> Answer:
    cited = tuple(
        Citation(n, BOOK, "A", page, "", "q", 0, 1, Verdict.SUPPORTED, 1.0)
        for n, page in enumerate(pages, 1)
    )
    timings = Timings(ttft_s=2.0, total_s=3.0, generated_tokens=5)
    base = Answer("q", Mode.RETRIEVAL, "m", text, abstained, cited, (), timings)
    return replace(base, **more)


def test_finding() -> None:
    outcomes = [Outcome(KNOWN, (1, 2, 7)), Outcome(KNOWN, (9,)), Outcome(KNOWN, (8, 1)),
                Outcome(UNKNOWN, (1,))]  # fmt: skip
    figures = summarise(outcomes)
    assert figures["n"] == 4
    assert figures["page_hit@1"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["page_hit@5"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["mrr"] == pytest.approx((1 / 3 + 1 + 0) / 3, abs=1e-4)
    assert "answer_correct" not in figures


def test_answering() -> None:
    outcomes = [
        Outcome(KNOWN, (7,), answer("Blue.", 7, 3), correct=True),
        Outcome(KNOWN, (7,), answer("Blue.", 3), correct=True),
        Outcome(KNOWN, (7,), answer("Red."), correct=False),
        Outcome(KNOWN, (7,), answer("no", abstained=True), correct=False),
        Outcome(UNKNOWN, (), answer("Napoleon.", 3)),
        Outcome(UNKNOWN, (), answer("no", abstained=True)),
    ]
    figures = summarise(outcomes)
    assert figures["answer_correct"] == 0.5
    assert figures["citation_precision"] == 1.0
    assert figures["citation_on_gold_page"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["citation_recall"] == 0.5
    assert figures["false_answer_rate"] == 0.5
    assert figures["false_refusal_rate"] == 0.25
    assert (figures["ttft_s_p50"], figures["total_s_p50"]) == (2.0, 3.0)
    assert set(by_type(outcomes)) == {"fact", "unanswerable"}


def test_nothing_counted_is_none() -> None:
    assert summarise([])["page_hit@1"] is None
    assert percentile([], 50) is None
    assert [percentile([3, 1, 2], p) for p in (1, 50, 95, 100)] == [1, 2, 3, 3]


def test_each_question_is_asked_and_scored() -> None:
    hit = makers.hit(makers.passage(BOOK, 7, "x"))
    outcomes = evaluate(
        [KNOWN, UNKNOWN],
        find=lambda _question, limit: [hit] * min(limit, 3),
        ask=lambda question: Asked(answer(f"{question} blue", 7)),
    )
    assert [outcome.correct for outcome in outcomes] == [True, None]
    assert outcomes[0].rank == 1
    row = outcomes[0].row()
    assert (row["correct"], row["citations"][0]["gold"]) == (True, True)
