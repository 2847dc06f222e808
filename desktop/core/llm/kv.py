"""How a model's keys and values are kept, in memory and in the states on the disk.

Two bytes a value, f16, unless a bench says otherwise. With the 1.5B model on two cores (AVX2) q8_0
takes 0.53 of the room at the same likelihood of a text, but reads 0.88 and writes 0.93 times as
fast; q4_0 takes 0.28 and makes noise of the text. See `tests/bench/kv_types.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KVType:
    """A number format of keys and values.

    Attributes:
        name: What llama.cpp calls it.
        number: Of ggml's types.
        bytes_a_value: Its size.
        block: So many values are written together; a head has a multiple of it.
    """

    name: str
    number: int
    bytes_a_value: float
    block: int


F16 = KVType("f16", 1, 2.0, 1)
Q8_0 = KVType("q8_0", 8, 34 / 32, 32)
Q4_0 = KVType("q4_0", 2, 18 / 32, 32)
KV_TYPES = (F16, Q8_0, Q4_0)
