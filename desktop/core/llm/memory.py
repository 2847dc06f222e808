"""What stands in a model's key/value memory, and keeping the state of it for later runs."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Protocol

import llama_cpp

from desktop.core.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SEQUENCE = 0


class States(Protocol):
    """Where states are kept; what tells one from another is the keeper's business."""

    def load(self, text: Sequence[int]) -> bytes | None:
        """Return the state of some tokens, if it is there and sound."""

    def save(self, text: Sequence[int], state: bytes | bytearray) -> None:
        """Keep the state of some tokens, or don't."""


class Memory:
    """The key/value memory of one context.

    Args:
        context: llama.cpp's context.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        self._held: list[int] = []

    def __len__(self) -> int:
        """Return how many tokens it holds."""
        return len(self._held)

    def keep(self, tokens: Sequence[int]) -> int:
        """Drop all but what it holds of some tokens from their start; return how many that are."""
        count = 0
        for one, other in zip(self._held, tokens, strict=False):
            if one != other:
                break
            count += 1
        if not llama_cpp.llama_memory_seq_rm(self._memory, _SEQUENCE, count, -1):
            self.clear()  # a memory that can't be cut
            count = 0
        del self._held[count:]
        return count

    def read(self, tokens: Sequence[int]) -> None:
        """Read tokens behind all the others; the last one's logits are computed.

        Raises:
            UserFacingError: if llama.cpp fails; it then holds nothing.
        """
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        code = llama_cpp.llama_decode(self._context, batch)
        if code != 0:
            self.clear()
            raise UserFacingError(
                f"The model stopped working (llama.cpp code {code})",
                "Ask again, or choose another model",
            )
        self._held.extend(tokens)

    def clear(self) -> None:
        """Drop everything."""
        self._held = []
        llama_cpp.llama_memory_clear(self._memory, True)

    def state(self) -> bytearray:
        """Return the state of all that it holds."""
        size = llama_cpp.llama_state_seq_get_size(self._context, _SEQUENCE)
        state = bytearray(size)  # hundreds of megabytes for a chapter: nothing is copied twice
        raw = (ctypes.c_uint8 * size).from_buffer(state)
        llama_cpp.llama_state_seq_get_data(self._context, raw, size, _SEQUENCE)
        return state

    def restore(self, tokens: Sequence[int], state: bytes) -> bool:
        """Hold some tokens by their state and nothing else; return whether llama.cpp took it."""
        self.clear()
        raw = ctypes.cast(ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8))
        if not llama_cpp.llama_state_seq_set_data(self._context, raw, len(state), _SEQUENCE):
            self.clear()
            return False
        self._held = list(tokens)
        return True
