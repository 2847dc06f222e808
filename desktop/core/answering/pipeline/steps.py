"""The pipeline from a question to its answer, whoever executes its steps.

A generator yields the step that is to be done next and is sent its result: the command line
executes each step on the spot, the window hands it to the worker that can. So there is one
strategy.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from desktop.core.answering.attribution.verification import no_evidence_answer
from desktop.core.answering.pipeline.listing_answer import listing_answer

# decode() reads the hints.
from desktop.core.answering.request import Draft, Request
from desktop.core.errors import CancelledError
from desktop.core.library.search_filter import EVERYWHERE, SearchFilter
from desktop.core.records import Answer, Mode, Turn
from desktop.core.retrieval import query_parsing
from desktop.core.retrieval.plan import KEYS
from desktop.core.retrieval.results import RetrievalResult

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@dataclass(frozen=True)
class Question:
    """What the user asked, and how.

    Attributes:
        where: The part of the library that they chose.
        without: Keys of the question's own limits that they took away.
        model: Name of the model; None for the default.
        history: Earlier turns, oldest first.
        fresh: Use nothing that was read before.
        attempt: 0 at first; a higher number gives another wording.
        map_reduce: In long context, read the whole part a few pages at a time, taking notes.
    """

    text: str
    mode: Mode
    where: SearchFilter = EVERYWHERE
    without: tuple[str, ...] = ()
    model: str | None = None
    history: tuple[Turn, ...] = ()
    fresh: bool = False
    attempt: int = 0
    map_reduce: bool = False


@dataclass(frozen=True)
class Retrieve:
    """Find passages, other than those with ids in `skip`; gives `Findings`.

    `reply` is what the model said of where to look, see `query_parsing.from_model`; "" is nothing.
    """

    question: str
    where: SearchFilter = EVERYWHERE
    without: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    skip: tuple[str, ...] = ()
    reply: str = ""


@dataclass(frozen=True)
class ParseQuery:
    """Ask the model what a question says of where to look; gives its reply, a text."""

    question: str
    model: str | None = None


@dataclass(frozen=True)
class Generate:
    """Let the model write; gives a `Draft`."""

    request: Request


@dataclass(frozen=True)
class Verify:
    """Prove what was written; gives an `Answer`."""

    request: Request
    draft: Draft


Step = Retrieve | ParseQuery | Generate | Verify


@dataclass(frozen=True)
class Route:
    """Where a step is carried out, for who hands it to a worker.

    Attributes:
        worker: "librarian" or "answerer".
        record: Class of the result.
        stage: What the user is told meanwhile.
    """

    worker: str
    verb: str
    record: type[Any]
    stage: str


ROUTES: dict[type[Step], Route] = {
    Retrieve: Route("librarian", "retrieve", RetrievalResult, "finding"),
    ParseQuery: Route("answerer", "parse_query", str, "finding"),
    Generate: Route("answerer", "generate", Draft, "waiting"),
    Verify: Route("librarian", "verify", Answer, "checking"),
}
SURE = 0.85
"""An answer of which the proofs cover at least so much is not written a second time. Of 41
questions of the test books 27 were right from the first order of the passages, 27 from the second,
and 31 where the better proved of both was given, which half of them needed."""


def answer_pipeline(asked: Question) -> Generator[Step, Any, Answer]:
    """Yield the steps that answer a question; return the answer.

    Where a step is stopped, CancelledError is thrown in: it comes out again while nothing is
    proved yet, and ends the further rounds after that.
    """
    first = Retrieve(asked.text, asked.where, asked.without, asked.history)
    found = yield first
    if query_parsing.suspects(asked.text) and not (found.limits or found.listing or asked.without):
        reply = yield ParseQuery(asked.text, asked.model)
        found = yield replace(first, reply=reply)
    if found.listing:
        return listing_answer(asked.text, asked.mode, found)
    if found.absent or (asked.mode is not Mode.LONG_CONTEXT and not found.hits):
        return no_evidence_answer(asked.text, asked.mode, asked.model or "", found)
    request = Request(
        question=asked.text,
        mode=asked.mode,
        found=found,
        model=asked.model,
        history=asked.history,
        fresh=asked.fresh,
        attempt=asked.attempt,
        map_reduce=asked.map_reduce,
    )
    draft = yield Generate(request)
    answer: Answer = yield Verify(request, draft)
    if asked.mode is Mode.LONG_CONTEXT and not asked.map_reduce:
        return answer
    if asked.map_reduce:
        request = replace(request, fresh=False)  # the notes that it was to take are taken
    arranged = asked.map_reduce or any(hit.found for hit in found.hits)
    with suppress(CancelledError):  # the user is content with what is there
        if arranged and not _is_sure(answer):
            answer = yield from _better(answer, replace(request, reordered=True))
        if not _holds(answer):
            again = yield Retrieve(
                _learnt(asked.text, answer),
                found.where,
                KEYS,
                asked.history,
                skip=tuple(hit.passage.id for hit in found.hits),
            )
            if again.hits:
                answer = yield from _better(answer, replace(request, found=_joined(found, again)))
    return answer


def _better(answer: Answer, request: Request) -> Generator[Step, Any, Answer]:
    """Have another answer written; return the one that is better borne out, with the time of both.

    What was waited before the first word is what was waited for the first of them.

    Searching while certainty drops, in the middle of a text (FLARE, Jiang et al., EMNLP 2023), was
    tried beside it: at tokens below 0.3, up to three times, 14 questions for reasons and over
    several pages were 8 right for 7, and took two and a half times as long.

    Small models go by what stands where: of two answers from the same passages in two orders, the
    one that the passages prove better was right more often than either of them alone. But a
    refusal is not given up for sentences of which none is proved.

    Raises:
        CancelledError: if writing was stopped.
    """
    draft = yield Generate(request)
    if draft.stopped:  # half a text can't be compared with a whole one
        raise CancelledError
    other: Answer = yield Verify(request, draft)
    kept = answer.abstained and _is_unproved(other)
    best = other if _worth(other) > _worth(answer) and not kept else answer
    timings = replace(
        best.timings,
        prefill_s=answer.timings.prefill_s,
        ttft_s=answer.timings.ttft_s,
        total_s=round(answer.timings.total_s + other.timings.total_s, 3),
    )
    return replace(best, rounds=answer.rounds + 1, timings=timings)


def _is_sure(answer: Answer) -> bool:
    """Whether an answer need not be tried again: stopped by the user, or proved closely."""
    return answer.stopped or (_holds(answer) and answer.confidence.get("covered", 0.0) >= SURE)


def _holds(answer: Answer) -> bool:
    """Whether nothing is to be searched for: all is proved, or the user stopped it."""
    return answer.stopped or not (answer.abstained or answer.unsupported)


def _is_unproved(answer: Answer) -> bool:
    """Whether it says something of its own, and nothing of that is proved."""
    return bool(answer.unsupported) and not answer.confidence.get("proved", 0.0)


def _learnt(question: str, answer: Answer) -> str:
    """Return what to search for next: the question, with what could not be proved so far."""
    return " ".join([question, *answer.unsupported])


def _joined(found: RetrievalResult, again: RetrievalResult) -> RetrievalResult:
    """Return what to read next: the best of what was read before, and what is new."""
    kept = found.hits[: len(found.hits) // 2]
    hits = [*kept, *again.hits][: len(found.hits)]
    return replace(found, hits=tuple(hits))


def _worth(answer: Answer) -> float:
    """Return how well an answer is borne out, to choose from several; -1 where there is none."""
    if answer.abstained:
        return -1.0
    signs = answer.confidence
    return signs.get("proved", 0.0) + signs.get("covered", 0.0) + signs.get("founded", 0.0) / 2


def run(steps: Generator[Step, Any, Answer], execute: Callable[[Step], Any]) -> Answer:
    """Execute all steps on the spot.

    Raises:
        CancelledError: if stopped before there was an answer.
    """
    try:
        step = next(steps)
        while True:
            try:
                result = execute(step)
            except CancelledError as stopped:
                step = steps.throw(stopped)
            else:
                step = steps.send(result)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
