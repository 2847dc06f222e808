"""The graphics processors that the installed llama.cpp can compute on, and their free memory.

Which there are depends on how llama.cpp was built: with Metal, CUDA, Vulkan or for none.
"""

from __future__ import annotations

import ctypes
import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llama_cpp
from llama_cpp import _ctypes_extensions

logger = logging.getLogger(__name__)

_GRAPHICS, _INTEGRATED = 1, 2
"""ggml's kinds of devices: with memory of its own, or with a share of the computer's."""


@dataclass(frozen=True)
class Accelerator:
    """A graphics processor.

    Attributes:
        name: What its maker calls it.
        free: Bytes of its memory that can be had.
    """

    name: str
    free: int


def accelerator() -> Accelerator | None:
    """Return what a model's layers are given to; None where there is only the processor.

    llama.cpp's own choice: the cards, and where there is none what is built into the processor.
    Of several the memory of all counts, and the first gives the name. With the environment
    variable LUTRIN_ACCELERATOR=none there is none.
    """
    if os.environ.get("LUTRIN_ACCELERATOR") == "none":
        return None
    if not llama_cpp.llama_supports_gpu_offload():
        return None
    try:
        devices = _devices()
    except (OSError, AttributeError) as error:  # another llama.cpp than we know
        logger.warning("llama.cpp's devices can't be listed: %s", error)
        return None
    for wanted in (_GRAPHICS, _INTEGRATED):
        found = [device for kind, device in devices if kind == wanted]
        if found:
            return Accelerator(found[0].name, sum(device.free for device in found))
    return None


def _devices() -> list[tuple[int, Accelerator]]:
    registry, base = _library("ggml"), _library("ggml-base")
    found = []
    for index in range(registry.ggml_backend_dev_count()):
        device = ctypes.c_void_p(registry.ggml_backend_dev_get(ctypes.c_size_t(index)))
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        base.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        name = base.ggml_backend_dev_description(device).decode("utf-8", "replace")
        kind = base.ggml_backend_dev_type(device)
        found.append((kind, Accelerator(name, free.value or total.value)))
    return found


@cache
def _library(name: str) -> Any:
    folder = Path(llama_cpp.__file__).parent / "lib"
    library = _ctypes_extensions.load_shared_library(name, folder)
    for function, result in (
        ("ggml_backend_dev_count", ctypes.c_size_t),
        ("ggml_backend_dev_get", ctypes.c_void_p),
        ("ggml_backend_dev_description", ctypes.c_char_p),
        ("ggml_backend_dev_type", ctypes.c_int),
    ):
        if hasattr(library, function):
            getattr(library, function).restype = result
    return library
