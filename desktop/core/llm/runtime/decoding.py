"""Writing behind a prompt that a model's memory holds, token by token."""

from __future__ import annotations

import codecs
import time
from typing import TYPE_CHECKING

from desktop.core.llm.runtime.prefill import STEP_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from desktop.core.llm.runtime.generation import Generation, Guide
    from desktop.core.llm.runtime.kv_cache import KVCache
    from desktop.core.llm.runtime.prompt_lookup import PromptLookup
    from desktop.core.llm.runtime.sampler import Sampler
    from desktop.core.llm.runtime.vocabulary import Vocabulary


class Decoder:
    """Writes one text.

    Args:
        memory: What holds the prompt, its last token's logits being computed.
        vocabulary: The model's.
        sampler: Chooses the tokens.
        guide: Told what comes.
        drafts: Guesses what comes; None where the memory can't be cut.
    """

    def __init__(
        self,
        memory: KVCache,
        vocabulary: Vocabulary,
        sampler: Sampler,
        guide: Guide | None,
        drafts: PromptLookup | None,
    ) -> None:
        self._memory = memory
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._guide = guide
        self._drafts = drafts
        self._waiting: list[int] = []  # written, and not read yet
        self._guessed: list[int] = []  # read, and not written yet

    def write(
        self, figures: Generation, most_tokens: int, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        """Yield the text piece by piece; see `Engine.generate`."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        start = time.monotonic()
        figures.finish = "length"
        chosen = 0
        try:
            for written in range(most_tokens):
                token = self._sampler.forced()
                if token is None:
                    token, known = self._choose(most_tokens - written - 1)
                    chosen += 1
                    figures.certainty += (known - figures.certainty) / chosen
                if self._vocabulary.ends(token):
                    figures.finish = "end"
                    break
                figures.generated_tokens += 1
                figures.decode_s = time.monotonic() - start
                piece = decoder.decode(self._vocabulary.raw(token))
                self._take(token, piece)
                if piece:
                    yield piece
                if cancelled():
                    figures.finish = "stopped"
                    break
            rest = decoder.decode(b"", final=True)
            if rest:
                yield rest
        finally:
            figures.decode_s = time.monotonic() - start
            self._memory.drop(len(self._guessed))
            self._sampler.close()

    def _choose(self, room: int) -> tuple[int, float]:
        if self._waiting:
            self._guessed = self._drafts.guess(room) if self._drafts else []
            tokens = [*self._waiting, *self._guessed]
            self._memory.read(tokens, outputs=len(self._guessed) + 1)
            self._waiting = []
        token, known = self._sampler.choose(len(self._guessed))
        if self._guessed and self._drafts:
            self._drafts.judge(right=token == self._guessed[0])
        return token, known

    def _take(self, token: int, piece: str) -> None:
        """Note a token that was chosen or had to come."""
        if self._guessed[:1] == [token]:
            self._guessed = self._guessed[1:]
        else:
            self._memory.drop(len(self._guessed))
            self._guessed = []
            self._waiting.append(token)
        if len(self._waiting) == STEP_TOKENS:
            self._memory.read(self._waiting)
            self._waiting = []
        if self._drafts is not None:
            self._drafts.take(token)
        if self._guide is not None:
            self._guide.take(token, piece)
