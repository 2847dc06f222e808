from __future__ import annotations

from typing import TYPE_CHECKING, Any

import llama_cpp
import pytest

from desktop.core.llm.hardware.accelerator import Accelerator
from desktop.core.llm.runtime import engine as engines
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation
from desktop.core.llm.runtime.kv_type import KVType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def engine(small_model: Path) -> Iterator[Engine]:
    opened = Engine(small_model, context_tokens=512, threads=2)
    yield opened
    opened.close()


def test_the_odds_of_a_reply_are_those_of_its_first_tokens(engine: Engine) -> None:
    prompt = engine.tokenize("The opposite of black is")
    likely = engine.odds(prompt, [" white"], [" Tuesday"])
    assert likely > 2
    assert engine.odds(prompt, [" Tuesday"], [" white"]) == pytest.approx(-likely)
    both = engine.odds(prompt, [" white", " Tuesday", " white"], [" Tuesday"])
    assert both > likely
    written = "".join(engine.generate(prompt, Generation(), most_tokens=1))
    assert engine.odds(prompt, [written], [" Tuesday"]) >= likely


def test_the_odds_keep_the_kv_cache_for_the_next_prompt(engine: Engine) -> None:
    prompt = engine.tokenize("Herons wade in shallow water and wait for fish. Do they swim?")
    figures = Generation()
    first = "".join(engine.generate(prompt, figures, most_tokens=5))
    engine.odds([*prompt, *engine.tokenize(" Say yes or no:")], ["yes"], ["no"])
    again = Generation()
    assert "".join(engine.generate(prompt, again, most_tokens=5)) == first
    assert again.reused_tokens == len(prompt) - 1


LOAD, CONTEXT = "llama_model_load_from_file", "llama_init_from_model"


class Card:
    """A graphics processor, whose driver fails in one of llama.cpp's functions.

    The processor computes what is given to it.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.failing = ""
        self._layers = 0
        patch.setattr(engines, "accelerator", lambda: Accelerator("A card", 10**10))
        load, context = getattr(llama_cpp, LOAD), getattr(llama_cpp, CONTEXT)

        def loading(path: bytes, parameters: Any) -> Any:
            self._layers = parameters.n_gpu_layers
            return None if self._fails(LOAD) else load(path, parameters)

        def making(*given: Any) -> Any:
            return None if self._fails(CONTEXT) else context(*given)

        patch.setattr(llama_cpp, LOAD, loading)
        patch.setattr(llama_cpp, CONTEXT, making)

    def _fails(self, function: str) -> bool:
        return self._layers > 0 and self.failing == function


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    return Card(monkeypatch)


@pytest.mark.parametrize("function", [LOAD, CONTEXT])
def test_where_a_graphics_processor_fails_the_processor_does_it_all(
    small_model: Path, card: Card, function: str
) -> None:
    card.failing = function
    opened = Engine(small_model, context_tokens=512, threads=2)
    try:
        assert opened.notice == engines.NOT_ACCELERATED
        assert "accelerated" not in opened.identity
        prompt = opened.tokenize("The opposite of black is")
        assert "".join(opened.generate(prompt, Generation(), most_tokens=1)) == " white"
    finally:
        opened.close()


def test_a_wider_window_that_does_not_fit_a_graphics_processor_is_computed_without_it(
    small_model: Path, card: Card
) -> None:
    opened = Engine(small_model, context_tokens=512, threads=2)
    try:
        assert opened.notice == ""
        assert "accelerated" in opened.identity
        card.failing = CONTEXT
        opened.resize(1024)
        assert opened.context_tokens == 1024
        assert opened.notice == engines.NOT_ACCELERATED
    finally:
        opened.close()


def test_kv_states_of_another_format_are_told_apart_and_smaller(small_model: Path) -> None:
    sizes = {}
    for kv in KVType:
        opened = Engine(small_model, context_tokens=512, threads=2, kv=kv)
        try:
            state, _ = opened.prefill_block((), opened.tokenize("Herons wade in shallow water."))
            sizes[opened.identity] = len(state)
        finally:
            opened.close()
    f16, q8, q4 = sizes.values()
    assert f16 > 1.7 * q8 > 2.5 * q4
