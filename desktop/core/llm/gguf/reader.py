"""What a GGUF file says of its model, and the memory that the model needs.

Owns the meaning of GGUF metadata. Reads the header only, never the weights, with nothing but the
standard library, so that any process may ask about any file: must not import numpy or llama_cpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.llm.gguf.buffer import BadFileError
from desktop.core.llm.gguf.metadata import RawHeader, read_raw

if TYPE_CHECKING:
    from pathlib import Path

UBATCH = 512  # tokens that llama.cpp computes at once, its default and ours

# llama.h's llama_ftype -> the name on model pages
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M",
    30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4", 39: "NVFP4",
    40: "Q1_0",
}  # fmt: skip

# Architectures that read, hear or see but don't write.
_NOT_WRITERS = frozenset({
    "bert", "clip", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3", "modern-bert",
    "neo-bert", "nomic-bert", "nomic-bert-moe", "t5encoder", "wavtokenizer-dec", "whisper",
})  # fmt: skip

_KEPT = frozenset({
    "general.architecture", "general.type", "general.name", "general.basename",
    "general.file_type", "general.alignment", "tokenizer.chat_template", "split.count",
})  # fmt: skip
_KEPT_ENDINGS = (
    ".context_length", ".block_count", ".embedding_length", ".vocab_size", ".ssm.state_size",
    ".attention.head_count", ".attention.head_count_kv", ".attention.key_length",
    ".attention.value_length", ".attention.sliding_window", ".wkv.head_size",
)  # fmt: skip

_GET_ANOTHER = "Download the file again, or choose another model"


@dataclass(frozen=True)
class ModelHeader:
    """What a GGUF file says of its model.

    Attributes:
        architecture: llama.cpp's name of it, such as "qwen2".
        name: What its maker calls it; empty where the file doesn't say.
        context_length: Native context window in tokens.
        template: Chat template (Jinja), where there is one.
        size_bytes: Size of the file.
        layers: Number of layers.
        embedding_length: Width of a layer, numbers.
        heads: Attention heads a layer (the most, where layers differ); 0 where there are none.
        kv_heads: Heads of keys and values a layer, likewise.
        key_length: Numbers of a key of one head.
        value_length: Numbers of a value of one head.
        vocabulary: Number of tokens that it knows.
        file_type: How its weights are stored, such as "Q4_K_M".
        tensors: Number of tensors.
        sliding_window: Tokens that some of its layers look back at most; 0 where all see all.
        recurrent: Whether it keeps a running state, so that KV states can't be spliced.
    """

    architecture: str
    name: str
    context_length: int
    template: str | None
    size_bytes: int
    layers: int
    embedding_length: int
    heads: int
    kv_heads: int
    key_length: int
    value_length: int
    vocabulary: int
    file_type: str
    tensors: int
    sliding_window: int = 0
    recurrent: bool = False


@dataclass(frozen=True)
class MemoryNeed:
    """Bytes of memory that a model needs: weights, KV cache and compute buffer."""

    weights: int
    kv: int
    compute: int
    total: int


def read_header(path: Path) -> ModelHeader:
    """Return what the model file at `path` says of itself.

    Raises:
        UserFacingError: if the file can't be read, isn't whole, or isn't a model that writes.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():  # opening a pipe would wait for ever
            message = "it is not an ordinary file"
            raise BadFileError(message)
        with path.open("rb") as file:
            raw = read_raw(file, size, wanted=_wanted)
        return _header(raw, size)
    except BadFileError as error:
        what = f"{path.name} can't be used as a model: {error}"
        raise UserFacingError(what, _GET_ANOTHER) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserFacingError(
            f"{path.name} can't be read ({reason})", "Check that the file is there and readable"
        ) from error


def memory_needed(header: ModelHeader, *, context_tokens: int) -> MemoryNeed:
    """Return the memory that answering with a window of `context_tokens` needs, in bytes.

    - weights: the file, mapped into memory. llama.cpp repacks some weights for the processor (597
      of 1,060 MiB for the 1.5B model); what they were repacked from stays in the page cache only
      as long as nobody needs the memory, so it isn't counted, though it shows as resident memory.
    - kv: layers * kv_heads * (key_length + value_length) * context * 2 bytes, for f16. Too much
      where layers slide or are recurrent.
    - compute: 512 * 4 * (vocabulary + 2 * embedding_length): the logits of one batch of 512 tokens
      in f32 and two rows a token. Measured with llama-cpp-python 0.3.36, flash attention, windows
      of 4,096 and 32,768: 98.25 MiB (135M), 302.75 MiB (1.5B); the formula gives the same to the
      byte. Without flash attention, 646 and 848 MiB at 32,768.

    Args:
        header: The model.
        context_tokens: The window to be used, at most the model's own.
    """
    per_token = header.layers * header.kv_heads * (header.key_length + header.value_length)
    kv = per_token * context_tokens * 2
    compute = UBATCH * 4 * (header.vocabulary + 2 * header.embedding_length)
    total = header.size_bytes + kv + compute
    return MemoryNeed(weights=header.size_bytes, kv=kv, compute=compute, total=total)


def _wanted(key: str) -> bool:
    return key in _KEPT or key.endswith(_KEPT_ENDINGS)


def _header(raw: RawHeader, size: int) -> ModelHeader:
    architecture = _check_kind(raw)
    embedding = _number(raw, f"{architecture}.embedding_length", low=1, high=2**20)
    heads = _number(raw, f"{architecture}.attention.head_count", default=0, high=2**16)
    attention = f"{architecture}.attention"
    width = embedding // heads if heads else 0
    named = raw.values.get("general.name") or raw.values.get("general.basename") or ""
    template = raw.values.get("tokenizer.chat_template")
    return ModelHeader(
        architecture=architecture,
        name=_tidy(named),
        context_length=_number(raw, f"{architecture}.context_length", low=1, high=2**31),
        template=template if isinstance(template, str) and template else None,
        size_bytes=size,
        layers=_number(raw, f"{architecture}.block_count", low=1, high=2**14),
        embedding_length=embedding,
        heads=heads,
        kv_heads=_number(raw, f"{attention}.head_count_kv", default=heads, high=2**16),
        key_length=_number(raw, f"{attention}.key_length", default=width, high=2**20),
        value_length=_number(raw, f"{attention}.value_length", default=width, high=2**20),
        vocabulary=_vocabulary(raw, architecture),
        file_type=_file_type(raw),
        tensors=raw.tensors,
        sliding_window=_number(raw, f"{attention}.sliding_window", default=0, high=2**32),
        recurrent=any(
            f"{architecture}{key}" in raw.values for key in (".ssm.state_size", ".wkv.head_size")
        ),
    )


def _check_kind(raw: RawHeader) -> str:
    """Return the architecture of a model that writes text; refuse all else."""
    kind = _tidy(raw.values.get("general.type", "model"))
    architecture = raw.values.get("general.architecture")
    if kind == "adapter":
        message = "it is a LoRA adapter, which only works together with the model it was made for"
        raise BadFileError(message)
    if not isinstance(architecture, str) or not architecture:
        message = "it doesn't say what kind of model it is"
        raise BadFileError(message)
    if kind == "mmproj" or architecture == "clip":
        message = "it is the picture-reading half of a model, not a language model"
        raise BadFileError(message)
    if kind != "model":
        message = f"it holds no language model but {kind or 'something else'}"
        raise BadFileError(message)
    if architecture in _NOT_WRITERS:
        message = f"a model of kind {architecture} doesn't write text"
        raise BadFileError(message)
    if not raw.tensors:
        message = "it holds no weights"
        raise BadFileError(message)
    if (parts := _number(raw, "split.count", default=0, high=2**16)) > 1:
        message = f"it is one of {parts} parts of a model; Lutrin needs the model in one file"
        raise BadFileError(message)
    return architecture


def _number(
    raw: RawHeader, key: str, *, high: int, low: int = 0, default: int | None = None
) -> int:
    """Return the whole number under `key`, the largest where there is one for each layer."""
    value = raw.values.get(key, default)
    if isinstance(value, list):
        value = max(value, default=None)
    if value is None:
        message = f"its header lacks {_tidy(key)}"
        raise BadFileError(message)
    if not isinstance(value, int) or not low <= value <= high:
        message = f"its header is damaged at {_tidy(key)}"
        raise BadFileError(message)
    return int(value)


def _vocabulary(raw: RawHeader, architecture: str) -> int:
    tokens = raw.lengths.get("tokenizer.ggml.tokens", 0)
    return tokens or _number(raw, f"{architecture}.vocab_size", default=0, high=2**24)


def _file_type(raw: RawHeader) -> str:
    """Name the file type, or else the number format of most weights."""
    stated = raw.values.get("general.file_type")
    if isinstance(stated, int) and stated in _FILE_TYPES:
        return _FILE_TYPES[stated]
    return raw.bytes_by_type.most_common(1)[0][0]


def _tidy(text: object) -> str:
    """`text` as one short printable line."""
    return "".join(c for c in str(text) if c.isprintable())[:200].strip()
