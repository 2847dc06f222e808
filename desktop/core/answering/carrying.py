"""Carrying out the steps of an answer; each belongs to the part that has what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from desktop.core.answering.judge import judge
from desktop.core.answering.steps import Check, Interpret, LookUp, Write
from desktop.core.records import Progress
from desktop.core.retrieval.lookup import look_up

if TYPE_CHECKING:
    from desktop.core.answering.answerer import Answerer
    from desktop.core.answering.request import Listener
    from desktop.core.answering.steps import Step
    from desktop.core.library.library import Library
    from desktop.core.records import Answer
    from desktop.core.retrieval.findings import Findings


def in_library(library: Library, step: LookUp | Check) -> Findings | Answer:
    """Carry out a step that needs the index and the embedder.

    Raises:
        UserFacingError: if there is no book to look in.
    """
    if isinstance(step, LookUp):
        return look_up(
            library,
            step.question,
            history=step.history,
            where=step.where,
            without=step.without,
            skip=step.skip,
            reply=step.reply,
        )
    embedder = library.embedder
    return judge(step.request, step.draft, embedder=embedder.identity, embed=embedder.embed)


def carry_out(step: Step, library: Library, answerer: Answerer, listener: Listener) -> Any:
    """Carry out any step in this process."""
    if isinstance(step, Write):
        return answerer.write(step.request, listener)
    if isinstance(step, Interpret):
        return answerer.interpret(step.question, step.model, listener)
    # Indexing elsewhere stands back for the search too.
    with library.turns.answering(
        waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
        cancelled=listener.cancelled,
    ):
        return in_library(library, step)
