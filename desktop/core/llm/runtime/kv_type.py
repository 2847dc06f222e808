"""Number formats of a KV cache, in memory and in the saved states.

Two bytes a value, f16, unless a bench says otherwise. With the 1.5B model on two cores (AVX2) q8_0
takes 0.53 of the bytes at the same likelihood of a text, but prefills 0.88 and decodes 0.93 times
as fast; q4_0 takes 0.28 and makes noise of the text. See `tests/bench/kv_types.py`.
"""

from __future__ import annotations

from enum import IntEnum


class KVType(IntEnum):
    """A number format of keys and values, by ggml's number: see `gguf.metadata.TENSOR_TYPES`."""

    F16 = 1
    Q8_0 = 8
    Q4_0 = 2
