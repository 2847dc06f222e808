"""The model that is loaded, with what is known of it on this computer."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.llm.gguf.reader import memory_needed, read_header
from desktop.core.llm.hardware.machine_info import survey
from desktop.core.llm.hardware.memory_plan import LONG_WINDOWS, WINDOWS, shortage, widest_context
from desktop.core.llm.runtime.throughput import Throughput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.core.llm.gguf.reader import ModelHeader
    from desktop.core.llm.hardware.machine_info import Machine
    from desktop.core.llm.hardware.memory_plan import Shortage
    from desktop.core.llm.models.store import ModelStore, StoredModel
    from desktop.core.llm.runtime.engine_protocol import EngineLike
    from desktop.core.llm.runtime.generation import Generation
    from desktop.core.llm.runtime.kv_store import BookKVStore


class LoadedModel:
    """A model in memory.

    Args:
        model: Which.
        engine: What runs it.
        library: Where its states and its speed are kept.

    Attributes:
        default_window: The window for what is not read as a whole, in tokens.
    """

    def __init__(self, model: StoredModel, engine: EngineLike, library: Library) -> None:
        self.model = model
        self.engine = engine
        self.default_window = engine.context_tokens
        self._library = library
        self._speeds = Throughput(library.paths.speeds)

    def states(self, book: str = "") -> BookKVStore:
        """Return its saved states of a book, or those of no book."""
        return self._library.states.of(self.identity, book)

    @property
    def identity(self) -> str:
        """All that changes what it makes of a text."""
        return f"{_fingerprint(self.model)} {self.engine.identity}"

    def widest(self) -> int:
        """Return the widest window that it has and the free memory allows."""
        found = None
        with suppress(UserFacingError):  # its file may be gone meanwhile
            found = widest_context(self._header, self._room(), LONG_WINDOWS)
        return max(self.engine.context_tokens, found or 0)

    def shortage(self, windows: Sequence[int] = LONG_WINDOWS) -> Shortage | None:
        """Return what the widest of some windows would take, where the free memory lacks it."""
        with suppress(UserFacingError):
            return shortage(self._header, self._room(), windows)
        return None

    def _room(self) -> int:
        """Return the bytes of memory that it has and that are free."""
        has = memory_needed(self._header, context_tokens=self.engine.context_tokens)
        return survey().memory_available + has.total

    def notices(self) -> tuple[str, ...]:
        """Return what the user is to know of how it is run."""
        return tuple(notice for notice in (self.engine.notice, self._narrow) if notice)

    @cached_property
    def _narrow(self) -> str:
        """Why its usual window is a narrow one; said once: what is free is never twice the same."""
        short = self.shortage(WINDOWS) if self.default_window < WINDOWS[0] else None
        if short is None:
            return ""
        return (
            f"Memory is short, so {self.model.name} reads {self.default_window:,} tokens at once: "
            f"{short.window:,} need {short.need / 1e9:.1f} GB, and {short.free / 1e9:.1f} GB "
            "are free. Close other programs, and start Lutrin again"
        )

    @cached_property
    def _header(self) -> ModelHeader:
        """Read once: its vocabulary takes 0.1 s to pass over."""
        return read_header(file_of(self.model))

    def widen(self, tokens: int) -> None:
        """Make the window wide enough for so many tokens; it stays so until the model is left."""
        if tokens > self.engine.context_tokens:
            window = next(w for w in reversed(LONG_WINDOWS) if w >= tokens)
            self.engine.resize(min(window, self.widest()))

    def note(self, figures: Generation) -> None:
        """Note how fast it has read."""
        unread = figures.prompt_tokens - figures.reused_tokens
        self._speeds.note(self.model.name, figures.prefill_s, unread, figures.reused_tokens)

    def seconds(self, tokens: int) -> float | None:
        """Return about how long it takes to read a text; None where that is not known."""
        return self._speeds.seconds(self.model.name, tokens)


def _fingerprint(model: StoredModel) -> str:
    """Return what tells a model's file from any other."""
    if model.sha256:
        return model.sha256
    path = file_of(model)
    found = path.stat()
    return f"{path.name} {found.st_size} {found.st_mtime_ns}"


def choose(model_store: ModelStore, name: str | None, machine: Machine) -> StoredModel:
    """Return the model of a name, or the one to use on a machine where none is said.

    Raises:
        UserFacingError: if it is not there or can't be used.
    """
    model = model_store.get(name) if name else model_store.default(None, machine)
    if model is not None and model.note:
        raise UserFacingError(model.note, "Until then, use another one")
    if model is None or not model.installed or model.path is None:
        raise UserFacingError(
            "No language model is installed",
            "Get one in the window, or with: lutrin models get",
        )
    return model


def file_of(model: StoredModel) -> Path:
    """Return the file of an installed model."""
    assert model.path is not None
    return model.path
