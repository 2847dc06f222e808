"""The executor of the pipeline's steps; each needs the library, or the language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from desktop.core.answering.attribution.verification import verify
from desktop.core.answering.pipeline.steps import Generate, ParseQuery, Retrieve, Verify
from desktop.core.records import Progress
from desktop.core.retrieval.retrieve import retrieve

if TYPE_CHECKING:
    from desktop.core.answering.generation.answer_generator import AnswerGenerator
    from desktop.core.answering.pipeline.steps import Step
    from desktop.core.answering.request import Listener
    from desktop.core.library.library import Library
    from desktop.core.records import Answer
    from desktop.core.retrieval.results import RetrievalResult


def execute_in_library(library: Library, step: Retrieve | Verify) -> RetrievalResult | Answer:
    """Carry out a step that needs the index and the embedder.

    Raises:
        UserFacingError: if there is no book to look in.
    """
    if isinstance(step, Retrieve):
        return retrieve(
            library,
            step.question,
            history=step.history,
            where=step.where,
            without=step.without,
            skip=step.skip,
            reply=step.reply,
        )
    embedder = library.embedder
    return verify(step.request, step.draft, embedder=embedder.identity, embed=embedder.embed)


def execute(step: Step, library: Library, answerer: AnswerGenerator, listener: Listener) -> Any:
    """Carry out any step in this process."""
    if isinstance(step, Generate):
        return answerer.generate(step.request, listener)
    if isinstance(step, ParseQuery):
        return answerer.parse_query(step.question, step.model, listener)
    # Indexing elsewhere stands back for the search too.
    with library.turns.answering(
        waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
        cancelled=listener.cancelled,
    ):
        return execute_in_library(library, step)
