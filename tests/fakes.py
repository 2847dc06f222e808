"""A deterministic embedder, a language model with a queue of replies, and a model store for it."""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.embedding import TokenVectors
from desktop.core.llm.models.store import StoredModel
from desktop.core.llm.runtime.generation import Generation
from desktop.core.text.normalisation import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from desktop.core.llm.hardware.machine_info import Machine
    from desktop.core.llm.runtime.generation import Guide, Message, Sampling, Splice
    from desktop.core.llm.runtime.kv_cache import KVStates


class FakeEmbedder:
    """Words hashed into 32 dimensions; a token is a word."""

    identity = "fake@1"
    dimension = 32

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        return [[match.start() for match in re.finditer(r"\S+", text)] for text in texts]

    def load(self) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                digest = hashlib.blake2s(word.encode()).digest()
                vectors[row, digest[0] % self.dimension] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        words = [re.findall(r"\w+", text.lower()) for text in texts]
        return [
            TokenVectors(
                self.embed(each),
                np.array([0.1 if word in STOP_WORDS else 1.0 for word in each], dtype=np.float32),
            )
            for each in words
        ]


class FakeEngine:
    """Answers with the next of its replies, word by word."""

    notice = ""

    def __init__(self, *replies: str, context_tokens: int = 4096, delay_s: float = 0.0) -> None:
        self.replies = list(replies)
        self.context_tokens = context_tokens
        self.delay_s = delay_s
        self.prompts: list[str] = []
        self.grammars: list[str] = []
        self.shared: list[str] = []
        self.closed = False
        self._asked = ""
        self.started_with = 0

    def resize(self, context_tokens: int) -> None:
        self.context_tokens = context_tokens

    def tokenize(self, text: str) -> list[int]:
        return list(range(len(text.split())))

    def chat(self, messages: Sequence[Message]) -> list[int]:
        said = [(role, "".join(text)) for role, text in messages]
        self._asked = "\n".join(f"{role}: {text}" for role, text in said)
        return self.tokenize(self._asked)

    def chat_in_parts(self, messages: Sequence[Message]) -> tuple[list[int], list[int]]:
        return self.chat(messages), [0, 0]

    def prefill_block(
        self,
        before: Sequence[int],
        piece: Sequence[int],
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[bytearray, int]:
        raise NotImplementedError

    splices = False

    @property
    def identity(self) -> str:
        return "fake"

    def begin(
        self,
        start: Sequence[int],
        states: KVStates,
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Generation:
        del states, cancelled
        self.started_with = len(start)
        return Generation()

    def generate(
        self,
        prompt: Sequence[int],
        figures: Generation,
        *,
        most_tokens: int,
        sampling: Sampling | None = None,
        reading: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
        fresh: bool = False,
        grammar: str = "",
        guide: Guide | None = None,
        kept: int = 0,
        states: KVStates | None = None,
        splices: Sequence[Splice] = (),
    ) -> Iterator[str]:
        del sampling, fresh, guide, kept, states, splices
        self.grammars.append(grammar)
        self.prompts.append(self._asked)
        figures.prompt_tokens = len(prompt)
        reading(len(prompt), len(prompt))
        for piece in re.findall(r"\s*\S+", self.replies.pop(0))[:most_tokens]:
            time.sleep(self.delay_s)
            figures.generated_tokens += 1
            yield piece
            if cancelled():
                figures.finish = "stopped"
                return

    def odds(
        self,
        prompt: Sequence[int],
        words: Sequence[str],
        others: Sequence[str],
        *,
        splices: Sequence[Splice] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> float:
        del prompt, words, others, splices
        if cancelled():
            raise CancelledError
        self.shared.append(self._asked)
        return 0.75

    def close(self) -> None:
        self.closed = True


class FakeModelStore:
    """A model store with the models it is given; the first is the default."""

    def __init__(self, *names: str) -> None:
        self._models = {
            name: StoredModel(
                name, name, True, 1, 4096, Path(f"/models/{name}.gguf"), "", False, name
            )
            for name in names
        }

    def get(self, name: str) -> StoredModel:
        if name not in self._models:
            raise UserFacingError(f"There is no model {name}", "See `lutrin models`")
        return self._models[name]

    def default(self, _preferred: str | None, _machine: Machine) -> StoredModel | None:
        return next(iter(self._models.values()), None)
