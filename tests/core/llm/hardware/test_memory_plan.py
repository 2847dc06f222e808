"""How much of a model fits where."""

from __future__ import annotations

import pytest

from desktop.core.llm.gguf.reader import ModelHeader, memory_needed
from desktop.core.llm.hardware.memory_plan import (
    LONG_WINDOWS,
    WINDOWS,
    gpu_layers,
    shortage,
    widest_context,
)

GB = 10**9
MODEL = ModelHeader(
    architecture="qwen2",
    name="A 1.5B model",
    context_length=32_768,
    template=None,
    size_bytes=1_117_320_736,
    layers=28,
    embedding_length=1536,
    heads=12,
    kv_heads=2,
    key_length=128,
    value_length=128,
    vocabulary=151_936,
    file_type="Q4_K_M",
    tensors=339,
)


@pytest.mark.parametrize("windows", [WINDOWS, LONG_WINDOWS])
def test_a_shortage_is_of_what_the_widest_window_takes(windows: tuple[int, ...]) -> None:
    need = memory_needed(MODEL, context_tokens=windows[0]).total
    assert shortage(MODEL, need, windows) is None
    assert widest_context(MODEL, need, windows) == windows[0]
    short = shortage(MODEL, need - 1, windows)
    assert short is not None
    assert (short.window, short.need, short.free) == (windows[0], need, need - 1)
    narrower = widest_context(MODEL, need - 1, windows)
    assert narrower is not None
    assert narrower < windows[0]


def layers(free: float, window: int = 8192) -> int:
    return gpu_layers(MODEL, window, round(free))


def test_no_more_layers_go_to_a_graphics_processor_than_fit() -> None:
    need = memory_needed(MODEL, context_tokens=8192)
    assert layers(24 * GB) == MODEL.layers + 1
    assert layers(0) == layers(0.8 * GB) == 0
    found = [layers(free * GB / 10) for free in range(8, 26)]
    assert found == sorted(found)
    assert 0 < layers(1.6 * GB) < MODEL.layers
    for tenths in range(8, 26):
        count = layers(tenths * GB / 10)
        part = count / (MODEL.layers + 1) * (need.weights + need.kv)
        assert count == 0 or part + need.compute + 512 * 2**20 <= tenths * GB / 10 * 1.01


def test_a_wider_window_leaves_memory_for_fewer_layers() -> None:
    assert layers(1.9 * GB, 32_768) < layers(1.9 * GB, 4096)
