"""The KV state of what prompts begin with, saved from one run of a real model to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation
from desktop.core.llm.runtime.kv_store import KVStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.core.llm.runtime.kv_store import BookKVStore

START = ("Herons wade in shallow water. " * 20).strip()


@pytest.fixture
def engine(small_model: Path) -> Iterator[Engine]:
    opened = Engine(small_model, context_tokens=512, threads=2)
    yield opened
    opened.close()


@pytest.fixture
def states(tmp_path: Path) -> BookKVStore:
    return KVStore(tmp_path / "states").of("a model", "")


def write(engine: Engine, *, fresh: bool = False) -> tuple[str, Generation]:
    figures = Generation()
    prompt = engine.tokenize(START + " They eat")
    return "".join(engine.generate(prompt, figures, most_tokens=8, fresh=fresh)), figures


def test_a_prefix_is_prefilled_once_and_loaded_in_the_next_run(
    small_model: Path, engine: Engine, states: BookKVStore
) -> None:
    start = engine.tokenize(START)
    engine.begin(start, states)
    assert states.has(start)
    text, _ = write(engine)
    again = Engine(small_model, context_tokens=1024, threads=2)  # another window does not matter
    try:
        again.begin(start, states)
        same, figures = write(again)
        assert same == text
        assert figures.reused_tokens == len(start)
    finally:
        again.close()


@pytest.mark.parametrize("state", [b"\0", b"\0" * 64, b"\xff" * 4096, None])
def test_where_a_saved_state_is_unsound_the_prefix_is_prefilled(
    engine: Engine, states: BookKVStore, state: bytes | None
) -> None:
    start = engine.tokenize(START)
    engine.begin(start, states)
    right = states.load(start)
    assert right
    text, _ = write(engine)
    states.save(start, right[: len(right) // 2] if state is None else state)
    engine.begin(start, states)
    assert write(engine)[0] == text
    assert states.load(start) == right
