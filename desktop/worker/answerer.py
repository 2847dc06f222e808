"""The answerer: runs the language model. Loads llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from desktop.core.answering.answerer import Answerer as Core
from desktop.core.answering.request import Listener, Request
from desktop.core.library.library import Library
from desktop.core.llm import catalogue
from desktop.core.llm.shelf import ModelShelf
from desktop.core.records import decode
from desktop.core.retrieval import search

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.records import Answer
    from desktop.paths import Paths
    from desktop.worker.host import Job


class Answerer:
    """Serves the conversation."""

    def __init__(self, paths: Paths) -> None:
        self._library = Library(paths)
        self._core = Core(self._library, ModelShelf(paths.models, catalogue.load()))

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        """See `host.Service`. One answer at a time."""
        return {"answer": ("answer", self.answer), "load": ("answer", self.load)}

    def answer(self, job: Job) -> Answer:
        """Answer a question, streaming."""
        books = search.searchable(self._library, job.args.get("books"))
        arguments = {**job.args, "books": [book.id for book in books]}
        return self._core.answer(decode(Request, arguments), _listener(job))

    def load(self, job: Job) -> dict[str, str]:
        """Load a model ahead of the first question."""
        return {"model": self._core.load(job.args.get("model"), _listener(job)).name}


def _listener(job: Job) -> Listener:
    return Listener(
        stage=lambda progress: job.emit("stage", progress),
        token=lambda text: job.emit("token", {"text": text}),
        cancelled=job.cancelled,
    )
