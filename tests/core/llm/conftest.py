"""Small GGUF files and small catalogue models, made byte by byte."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.llm.models.catalogue import CatalogueModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.llm.models.catalogue import Source

KINDS = {"u32": (4, "<I"), "f32": (6, "<f"), "bool": (7, "<?"), "u64": (10, "<Q"), "i32": (5, "<i")}


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def item(value: Any) -> bytes:
    """A typed value: str, ("u32", 5), ["list", "of", "str"] or ("u32", [1, 2])."""
    if isinstance(value, str | bytes):
        return struct.pack("<I", 8) + text(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    kind, number = value
    code, layout = KINDS[kind]
    if isinstance(number, list):
        packed = b"".join(struct.pack(layout, n) for n in number)
        return struct.pack("<IIQ", 9, code, len(number)) + packed
    return struct.pack("<I", code) + struct.pack(layout, number)


def plain_values(tokens: int = 50) -> dict[str, Any]:
    return {
        "general.architecture": "qwen2",
        "general.type": "model",
        "general.name": "Tiny Test",
        "general.file_type": ("u32", 15),
        "qwen2.context_length": ("u32", 2048),
        "qwen2.block_count": ("u32", 2),
        "qwen2.embedding_length": ("u32", 64),
        "qwen2.attention.head_count": ("u32", 4),
        "qwen2.attention.head_count_kv": ("u32", 2),
        "tokenizer.ggml.tokens": [f"token{n}" for n in range(tokens)],
        "tokenizer.ggml.scores": ("f32", [0.0] * tokens),
        "tokenizer.chat_template": "{{ messages }}",
        "general.quantized_by": "nobody",
        "qwen2.rope.freq_base": ("f32", 1e6),
    }


def build(
    values: dict[str, Any] | None = None,
    *,
    drop: tuple[str, ...] = (),
    version: int = 3,
    tensors: list[tuple[str, list[int], int, int]] | None = None,
    weights: int | None = None,
    tokens: int = 50,
    fill: bytes = b"\0",
) -> bytes:
    """A GGUF file; `values` are added to plain ones, `tensors` are name, shape, type, offset."""
    entries = {**plain_values(tokens), **(values or {})}
    entries = {key: value for key, value in entries.items() if key not in drop}
    table = [("a.weight", [64, 4], 0, 0), ("b.weight", [256, 2], 12, 1024)]
    table = table if tensors is None else tensors
    data = b"GGUF" + struct.pack("<IQQ", version, len(table), len(entries))
    for key, value in entries.items():
        data += text(key) + item(value)
    for name, shape, kind, offset in table:
        data += text(name) + struct.pack("<I", len(shape))
        data += b"".join(struct.pack("<Q", n) for n in shape)
        data += struct.pack("<IQ", kind, offset)
    data += b"\0" * (-len(data) % 32)
    return data + fill * (1024 + 288 if weights is None else weights)


@pytest.fixture
def gguf() -> Callable[..., bytes]:
    """The builder of GGUF files."""
    return build


@pytest.fixture
def model_of() -> Callable[..., CatalogueModel]:
    """A builder of catalogue models for given bytes."""

    def make(
        data: bytes, *, name: str = "tiny", sources: tuple[Source, ...] = (), **changes: Any
    ) -> CatalogueModel:
        fields: dict[str, Any] = {
            "name": name,
            "title": "Tiny",
            "file": f"{name}-file.gguf",
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "licence": "Apache-2.0",
            "context": 2048,
            "memory_bytes": 10**6,
            "min_memory_gb": 1,
            "min_cores": 1,
            "description": "A model for tests.",
            "sources": sources,
        }
        return CatalogueModel(**{**fields, **changes})

    return make
