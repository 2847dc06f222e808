"""The fetcher: what models there are, and getting them. The only part that goes online."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.core.llm.gguf import reader
from desktop.core.llm.hardware import machine_info
from desktop.core.llm.models import catalogue, download, selection
from desktop.core.llm.models.store import ModelStore, describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.llm.models.store import StoredModel
    from desktop.paths import Paths
    from desktop.worker.host import Job


class Fetcher:
    """Serves the models' page."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.models
        self._catalogue = catalogue.load()
        self._model_store = ModelStore(paths.models, self._catalogue)

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
        machine = machine_info.survey()
        recommendation = selection.recommend(self._catalogue, machine)
        default = self._model_store.default(job.args.get("preferred"), machine)
        return {
            "models": [_plain(model) for model in self._model_store.models()],
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
        return _plain(self._model_store.get(name))

    def add(self, job: Job) -> dict[str, Any]:
        """Take in a model file of the user's."""
        path = Path(job.args["path"])
        header = reader.read_header(path)
        model = self._model_store.add(
            path,
            progress=lambda progress: job.emit("progress", progress),
            cancelled=job.cancelled,
            available_memory=machine_info.survey().memory_available,
        )
        return {"model": _plain(model), "summary": describe(header)}

    def remove(self, job: Job) -> None:
        """Delete a model's file."""
        self._model_store.remove(job.args["name"])


def _plain(model: StoredModel) -> dict[str, Any]:
    fields = {name: getattr(model, name) for name in model.__dataclass_fields__}
    return {**fields, "path": str(model.path) if model.path else None}
