"""From what a model wrote to an answer: proved sentence by sentence, or "the book does not say"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.answering.attribution import abstention, citations
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.context import best_first, from_hit
from desktop.core.records import Answer, Mode, Timings

if TYPE_CHECKING:
    from desktop.core.answering.attribution.alignment import Embed
    from desktop.core.answering.request import Draft, Request
    from desktop.core.retrieval.results import RetrievalResult


def verify(request: Request, draft: Draft, *, embedder: str, embed: Embed | None = None) -> Answer:
    """Return the answer that a draft makes.

    A text that was stopped is kept as it is. What was made of many pages may stand in no single
    sentence: in long context it is marked, not withheld.

    Args:
        request: What was asked.
        draft: What the model wrote.
        embedder: The embedder's identity; thresholds belong to it and to the model.
        embed: Returns unit vectors of texts; None compares words only.
    """
    sources = best_first(draft.sources)
    proved = citations.prove(draft.text, request.question, sources, embed=embed)
    answer = Answer(
        question=request.question,
        mode=request.mode,
        model=draft.model,
        answer=proved.text,
        abstained=False,
        citations=proved.citations,
        context=tuple(source.item() for source in sources),
        timings=draft.timings,
        left_out=draft.left_out,
        stopped=draft.stopped,
        notes=(*draft.notes, *_unsupported(proved)),
        limits=request.found.limits,
        unsupported=proved.unsupported,
    )
    if draft.stopped:
        return answer
    decision = abstention.decide(request, draft, proved, embedder, prompts.load().refusal)
    answer = replace(answer, confidence=decision.signs)
    if decision.given or (request.mode is Mode.LONG_CONTEXT and not decision.refused):
        return answer
    note = f"The model wrote this, but the passages do not bear it out: {draft.text}"
    return replace(
        answer,
        answer=prompts.load().refusal,
        abstained=True,
        citations=(),
        notes=draft.notes if decision.refused else (*draft.notes, note),
    )


def no_evidence_answer(question: str, mode: Mode, model: str, found: RetrievalResult) -> Answer:
    """Return "the book does not say" where no model needs to be asked."""
    if found.absent:
        names = ", ".join(f"“{name}”" for name in found.absent)
        note = f"{names} does not occur in the book"
    else:
        note = "No passage was found that has to do with the question"
    took = round(found.retrieve_s, 3)
    return Answer(
        question=question,
        mode=mode,
        model=model,
        answer=prompts.load().refusal,
        abstained=True,
        citations=(),
        context=tuple(from_hit(hit, lambda _text: 0).item() for hit in found.hits),
        timings=Timings(retrieve_s=took, total_s=took),
        notes=(note,),
        limits=found.limits,
    )


def _unsupported(proved: citations.Proved) -> tuple[str, ...]:
    if not proved.unsupported:
        return ()
    count, listed = len(proved.unsupported), " · ".join(proved.unsupported)
    were = "was" if count == 1 else "were"
    total = "sentence" if proved.claims == 1 else "sentences"
    return (f"{count} of {proved.claims} {total} {were} not found in the book: {listed}",)
