"""How wide a window to make room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.llm.gguf import memory_needed, read_header

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from desktop.core.llm.gguf import ModelHeader

WINDOWS = (8192, 4096, 2048)
"""Windows to make room for, the first that the model has and the free memory allows."""
LONG_WINDOWS = (32_768, 24_576, 16_384, 12_288, *WINDOWS)
"""The same for what is read as a whole."""


def widest(header: ModelHeader, available: int, windows: Sequence[int]) -> int | None:
    """Return the first of some windows that a model has and that the memory allows, in tokens.

    Args:
        header: The model.
        available: Bytes of memory.
        windows: What to choose from, the widest first.

    Returns:
        None where not even the last one fits.
    """
    for window in windows:
        if window > header.context_length > 0 and window != windows[-1]:
            continue
        if memory_needed(header, context_tokens=window).total <= available:
            return min(window, header.context_length or window)
    return None


def fitting(path: Path, available: int) -> int:
    """Return the usual window for a model's file and so many bytes of memory, in tokens.

    Raises:
        UserFacingError: if none fits.
    """
    header = read_header(path)
    window = widest(header, available, WINDOWS)
    if window is not None:
        return window
    need = memory_needed(header, context_tokens=WINDOWS[-1])
    raise UserFacingError(
        f"This model needs {need.total / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB "
        "are free",
        "Close other programs, or choose a smaller model",
    )
