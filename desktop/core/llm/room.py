"""How wide a window to make room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.llm.gguf import memory_needed, read_header

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WINDOWS = (8192, 4096, 2048)
"""Windows to make room for, the first that the model has and the free memory allows."""
LONG_WINDOWS = (32_768, 24_576, 16_384, 12_288, *WINDOWS)
"""The same for what is read as a whole."""


def fitting(path: Path, available: int, windows: Sequence[int] = WINDOWS) -> int:
    """Return the first of some windows that a model has and that the memory allows, in tokens.

    Args:
        path: The model's file.
        available: Bytes of memory.
        windows: What to choose from, the widest first.

    Raises:
        UserFacingError: if not even the last one fits.
    """
    header = read_header(path)
    for window in windows:
        if window > header.context_length > 0 and window != windows[-1]:
            continue
        need = memory_needed(header, context_tokens=window)
        if need.total <= available:
            return min(window, header.context_length or window)
    need = memory_needed(header, context_tokens=windows[-1])
    raise UserFacingError(
        f"This model needs {need.total / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB "
        "are free",
        "Close other programs, or choose a smaller model",
    )
