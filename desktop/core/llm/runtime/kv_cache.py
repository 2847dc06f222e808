"""A model's key/value (KV) cache: which tokens it holds, and saving and splicing its states.

Tokens stand one after the other. A block whose KV state was saved can be spliced in behind them
instead of being prefilled: its keys are rotated by the distance from where it was prefilled. A
block then attends to what stood before it when it was prefilled, not to what stands before it now.
Published relatives: Prompt Cache (Gim et al., MLSys 2024), TurboRAG (Lu et al., 2024),
Block-Attention (Ma et al., ICLR 2025).
"""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any, Protocol

import llama_cpp

from desktop.core.errors import UserFacingError
from desktop.core.llm.runtime.prompt_lookup import BatchCosts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.llm.runtime.generation import Splice

_MAIN, _SCRATCH = 0, 1
"""Sequences: the text, and a block that is being spliced into it or copied from it."""
SEQUENCES = 2
_COMPUTED = -1


class KVStates(Protocol):
    """Where KV states are saved; how one is told from another is the implementation's business."""

    def load(self, tokens: Sequence[int]) -> bytes | None:
        """Return the state of some tokens, if it is there and sound."""

    def save(self, tokens: Sequence[int], state: bytes | bytearray) -> None:
        """Save the state of some tokens, or don't."""


class KVCache:
    """The KV cache of one context.

    Args:
        model: llama.cpp's model.
        context: Its context, with `SEQUENCES` sequences in one unified KV cache.

    Attributes:
        splices: Whether blocks can be spliced in: not where a token's state is more than its own
            keys and values (recurrent models), or is dropped behind a sliding window.
        costs: What evaluating tokens has cost.
    """

    def __init__(self, model: Any, context: Any) -> None:
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)  # llama.cpp's name for the KV cache
        self._held: list[tuple[int, int]] = []  # each token and the start of its spliced block
        self.costs = BatchCosts()
        self.splices = (
            bool(llama_cpp.llama_memory_can_shift(self._memory))
            and not llama_cpp.llama_model_is_recurrent(model)
            and not llama_cpp.llama_model_is_hybrid(model)
            and llama_cpp.llama_model_n_swa(model) == 0
        )

    def __len__(self) -> int:
        """Return how many tokens it holds."""
        return len(self._held)

    def keep_prefix(self, tokens: Sequence[int], splices: Sequence[Splice] = ()) -> int:
        """Drop all but the longest common prefix with some tokens; return its length.

        Args:
            tokens: What is wanted.
            splices: Blocks of it that may be spliced in. All else is to be computed; and what was
                computed will do for either.
        """
        wanted = [(token, _COMPUTED) for token in tokens]
        for splice in splices:
            for place in range(splice.start, min(splice.end, len(wanted))):
                wanted[place] = (wanted[place][0], splice.start)
        count = 0
        for (token, block), (other, allowed) in zip(self._held, wanted, strict=False):
            if token != other or block not in (_COMPUTED, allowed):
                break
            count += 1
        if count < len(self._held) and self._held[count][1] not in (_COMPUTED, count):
            count = self._held[count][1]  # of a block that was spliced in, no part is of another
        if count < len(wanted) and wanted[count][1] not in (_COMPUTED, count):
            count = wanted[count][1]  # nor is the rest of one computed that can be spliced in
        if not llama_cpp.llama_memory_seq_rm(self._memory, _MAIN, count, -1):
            self.clear()  # a KV cache that can't be cut
            count = 0
        del self._held[count:]
        return count

    def evaluate(self, tokens: Sequence[int], outputs: int = 1) -> None:
        """Compute a batch of tokens behind all the others.

        Args:
            tokens: At most `BATCH_TOKENS`.
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
        self.costs.record(count, time.monotonic() - began)
        self._held.extend((token, _COMPUTED) for token in tokens)

    def drop_last(self, count: int) -> None:
        """Drop the last tokens, in a KV cache that `splices`."""
        if count:
            del self._held[-count:]
            llama_cpp.llama_memory_seq_rm(self._memory, _MAIN, len(self._held), -1)

    def clear(self) -> None:
        """Drop everything."""
        self._held = []
        llama_cpp.llama_memory_clear(self._memory, True)

    def state(self) -> bytearray:
        """Return the KV state of all that it holds."""
        return self._state(_MAIN)

    def state_from(self, first: int) -> bytearray:
        """Return the KV state of what it holds from a place on, for `splice`."""
        llama_cpp.llama_memory_seq_cp(self._memory, _MAIN, _SCRATCH, first, -1)
        state = self._state(_SCRATCH)
        self._drop_scratch()
        return state

    def _state(self, sequence: int) -> bytearray:
        size = llama_cpp.llama_state_seq_get_size(self._context, sequence)
        state = bytearray(size)  # hundreds of megabytes for a chapter: nothing is copied twice
        raw = (ctypes.c_uint8 * size).from_buffer(state)
        llama_cpp.llama_state_seq_get_data(self._context, raw, size, sequence)
        return state

    def restore(self, tokens: Sequence[int], state: bytes) -> bool:
        """Hold some tokens by their state and nothing else; return whether llama.cpp accepts it."""
        self.clear()
        if not self._set(_MAIN, state):
            self.clear()
            return False
        self._held = [(token, _COMPUTED) for token in tokens]
        return True

    def splice(self, tokens: Sequence[int], state: bytes, origin: int) -> bool:
        """Splice a block in behind all the others; return whether llama.cpp accepts its state.

        Args:
            tokens: The block.
            state: See `state_from`.
            origin: The position of its first token when it was prefilled.
        """
        self._drop_scratch()
        if not self._set(_SCRATCH, state):
            self._drop_scratch()
            return False
        place = len(self._held)
        llama_cpp.llama_memory_seq_add(self._memory, _SCRATCH, -1, -1, place - origin)
        llama_cpp.llama_memory_seq_cp(self._memory, _SCRATCH, _MAIN, -1, -1)
        self._drop_scratch()
        self._held.extend((token, place) for token in tokens)
        return True

    def _set(self, sequence: int, state: bytes) -> bool:
        raw = ctypes.cast(ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8))
        return bool(llama_cpp.llama_state_seq_set_data(self._context, raw, len(state), sequence))

    def _drop_scratch(self) -> None:
        llama_cpp.llama_memory_seq_rm(self._memory, _SCRATCH, -1, -1)
