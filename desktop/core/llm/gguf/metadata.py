"""Forward reading of a GGUF file's metadata and tensor table, within bounds.

Owns the byte format (versions 2 and 3, little-endian) and the sizes of ggml's number formats.
Must not know what the metadata mean: reader.py does.

Format: ggml's docs/gguf.md. Block and byte sizes: as `ggml_blck_size` and `ggml_type_size` of
llama-cpp-python 0.3.36 give them.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from desktop.core.llm.gguf.buffer import U32, U64, BadFileError, Reader, Scalar, Value

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_ENTRIES = 65_536  # key-value pairs, or tensors
MAX_KEY = 65_535  # bytes of a key, by the format's description
MAX_TEXT = 4 * 2**20  # bytes of a text that is kept, such as a chat template
MAX_KEPT_ITEMS = 4_096  # numbers of an array that is kept, such as heads a layer
MAX_DIMENSIONS = 4
MAX_NUMBERS = 2**63 - 1  # of a tensor

_SCALARS = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
_STRING, _ARRAY = 8, 9
_TEXT_KEYS = ("general.", "tokenizer.")  # texts under other keys aren't kept

# ggml type -> name, numbers a block, bytes a block
TENSOR_TYPES = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 36),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36),
    41: ("Q1_0", 128, 18),
    42: ("Q2_0", 64, 18),
}


@dataclass(frozen=True)
class RawHeader:
    """What stands before the weights.

    Attributes:
        values: The wanted metadata; texts, numbers, and short lists of numbers.
        lengths: Key of each array -> number of its items.
        tensors: Number of tensors.
        bytes_by_type: ggml type's name -> bytes of weights in it.
        end: Offset after the last byte of weights.
    """

    values: dict[str, Value] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    tensors: int = 0
    bytes_by_type: Counter[str] = field(default_factory=Counter)
    end: int = 0


def read_raw(file: BinaryIO, size: int, *, wanted: Callable[[str], bool]) -> RawHeader:
    """Read the metadata and the tensor table of the open `file` of `size` bytes.

    Args:
        file: At its start.
        size: Of the whole file, weights included.
        wanted: Whether the value of a key is kept.

    Raises:
        BadFileError: where the file isn't GGUF, or isn't whole, or is beyond the bounds.
    """
    reader = Reader(file, size)
    _check_version(reader)
    tensors, entries = reader.number(U64), reader.number(U64)
    if entries > MAX_ENTRIES or tensors > MAX_ENTRIES:
        message = "its header claims an impossible number of entries"
        raise BadFileError(message)
    values: dict[str, Value] = {}
    lengths: dict[str, int] = {}
    for _ in range(entries):
        key = reader.text(MAX_KEY)
        value = _read_value(reader, keep=wanted(key))
        if isinstance(value, _Length):
            lengths[key] = value.items
            value = value.kept
        if value is not None and (not isinstance(value, str) or key.startswith(_TEXT_KEYS)):
            values[key] = value
    alignment = values.get("general.alignment", 32)
    if not isinstance(alignment, int) or not 0 < alignment <= 2**20 or alignment & (alignment - 1):
        message = "its alignment is impossible"
        raise BadFileError(message)
    by_type, end = _read_tensors(reader, tensors, alignment=alignment)
    return RawHeader(values, lengths, tensors, by_type, end)


def _check_version(reader: Reader) -> None:
    if reader.left < 24 or reader.take(4) != b"GGUF":
        message = "it is not a GGUF file"
        raise BadFileError(message)
    version = reader.number(U32)
    if version & 0xFFFF == 0 and version:
        message = "it was made for big-endian computers"
        raise BadFileError(message)
    if version not in (2, 3):
        message = f"it is a GGUF file of version {version}, and Lutrin reads versions 2 and 3"
        raise BadFileError(message)


@dataclass(frozen=True)
class _Length:
    items: int
    kept: list[Scalar] | None


def _read_value(reader: Reader, *, keep: bool) -> Value | _Length | None:
    kind = reader.number(U32)
    if kind == _STRING:
        if keep:
            return reader.text(MAX_TEXT)
        reader.skip_strings(1)
        return None
    if kind == _ARRAY:
        return _read_array(reader, keep=keep)
    scalar = _scalar(kind)
    if keep:
        return reader.scalar(scalar)
    reader.skip(scalar.size)
    return None


def _scalar(kind: int) -> struct.Struct:
    if kind not in _SCALARS:
        message = "its header holds an unknown kind of value"
        raise BadFileError(message)
    return _SCALARS[kind]


def _read_array(reader: Reader, *, keep: bool) -> _Length:
    kind, count = reader.number(U32), reader.number(U64)
    if kind == _STRING:
        reader.skip_strings(count)
        return _Length(count, None)
    scalar = _scalar(kind)
    if keep and count <= MAX_KEPT_ITEMS:
        return _Length(count, [reader.scalar(scalar) for _ in range(count)])
    reader.skip(count * scalar.size)
    return _Length(count, None)


def _read_tensors(reader: Reader, count: int, *, alignment: int) -> tuple[Counter[str], int]:
    by_type: Counter[str] = Counter()
    end = 0
    for _ in range(count):
        reader.text(MAX_KEY)
        name, size = _tensor_size(reader)
        offset = reader.number(U64)
        if offset % alignment:
            message = "its table of weights is damaged"
            raise BadFileError(message)
        by_type[name] += size
        end = max(end, offset + size)
    start = -(-reader.position // alignment) * alignment
    if count and start + end > reader.size:
        missing = (start + end - reader.size) / 1e6
        message = f"it is not whole: {max(missing, 0.1):,.1f} MB are missing at its end"
        raise BadFileError(message)
    return by_type, start + end


def _tensor_size(reader: Reader) -> tuple[str, int]:
    """Read a tensor's dimensions and type; return the type's name and the size in bytes."""
    dimensions = reader.number(U32)
    if not 0 < dimensions <= MAX_DIMENSIONS:
        message = "its table of weights is damaged"
        raise BadFileError(message)
    shape = [reader.number(U64) for _ in range(dimensions)]
    kind = reader.number(U32)
    if kind not in TENSOR_TYPES:
        message = f"its weights are in a number format that Lutrin doesn't know (ggml type {kind})"
        raise BadFileError(message)
    name, block, size = TENSOR_TYPES[kind]
    numbers = 1
    for length in shape:
        numbers *= length
    if shape[0] % block or numbers > MAX_NUMBERS:
        message = "its table of weights is damaged"
        raise BadFileError(message)
    return name, numbers // block * size
