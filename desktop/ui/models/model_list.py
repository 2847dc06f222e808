"""The list of language models: those of the catalogue, the user's own files, and downloads.

Talks to the fetcher. Knows no widgets.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.core.codec import decode
from desktop.core.records import Progress
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from desktop.ui.bridge import Bridge, JobHandle
    from desktop.worker.process import Delivery


@dataclass(frozen=True)
class Model:
    """A model of the catalogue, or one of the user's own.

    Attributes:
        context: Its window in tokens.
        own: Whether the user added the file.
        note: A sentence on what is special about it.
    """

    name: str
    title: str
    installed: bool = False
    size_bytes: int = 0
    context: int = 0
    path: str | None = None
    description: str = ""
    own: bool = False
    note: str = ""


@dataclass
class Fetch:
    """A download: its progress, or why it stopped."""

    job: JobHandle | None = None
    progress: Progress | None = None
    error: str = ""

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.job is not None and self.job.running


class ModelList(QObject):
    """The models that can be used or downloaded."""

    changed = Signal()
    fetch_changed = Signal(str)
    installed = Signal(str)
    """The name of a model that can be used from now on."""
    added = Signal(str, str)
    """The name of a file the user added, and what it is."""
    noticed = Signal(str)

    def __init__(self, fetcher: Bridge, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._fetcher = fetcher
        self._folder = folder
        self.models: dict[str, Model] = {}
        self.recommended = ""
        self.small = ""
        self.default: str | None = None
        self.reason = ""
        self.is_loaded = False
        self.fetches: dict[str, Fetch] = {}
        fetcher.died.connect(self._recover)

    def load(self) -> None:
        """Ask for the models."""
        self._fetcher.request("models", on_event=self._on_models)

    def any_installed(self) -> bool:
        """Whether a model can be used; before the list is loaded, whether there is any file."""
        if self.is_loaded:
            return any(model.installed for model in self.models.values())
        return any(self._folder.glob("*.gguf"))

    def started_before(self, name: str) -> bool:
        """Whether a part of a model is already on the disk, so that a download goes on."""
        return (self._folder / ".partial" / name).is_dir()

    def default_name(self) -> str:
        """Return the name of the model that is taken where none is chosen; empty for none."""
        return self.default or ""

    def title(self, name: str | None) -> str:
        """Return what a model is called."""
        model = self.models.get(name or self.default or "")
        return model.title if model else (name or "")

    def get(self, name: str) -> None:
        """Download a model, or go on with it."""
        fetch = self.fetches.setdefault(name, Fetch())
        if fetch.running:
            return
        fetch.error, fetch.progress = "", None
        fetch.job = self._fetcher.request(
            "get", {"name": name}, on_event=lambda delivery: self._on_fetch(name, delivery)
        )
        self.fetch_changed.emit(name)

    def cancel(self, name: str) -> None:
        """Stop a download; what has come stays."""
        fetch = self.fetches.get(name)
        if fetch and fetch.job:
            fetch.job.cancel()

    def add(self, path: str) -> None:
        """Add a file of the user's own."""
        self._fetcher.request(
            "add", {"path": path}, on_event=lambda delivery: self._on_own(path, delivery)
        )

    def remove(self, name: str) -> None:
        """Delete a model's file."""
        self._fetcher.request("remove", {"name": name}, on_event=self._on_removed)

    def _on_models(self, delivery: Delivery) -> None:
        if delivery.event == "failed":
            self.noticed.emit(_error_text(delivery.data))
        if delivery.event != "done":
            return
        data = delivery.data
        models = [decode(Model, item) for item in data["models"]]
        self.models = {model.name: model for model in models}
        self.recommended, self.small = data["recommended"], data["small"]
        self.default, self.reason = data["default"], data["reason"]
        self.is_loaded = True
        self.changed.emit()

    def _on_fetch(self, name: str, delivery: Delivery) -> None:
        fetch = self.fetches[name]
        match delivery.event:
            case "progress":
                fetch.progress = decode(Progress, delivery.data)
            case "done":
                del self.fetches[name]
                self.installed.emit(name)
                self.load()
            case "failed":
                fetch.error = _error_text(delivery.data)
            case "died":
                fetch.error = tr("The download stopped unexpectedly. What has come is kept.")
        self.fetch_changed.emit(name)

    def _on_own(self, path: str, delivery: Delivery) -> None:
        if delivery.event == "done":
            model = delivery.data["model"]
            name = model if isinstance(model, str) else model["name"]
            self.added.emit(name, delivery.data.get("summary", ""))
            self.load()
        elif delivery.event == "failed":
            text = tr("“{file}” can't be used as a model: {why}")
            self.noticed.emit(text.format(file=Path(path).name, why=_error_text(delivery.data)))

    def _on_removed(self, delivery: Delivery) -> None:
        if delivery.event == "failed":
            self.noticed.emit(_error_text(delivery.data))
        self.load()

    def _recover(self, _kind: str, news: dict[str, Any]) -> None:
        if not news.get("given_up") and not self.is_loaded:
            self.load()


def _error_text(data: dict[str, Any]) -> str:
    return f"{data['what']}. {data['remedy']}."
