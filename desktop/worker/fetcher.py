"""The fetcher: what models there are, and getting them. The only part that goes online."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.core.llm import catalogue, choice, download, gguf, hardware
from desktop.core.llm.shelf import ModelShelf, describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.llm.shelf import ShelfModel
    from desktop.paths import Paths
    from desktop.worker.host import Job


class Fetcher:
    """Serves the models' page."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.models
        self._catalogue = catalogue.load()
        self._shelf = ModelShelf(paths.models, self._catalogue)

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        """See `host.Service`. The list is there while a download runs."""
        return {
            "models": ("list", self.models),
            "remove": ("list", self.remove),
            "add": ("add", self.add),
            "get": ("get", self.get),
        }

    def models(self, job: Job) -> dict[str, Any]:
        """Return all models, which is recommended and why, and which would be used."""
        machine = hardware.survey()
        recommendation = choice.recommend(self._catalogue, machine)
        default = self._shelf.default(job.args.get("preferred"), machine)
        return {
            "models": [_plain(model) for model in self._shelf.models()],
            "recommended": recommendation.model.name,
            "small": (recommendation.small or recommendation.model).name,
            "default": default.name if default else None,
            "reason": recommendation.reason,
        }

    def get(self, job: Job) -> dict[str, Any]:
        """Fetch a model of the catalogue."""
        name = job.args["name"]
        download.fetch(
            self._catalogue.get(name),
            self._folder,
            progress=lambda progress: job.emit("progress", progress),
            cancelled=job.cancelled,
        )
        return _plain(self._shelf.get(name))

    def add(self, job: Job) -> dict[str, Any]:
        """Take in a model file of the user's."""
        path = Path(job.args["path"])
        header = gguf.read_header(path)
        model = self._shelf.add(
            path,
            progress=lambda progress: job.emit("progress", progress),
            cancelled=job.cancelled,
            available_memory=hardware.survey().memory_available,
        )
        return {"model": _plain(model), "summary": describe(header)}

    def remove(self, job: Job) -> None:
        """Delete a model's file."""
        self._shelf.remove(job.args["name"])


def _plain(model: ShelfModel) -> dict[str, Any]:
    fields = {name: getattr(model, name) for name in model.__dataclass_fields__}
    return {**fields, "path": str(model.path) if model.path else None}
