"""The answerer: runs the language model. Loads llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from desktop.core.answering.answerer import Answerer as Core
from desktop.core.answering.request import Listener
from desktop.core.answering.steps import Interpret, Write
from desktop.core.answering.study import study
from desktop.core.codec import decode
from desktop.core.library.library import Library
from desktop.core.library.where import Where
from desktop.core.llm import catalogue
from desktop.core.llm.hardware import on_battery
from desktop.core.llm.shelf import ModelShelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.answering.meter import Measure
    from desktop.core.answering.request import Draft
    from desktop.core.answering.study import Studied
    from desktop.paths import Paths
    from desktop.worker.host import Job


class Answerer:
    """Serves the conversation."""

    def __init__(self, paths: Paths) -> None:
        self._library = Library(paths)
        self._core = Core(self._library, ModelShelf(paths.models, catalogue.load()))

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        """See `host.Service`. One answer at a time."""
        return {
            "write": ("answer", self.write),
            "interpret": ("answer", self.interpret),
            "load": ("answer", self.load),
            "measure": ("answer", self.measure),
            "study": ("study", self.study),
        }

    def write(self, job: Job) -> Draft:
        """Write an answer, streaming; see `steps.Write`."""
        return self._core.write(decode(Write, job.args).request, _listener(job))

    def interpret(self, job: Job) -> str:
        """Say where a question wants to look; see `steps.Interpret`."""
        step = decode(Interpret, job.args)
        return self._core.interpret(step.question, step.model, _listener(job))

    def load(self, job: Job) -> dict[str, str]:
        """Load a model ahead of the first question."""
        return {"model": self._core.load(job.args.get("model"), _listener(job)).model.name}

    def measure(self, job: Job) -> Measure:
        """Say what reading a part of a book takes."""
        where = decode(Where, job.args["where"])
        return self._core.measure(where, job.args.get("model"), _listener(job))

    def study(self, job: Job) -> Studied:
        """Read a book ahead; in the background only while the computer is on power."""
        return study(
            self._library,
            self._core.models,
            Where((job.args["book"],)),
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
