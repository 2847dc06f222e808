"""Asking questions with known answers, by whatever finds and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.evaluation import scoring
from desktop.core.evaluation.figures import DEPTHS, Outcome
from desktop.core.progress import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.answering.request import Draft
    from desktop.core.evaluation.questions import Question
    from desktop.core.records import Answer, Hit, Progress

DEEPEST = max(DEPTHS)


@dataclass(frozen=True)
class Asked:
    """What came of asking a question.

    Attributes:
        answer: The answer given.
        drafts: What the model wrote in each round.
        rounds: The answer of each round.
    """

    answer: Answer
    drafts: tuple[Draft, ...] = ()
    rounds: tuple[Answer, ...] = ()


def evaluate(
    questions: Sequence[Question],
    *,
    find: Callable[[str, int], Sequence[Hit]],
    ask: Callable[[str], Asked] | None = None,
    progress: Callable[[Progress], None] = lambda _progress: None,
) -> list[Outcome]:
    """Return what comes of each question.

    Args:
        questions: What to ask.
        find: Returns so many passages for a question, best first.
        ask: Answers a question; None measures finding only.
        progress: Told how many are done.
    """
    pace = Pace(progress, "asking", total=len(questions), unit="questions")
    outcomes = []
    for question in questions:
        pages = tuple(hit.passage.page for hit in find(question.question, DEEPEST))
        outcomes.append(_outcome(question, pages, ask(question.question) if ask else None))
        pace.more(1)
    return outcomes


def _outcome(question: Question, pages: tuple[int, ...], asked: Asked | None) -> Outcome:
    if asked is None:
        return Outcome(question, pages)
    return Outcome(
        question,
        pages,
        asked.answer,
        scoring.correct(asked.answer.answer, question.must),
        asked.rounds[0] if asked.rounds[1:] else None,
        asked.drafts,
    )
