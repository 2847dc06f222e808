from __future__ import annotations

import ctypes
import importlib.util
import os
import random
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.llm.gguf.metadata import TENSOR_TYPES
from desktop.core.llm.gguf.reader import memory_needed, read_header
from desktop.core.llm.runtime.kv_type import KVType

if TYPE_CHECKING:
    from collections.abc import Callable

    Build = Callable[..., bytes]


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[bytes], str]:
    """Write bytes to a file, check that it is refused, and return what the user is told."""

    def check(data: bytes) -> str:
        path = tmp_path / "model.gguf"
        path.write_bytes(data)
        with pytest.raises(UserFacingError) as caught:
            read_header(path)
        assert "model.gguf" in caught.value.what
        return caught.value.what

    return check


@pytest.mark.parametrize("version", [2, 3])
def test_a_header_tells_what_a_model_is(tmp_path: Path, gguf: Build, version: int) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(version=version))
    header = read_header(path)
    assert (header.architecture, header.name) == ("qwen2", "Tiny Test")
    assert (header.context_length, header.layers, header.embedding_length) == (2048, 2, 64)
    assert (header.heads, header.kv_heads, header.key_length, header.value_length) == (4, 2, 16, 16)
    assert (header.vocabulary, header.file_type, header.tensors) == (50, "Q4_K_M", 2)
    assert header.template == "{{ messages }}"
    assert header.size_bytes == path.stat().st_size
    assert not header.recurrent
    assert header.sliding_window == 0


def test_a_header_may_leave_things_out(tmp_path: Path, gguf: Build) -> None:
    path = tmp_path / "model.gguf"
    drop = (
        "general.type", "general.name", "general.file_type", "tokenizer.chat_template",
        "qwen2.attention.head_count_kv", "tokenizer.ggml.tokens",
    )  # fmt: skip
    path.write_bytes(
        gguf(
            {
                "qwen2.attention.head_count": ("i32", [4, 8]),
                "qwen2.vocab_size": ("u32", 77),
                "qwen2.ssm.state_size": ("u32", 16),
                "qwen2.attention.sliding_window": ("u32", 512),
            },
            drop=drop,
        )
    )
    header = read_header(path)
    assert (header.name, header.template, header.vocabulary) == ("", None, 77)
    assert (header.heads, header.kv_heads) == (8, 8)
    assert header.recurrent
    assert header.sliding_window == 512
    assert header.file_type == "F32"  # most bytes


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"general.type": "adapter"}, "LoRA"),
        ({"general.type": "mmproj"}, "picture"),
        ({"general.architecture": "clip"}, "picture"),
        ({"general.type": "imatrix"}, "imatrix"),
        ({"general.architecture": "bert"}, "doesn't write"),
        ({"split.count": ("u32", 3)}, "one of 3 parts"),
        ({"qwen2.block_count": ("u32", 0)}, "damaged"),
        ({"qwen2.context_length": "long"}, "lacks"),
        ({"qwen2.context_length": ("f32", 1.5)}, "damaged"),
        ({"general.architecture": ("u32", 5)}, "kind"),
        ({"general.alignment": ("u32", 0)}, "alignment"),
        ({"general.alignment": ("u32", 48)}, "alignment"),
    ],
)
def test_what_is_not_a_language_model_is_refused(
    gguf: Build, refused: Callable[[bytes], str], values: dict[str, Any], said: str
) -> None:
    assert said in refused(gguf(values))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a GGUF"),
        (b"GGUF", "not a GGUF"),
        (b"%PDF-1.7" + b"x" * 100, "not a GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 1, 1, 1), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 9, 1, 1), "version 9"),
        (b"GGUF" + struct.pack(">IQQ", 3, 1, 1), "big-endian"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 2**60), "impossible number"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 1), "impossible number"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**62), "impossibly long"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 60_000), "not whole"),
    ],
)
def test_hostile_starts_are_refused(
    refused: Callable[[bytes], str], data: bytes, said: str
) -> None:
    assert said in refused(data)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (struct.pack("<IIQ", 9, 8, 2**61), "impossible number"),
        (struct.pack("<IIQ", 9, 8, 4_000_000), "not whole"),
        (struct.pack("<IIQ", 9, 4, 2**61), "not whole"),
        (struct.pack("<IIQ", 9, 9, 1), "unknown kind"),
        (struct.pack("<I", 99), "unknown kind"),
        (struct.pack("<IQ", 8, 2**63), "not whole"),
    ],
)
def test_hostile_values_are_refused(
    refused: Callable[[bytes], str], value: bytes, said: str
) -> None:
    key = b"some.key"
    start = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key
    assert said in refused(start + value + b"\0" * 64)


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (("a", [64, 4], 0, 2**40), "missing"),
        (("a", [2**62, 4], 0, 0), "damaged"),
        (("a", [2**50], 0, 0), "missing"),
        (("a", [33], 2, 0), "damaged"),
        (("a", [32], 77, 0), "number format"),
        (("a", [], 0, 0), "damaged"),
        (("a", [1] * 9, 0, 0), "damaged"),
        (("a", [32], 0, 7), "damaged"),
    ],
)
def test_hostile_tensors_are_refused(
    gguf: Build, refused: Callable[[bytes], str], tensor: Any, said: str
) -> None:
    assert said in refused(gguf(tensors=[tensor]))


def test_a_file_without_weights_is_refused(gguf: Build, refused: Callable[[bytes], str]) -> None:
    assert "no weights" in refused(gguf(tensors=[]))


def test_a_huge_text_in_a_huge_file_is_refused(
    tmp_path: Path, refused: Callable[[bytes], str]
) -> None:
    path = tmp_path / "sparse.gguf"
    key = b"general.name"
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key)
        file.write(struct.pack("<IQ", 8, 2**33))
        file.truncate(2**34)
    with pytest.raises(UserFacingError, match="impossibly long"):
        read_header(path)
    with path.open("r+b") as file:
        file.seek(24)
        file.write(b"x" * 20)
    with pytest.raises(UserFacingError):
        read_header(path)


def test_missing_and_unreadable_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="can't be read"):
        read_header(tmp_path / "none.gguf")
    with pytest.raises(UserFacingError, match="not an ordinary file"):
        read_header(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UserFacingError, match="not an ordinary file"):
            read_header(tmp_path / "pipe")


def test_every_truncation_is_refused(tmp_path: Path, gguf: Build) -> None:
    data = gguf()
    path = tmp_path / "model.gguf"
    for end in range(0, len(data), 64):
        path.write_bytes(data[:end])
        with pytest.raises(UserFacingError):
            read_header(path)


def test_random_damage_is_refused_or_harmless(tmp_path: Path, gguf: Build) -> None:
    data = gguf(weights=1024 + 288)
    header = len(data) - 1312
    path = tmp_path / "model.gguf"
    chance = random.Random(7)
    for _ in range(200):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(header)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            found = read_header(path)
        except UserFacingError:
            continue
        assert found.layers >= 1
        assert memory_needed(found, context_tokens=4096).total > 0


def test_a_large_vocabulary_is_quick(tmp_path: Path, gguf: Build) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(tokens=150_000))
    start = time.process_time()
    assert read_header(path).vocabulary == 150_000
    assert time.process_time() - start < 0.5


def test_memory_needed_is_weights_kv_cache_and_compute_buffer(tmp_path: Path, gguf: Build) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf())
    header = read_header(path)
    need = memory_needed(header, context_tokens=1000)
    assert need.kv == 2 * 2 * 32 * 1000 * 2
    assert need.compute == 512 * 4 * (50 + 2 * 64)
    assert need.total == header.size_bytes + need.kv + need.compute


@pytest.mark.model
def test_the_memory_of_the_small_model_is_as_llama_cpp_says(small_model: Path) -> None:
    header = read_header(small_model)
    assert (header.architecture, header.layers, header.vocabulary) == ("llama", 30, 49152)
    assert (header.context_length, header.file_type) == (8192, "Q4_1")
    assert header.template
    need = memory_needed(header, context_tokens=4096)
    assert need.kv == 90 * 2**20  # llama.cpp: "CPU KV buffer size = 90.00 MiB"
    assert need.compute == pytest.approx(98.25 * 2**20, rel=0.01)  # its compute buffer


def test_number_formats_are_ggmls() -> None:
    """The table against the library itself, loaded without its Python package."""
    found = importlib.util.find_spec("llama_cpp")
    folders = found.submodule_search_locations if found else None
    library = next(Path(folders[0]).glob("lib/libggml-base.so"), None) if folders else None
    if library is None:
        pytest.skip("no ggml library of this form")
    ggml = ctypes.CDLL(str(library))
    ggml.ggml_type_name.restype = ctypes.c_char_p
    ggml.ggml_blck_size.restype = ctypes.c_int64
    ggml.ggml_type_size.restype = ctypes.c_size_t
    for kind, (name, block, size) in TENSOR_TYPES.items():
        assert ggml.ggml_type_name(kind).decode().upper() == name.upper()
        assert (ggml.ggml_blck_size(kind), ggml.ggml_type_size(kind)) == (block, size)
    for kv in KVType:
        assert TENSOR_TYPES[kv][0] == kv.name
