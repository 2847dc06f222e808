"""What stands in a model's key/value memory, and keeping the state of it for later.

Tokens stand one after the other. A piece whose state was kept can be put behind them instead of
being read: its keys are rotated by the distance from where it was read. What a piece then knows is
what stood before it when it was read, not what stands before it now. Published relatives: Prompt
Cache (Gim et al., MLSys 2024), TurboRAG (Lu et al., 2024), Block-Attention (Ma et al., ICLR 2025).
"""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any, Protocol

import llama_cpp

from desktop.core.errors import UserFacingError
from desktop.core.llm.runtime.prompt_lookup import Costs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.llm.runtime.generation import Splice

_MAIN, _ASIDE = 0, 1
"""Sequences: what is read and written, and the piece that is being put there or taken from it."""
SEQUENCES = 2
_READ = -1


class KVStates(Protocol):
    """Where states are kept; what tells one from another is the keeper's business."""

    def load(self, text: Sequence[int]) -> bytes | None:
        """Return the state of some tokens, if it is there and sound."""

    def save(self, text: Sequence[int], state: bytes | bytearray) -> None:
        """Keep the state of some tokens, or don't."""


class KVCache:
    """The key/value memory of one context.

    Args:
        model: llama.cpp's model.
        context: Its context, with `SEQUENCES` sequences in one unified memory.

    Attributes:
        splices: Whether pieces can be put together: not where a token's state is more than its
            own keys and values (recurrent models), or is thrown away behind a window.
        costs: What reading has cost.
    """

    def __init__(self, model: Any, context: Any) -> None:
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        self._held: list[tuple[int, int]] = []
        self.costs = Costs()
        self.splices = (
            bool(llama_cpp.llama_memory_can_shift(self._memory))
            and not llama_cpp.llama_model_is_recurrent(model)
            and not llama_cpp.llama_model_is_hybrid(model)
            and llama_cpp.llama_model_n_swa(model) == 0
        )

    def __len__(self) -> int:
        """Return how many tokens it holds."""
        return len(self._held)

    def keep(self, tokens: Sequence[int], splices: Sequence[Splice] = ()) -> int:
        """Drop all but what it holds of some tokens from their start; return how many that are.

        Args:
            tokens: What is wanted.
            splices: What of it may be put in by its state. All else is to be read; and what was
                read will do for either.
        """
        wanted = [(token, _READ) for token in tokens]
        for splice in splices:
            for place in range(splice.start, min(splice.end, len(wanted))):
                wanted[place] = (wanted[place][0], splice.start)
        count = 0
        for (token, piece), (other, may) in zip(self._held, wanted, strict=False):
            if token != other or piece not in (_READ, may):
                break
            count += 1
        if count < len(self._held) and self._held[count][1] not in (_READ, count):
            count = self._held[count][1]  # of a piece that was put in, no part is of another
        if count < len(wanted) and wanted[count][1] not in (_READ, count):
            count = wanted[count][1]  # nor need the rest of one be read that can be put in
        if not llama_cpp.llama_memory_seq_rm(self._memory, _MAIN, count, -1):
            self.clear()  # a memory that can't be cut
            count = 0
        del self._held[count:]
        return count

    def read(self, tokens: Sequence[int], outputs: int = 1) -> None:
        """Read tokens behind all the others.

        Args:
            tokens: At most `STEP_TOKENS`.
            outputs: How many of the last ones get their logits computed.

        Raises:
            UserFacingError: if llama.cpp fails; it then holds nothing.
        """
        count = len(tokens)
        began = time.monotonic()
        array = (llama_cpp.llama_token * count)(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, count)
        batch.logits = (ctypes.c_int8 * count)(*(n >= count - outputs for n in range(count)))
        code = llama_cpp.llama_decode(self._context, batch)
        llama_cpp.llama_synchronize(self._context)
        if code != 0:
            self.clear()
            raise UserFacingError(
                f"The model stopped working (llama.cpp code {code})",
                "Ask again, or choose another model",
            )
        self.costs.note(count, time.monotonic() - began)
        self._held.extend((token, _READ) for token in tokens)

    def drop(self, count: int) -> None:
        """Drop the last tokens, in a memory that `splices`."""
        if count:
            del self._held[-count:]
            llama_cpp.llama_memory_seq_rm(self._memory, _MAIN, len(self._held), -1)

    def clear(self) -> None:
        """Drop everything."""
        self._held = []
        llama_cpp.llama_memory_clear(self._memory, True)

    def state(self) -> bytearray:
        """Return the state of all that it holds."""
        return self._state(_MAIN)

    def piece(self, first: int) -> bytearray:
        """Return the state of what it holds from a place on, for `put`."""
        llama_cpp.llama_memory_seq_cp(self._memory, _MAIN, _ASIDE, first, -1)
        state = self._state(_ASIDE)
        self._drop_aside()
        return state

    def _state(self, sequence: int) -> bytearray:
        size = llama_cpp.llama_state_seq_get_size(self._context, sequence)
        state = bytearray(size)  # hundreds of megabytes for a chapter: nothing is copied twice
        raw = (ctypes.c_uint8 * size).from_buffer(state)
        llama_cpp.llama_state_seq_get_data(self._context, raw, size, sequence)
        return state

    def restore(self, tokens: Sequence[int], state: bytes) -> bool:
        """Hold some tokens by their state and nothing else; return whether llama.cpp took it."""
        self.clear()
        if not self._set(_MAIN, state):
            self.clear()
            return False
        self._held = [(token, _READ) for token in tokens]
        return True

    def put(self, tokens: Sequence[int], state: bytes, home: int) -> bool:
        """Put a piece behind all the others; return whether llama.cpp took it.

        Args:
            tokens: The piece.
            state: See `piece`.
            home: The place where it began when it was read.
        """
        self._drop_aside()
        if not self._set(_ASIDE, state):
            self._drop_aside()
            return False
        place = len(self._held)
        llama_cpp.llama_memory_seq_add(self._memory, _ASIDE, -1, -1, place - home)
        llama_cpp.llama_memory_seq_cp(self._memory, _ASIDE, _MAIN, -1, -1)
        self._drop_aside()
        self._held.extend((token, place) for token in tokens)
        return True

    def _set(self, sequence: int, state: bytes) -> bool:
        raw = ctypes.cast(ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8))
        return bool(llama_cpp.llama_state_seq_set_data(self._context, raw, len(state), sequence))

    def _drop_aside(self) -> None:
        llama_cpp.llama_memory_seq_rm(self._memory, _ASIDE, -1, -1)
