"""The memory plan: which context window fits, and how many layers a graphics processor takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.llm.gguf.reader import memory_needed, read_header

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from desktop.core.llm.gguf.reader import ModelHeader

WINDOWS = (8192, 4096, 2048)
"""Context windows to choose from: the first that the model has and the free memory allows."""
LONG_WINDOWS = (32_768, 24_576, 16_384, 12_288, *WINDOWS)
"""The same where a long context is prefilled as a whole."""
_SPARED = 512 * 2**20
"""Bytes of a graphics processor's memory that are left to the screen and to other programs."""


@dataclass(frozen=True)
class Shortage:
    """A context window that a model has, and for which there is too little memory.

    Attributes:
        window: Its length in tokens.
        need: Bytes of memory that the model takes with it.
        free: Bytes that are free.
    """

    window: int
    need: int
    free: int


def shortage(header: ModelHeader, available: int, windows: Sequence[int]) -> Shortage | None:
    """Return what the widest of some windows that a model has would take, if it does not fit."""
    window = _supported(header, windows)[0]
    window = min(window, header.context_length or window)
    need = memory_needed(header, context_tokens=window).total
    return Shortage(window, need, available) if need > available else None


def _supported(header: ModelHeader, windows: Sequence[int]) -> Sequence[int]:
    """Return those of some windows that a model has, or the narrowest."""
    have = header.context_length or windows[0]
    return [window for window in windows if window <= have] or windows[-1:]


def widest_context(header: ModelHeader, available: int, windows: Sequence[int]) -> int | None:
    """Return the first of some windows that a model has and that the memory allows, in tokens.

    Args:
        header: The model.
        available: Bytes of memory.
        windows: What to choose from, the widest first.

    Returns:
        None where not even the last one fits.
    """
    for window in _supported(header, windows):
        if memory_needed(header, context_tokens=window).total <= available:
            return min(window, header.context_length or window)
    return None


def fitting_context(path: Path, available: int) -> int:
    """Return the usual window for a model's file and so many bytes of memory, in tokens.

    Raises:
        UserFacingError: if none fits.
    """
    header = read_header(path)
    window = widest_context(header, available, WINDOWS)
    if window is not None:
        return window
    need = memory_needed(header, context_tokens=WINDOWS[-1])
    raise UserFacingError(
        f"This model needs {need.total / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB "
        "are free",
        "Close other programs, or choose a smaller model",
    )


def gpu_layers(header: ModelHeader, window: int, free: int) -> int:
    """Return how many layers of a model to give to a graphics processor, 0 for none.

    They are taken to weigh the same, and so is what comes behind the last one (the matrix that
    makes the logits, which counts as one more); beside them stand their KV cache and the
    compute buffer.

    Args:
        header: The model.
        window: Its window, in tokens.
        free: Bytes of the graphics processor's memory that can be had.
    """
    need = memory_needed(header, context_tokens=window)
    layer = need.weights // (header.layers + 1) + need.kv // header.layers
    return max(0, min((free - _SPARED - need.compute) // layer, header.layers + 1))
