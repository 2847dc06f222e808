"""The answerer: runs the language model. Loads llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from desktop.core.answering.generation.answer_generator import AnswerGenerator as Core
from desktop.core.answering.generation.prefill import prefill
from desktop.core.answering.pipeline.steps import Generate, ParseQuery
from desktop.core.answering.request import Listener
from desktop.core.codec import decode
from desktop.core.library.library import Library
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.hardware.machine_info import on_battery
from desktop.core.llm.models import catalogue
from desktop.core.llm.models.store import ModelStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.answering.generation.prefill import Prefilled
    from desktop.core.answering.modes.budget import Estimate
    from desktop.core.answering.request import Draft
    from desktop.paths import Paths
    from desktop.worker.host import Job


class Answerer:
    """Serves the conversation."""

    def __init__(self, paths: Paths) -> None:
        self._library = Library(paths)
        self._core = Core(self._library, ModelStore(paths.models, catalogue.load()))

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        """See `host.Service`. One answer at a time."""
        return {
            "generate": ("answer", self.generate),
            "parse_query": ("answer", self.parse_query),
            "load": ("answer", self.load),
            "estimate": ("answer", self.estimate),
            "prefill": ("prefill", self.prefill),
        }

    def generate(self, job: Job) -> Draft:
        """Write an answer, streaming; see `steps.Generate`."""
        return self._core.generate(decode(Generate, job.args).request, _listener(job))

    def parse_query(self, job: Job) -> str:
        """Say where a question wants to look; see `steps.ParseQuery`."""
        step = decode(ParseQuery, job.args)
        return self._core.parse_query(step.question, step.model, _listener(job))

    def load(self, job: Job) -> dict[str, str]:
        """Load a model before the first question."""
        return {"model": self._core.load(job.args.get("model"), _listener(job)).model.name}

    def estimate(self, job: Job) -> Estimate:
        """Say how long the prefill of a part of a book takes."""
        where = decode(SearchFilter, job.args["where"])
        return self._core.estimate(where, job.args.get("model"), _listener(job))

    def prefill(self, job: Job) -> Prefilled:
        """Prefill a book; in the background only while the computer is on power."""
        return prefill(
            self._library,
            self._core.models,
            SearchFilter((job.args["book"],)),
            job.args.get("model"),
            _listener(job),
            near=job.args.get("near", ()),
            waits=on_battery if job.args.get("background") else lambda: False,
        )


def _listener(job: Job) -> Listener:
    return Listener(
        stage=lambda progress: job.emit("stage", progress),
        token=lambda text: job.emit("token", {"text": text}),
        cancelled=job.cancelled,
    )
