"""Keeps one model loaded: for what the user waits for, and lent to background work meanwhile."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from desktop.core.answering.generation.loaded_model import LoadedModel, choose, file_of
from desktop.core.answering.prompt import prompts
from desktop.core.llm.hardware.machine_info import survey
from desktop.core.llm.hardware.memory_plan import fitting_context
from desktop.core.records import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from desktop.core.answering.request import Listener
    from desktop.core.library.library import Library
    from desktop.core.llm.models.store import ModelStore
    from desktop.core.llm.runtime.engine_protocol import EngineLike

    MakeEngine = Callable[[Path, int, int, Callable[[], bool]], EngineLike]


def llama_engine(
    path: Path, context_tokens: int, threads: int, cancelled: Callable[[], bool]
) -> EngineLike:
    """Load a model with llama.cpp, which is imported only now."""
    from desktop.core.llm.runtime.engine import Engine

    return Engine(path, context_tokens=context_tokens, threads=threads, cancelled=cancelled)


class ModelManager:
    """The model that is loaded, for one user at a time.

    Args:
        library: Where its states and its speed are kept.
        model_store: The installed models.
        make_engine: Loads a model.
    """

    def __init__(
        self, library: Library, model_store: ModelStore, *, make_engine: MakeEngine = llama_engine
    ) -> None:
        self._library = library
        self._model_store = model_store
        self._make_engine = make_engine
        self._loaded: LoadedModel | None = None
        self._using = threading.RLock()
        self._users = 0

    @contextmanager
    def foreground(self, name: str | None, listener: Listener) -> Iterator[LoadedModel]:
        """Load a model unless it is loaded, and have it for oneself.

        Raises:
            UserFacingError: if there is none, or it does not fit into the free memory.
            CancelledError: if stopped.
        """
        self._users += 1
        try:
            with self._using:
                yield self._load(name, listener)
        finally:
            self._users -= 1

    @contextmanager
    def background(self, name: str | None, listener: Listener) -> Iterator[LoadedModel]:
        """Have it for background work, which ends as soon as the model is `wanted`.

        Raises:
            UserFacingError: if there is none, or it does not fit into the free memory.
            CancelledError: if stopped.
        """
        with self._using:
            yield self._load(name, listener)

    @property
    def wanted(self) -> bool:
        """Whether the model, or the machine, is wanted for what the user waits for."""
        return self._users > 0 or self._library.turns.answer_under_way()

    def close(self) -> None:
        """Unload the model."""
        with self._using:
            if self._loaded is not None:
                self._loaded.engine.close()
            self._loaded = None

    def _load(self, name: str | None, listener: Listener) -> LoadedModel:
        machine = survey()
        model = choose(self._model_store, name, machine)
        if self._loaded is not None and self._loaded.model == model:
            return self._loaded
        self.close()
        listener.stage(Progress("loading", 0, 0, ""))
        path = file_of(model)
        window = fitting_context(path, machine.memory_available)
        engine = self._make_engine(path, window, machine.cores_fast, listener.cancelled)
        self._loaded = loaded = LoadedModel(model, engine, self._library)
        start = engine.chat(prompts.load().start())
        loaded.note(engine.begin(start, loaded.states(), cancelled=listener.cancelled))
        return loaded
