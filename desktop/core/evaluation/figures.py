"""Figures over the outcomes of many questions."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from desktop.core.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from desktop.core.answering.request import Draft
    from desktop.core.evaluation.questions import Question
    from desktop.core.records import Answer

T = TypeVar("T")

DEPTHS = (1, 5, 10, 50)
"""Ranks up to which a gold page is looked for."""


@dataclass(frozen=True)
class Outcome:
    """What came of one question.

    Attributes:
        pages: Pages of the passages found, best first.
        answer: None where only finding was measured.
        correct: None where it is not judged.
        first: The answer of the first round, where there were more; it may have been kept.
        drafts: What the model wrote in each round, before it was judged.
    """

    question: Question
    pages: tuple[int, ...]
    answer: Answer | None = None
    correct: bool | None = None
    first: Answer | None = None
    drafts: tuple[Draft, ...] = ()

    @property
    def rank(self) -> int | None:
        """Rank of the first passage on a gold page; None where none was found."""
        return next((n for n, p in enumerate(self.pages, 1) if self.question.on_gold(p)), None)

    @property
    def cites_gold(self) -> bool:
        """Whether a citation is on a gold page."""
        assert self.answer is not None
        return any(self.question.on_gold(c.page) for c in self.answer.citations)

    def row(self) -> dict[str, Any]:
        """Return it as a row of the report."""
        question = self.question
        row: dict[str, Any] = {
            "id": question.id,
            "type": question.type,
            "question": question.question,
            "rank": self.rank,
            "pages_found": list(self.pages[: DEPTHS[1]]),
        }
        if self.answer is not None:
            answer = self.answer
            row |= {
                "correct": self.correct,
                "abstained": answer.abstained,
                "answer": answer.answer,
                "notes": list(answer.notes),
                "signs": answer.confidence,
                "citations": [
                    {"page": c.page, "verdict": c.verdict, "gold": question.on_gold(c.page)}
                    for c in answer.citations
                ],
                "rounds": answer.rounds,
                "first_round": None if self.first is None else self.first.answer,
                "drafts": [{"text": d.text, "certainty": d.certainty} for d in self.drafts],
                "ttft_s": answer.timings.ttft_s,
                "total_s": answer.timings.total_s,
            }
        return row


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures; None where nothing was there to count.

    `page_hit@k`, `mrr` and `false_refusal_rate` are over answerable questions, `answer_correct`
    and `citation_recall` over those that are judged, `citation_precision` over the citations
    shown with answers to answerable questions.
    """
    answerable = [o for o in outcomes if o.question.answerable]
    figures: dict[str, Any] = {"n": len(outcomes)}
    for depth in DEPTHS:
        ranks = [outcome.rank or math.inf for outcome in answerable]
        figures[f"page_hit@{depth}"] = _mean([float(rank <= depth) for rank in ranks])
    figures["mrr"] = _mean([1 / o.rank if o.rank else 0.0 for o in answerable])
    answered = [o for o in outcomes if o.answer is not None]
    if answered:
        figures |= _of_answers(answered)
    return figures


def _of_answers(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    answers = [(o, o.answer) for o in outcomes if o.answer is not None]
    cited = [(o.question, c) for o, a in answers if o.question.answerable for c in a.citations]
    proved = (Verdict.VERBATIM, Verdict.SUPPORTED)
    right = [o for o in outcomes if o.correct]
    written = [a for _, a in answers if a.timings.generated_tokens]
    first = [a.timings.ttft_s for a in written]
    return {
        "answer_correct": _share([o for o in outcomes if o.correct is not None], _correct),
        "citation_precision": _share(
            cited, lambda pair: pair[0].on_gold(pair[1].page) or pair[1].verdict in proved
        ),
        "citation_on_gold_page": _share(cited, lambda pair: pair[0].on_gold(pair[1].page)),
        "citation_recall": _share(right, lambda o: o.cites_gold),
        "false_answer_rate": _share(
            [a for o, a in answers if not o.question.answerable], lambda a: not a.abstained
        ),
        "false_refusal_rate": _share(
            [a for o, a in answers if o.question.answerable], lambda a: a.abstained
        ),
        "ttft_s_p50": percentile(first, 50),
        "ttft_s_p95": percentile(first, 95),
        "total_s_p50": percentile([a.timings.total_s for a in written], 50),
    }


def by_type(outcomes: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
    """Return the figures of each type of question."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.question.type].append(outcome)
    return {kind: summarise(group) for kind, group in sorted(groups.items())}


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the nearest-rank percentile; None of nothing."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def _correct(outcome: Outcome) -> bool:
    return bool(outcome.correct)


def _share(items: Sequence[T], holds: Callable[[T], bool]) -> float | None:
    return _mean([float(holds(item)) for item in items])


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
