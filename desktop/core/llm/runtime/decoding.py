"""The decoding loop: token by token behind the prompt that the KV cache holds."""

from __future__ import annotations

import codecs
import time
from typing import TYPE_CHECKING

from desktop.core.llm.runtime.prefill import BATCH_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from desktop.core.llm.runtime.generation import Generation, Guide
    from desktop.core.llm.runtime.kv_cache import KVCache
    from desktop.core.llm.runtime.prompt_lookup import PromptLookup
    from desktop.core.llm.runtime.sampler import Sampler
    from desktop.core.llm.runtime.vocabulary import Vocabulary


class Decoder:
    """Decodes one text.

    Args:
        kv_cache: Holds the prompt, whose last token has its logits computed.
        vocabulary: The model's.
        sampler: Samples the tokens.
        guide: Constrains the decoding; told each token.
        lookup: Drafts tokens for speculative decoding; None where the KV cache can't be cut.
    """

    def __init__(
        self,
        kv_cache: KVCache,
        vocabulary: Vocabulary,
        sampler: Sampler,
        guide: Guide | None,
        lookup: PromptLookup | None,
    ) -> None:
        self._kv_cache = kv_cache
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._guide = guide
        self._lookup = lookup
        self._pending: list[int] = []  # decoded, and not in the KV cache yet
        self._draft: list[int] = []  # in the KV cache, and neither accepted nor rejected yet

    def decode(
        self, figures: Generation, max_tokens: int, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        """Yield the text piece by piece; see `Engine.generate`."""
        characters = codecs.getincrementaldecoder("utf-8")("replace")
        start = time.monotonic()
        figures.finish = "length"
        sampled = 0
        try:
            for decoded in range(max_tokens):
                token = self._sampler.forced()
                if token is None:
                    token, log_probability = self._next(max_tokens - decoded - 1)
                    sampled += 1
                    figures.certainty += (log_probability - figures.certainty) / sampled
                if self._vocabulary.is_end(token):
                    figures.finish = "end"
                    break
                figures.generated_tokens += 1
                figures.decode_s = time.monotonic() - start
                piece = characters.decode(self._vocabulary.token_bytes(token))
                self._append(token, piece)
                if piece:
                    yield piece
                if cancelled():
                    figures.finish = "stopped"
                    break
            rest = characters.decode(b"", final=True)
            if rest:
                yield rest
        finally:
            figures.decode_s = time.monotonic() - start
            self._reject_draft()
            self._sampler.close()

    def _next(self, max_draft: int) -> tuple[int, float]:
        """Sample the next token; evaluate what is pending first, with a draft behind it."""
        if self._pending:
            self._draft = self._lookup.draft(max_draft) if self._lookup else []
            tokens = [*self._pending, *self._draft]
            self._kv_cache.evaluate(tokens, outputs=len(self._draft) + 1)
            self._pending = []
        token, log_probability = self._sampler.sample(len(self._draft))
        if self._draft and self._lookup:
            self._lookup.record(accepted=token == self._draft[0])
        return token, log_probability

    def _append(self, token: int, piece: str) -> None:
        """Add a token that was sampled or forced."""
        if self._draft[:1] == [token]:  # accepted: it is in the KV cache already
            self._draft = self._draft[1:]
        else:
            self._reject_draft()
            self._pending.append(token)
        if len(self._pending) == BATCH_TOKENS:
            self._kv_cache.evaluate(self._pending)
            self._pending = []
        if self._lookup is not None:
            self._lookup.append(token)
        if self._guide is not None:
            self._guide.accept(token, piece)

    def _reject_draft(self) -> None:
        self._kv_cache.drop_last(len(self._draft))
        self._draft = []
