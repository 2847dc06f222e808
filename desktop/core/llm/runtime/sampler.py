"""Sampling the next token from llama.cpp's logits, within the constraints of a guide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from desktop.core.llm.runtime.generation import Guide, Sampling


class Sampler:
    """Samples token after token of one text. To be closed.

    Args:
        context: llama.cpp's context, whose last token has its logits computed before each sampling.
        vocab: llama.cpp's vocabulary.
        sampling: How to sample.
        grammar: In GBNF, from the rule `root`; "" for any text.
        guide: Constrains what may come next.

    Raises:
        ValueError: if llama.cpp can't read the grammar.
    """

    def __init__(
        self, context: Any, vocab: Any, sampling: Sampling, grammar: str, guide: Guide | None
    ) -> None:
        self._context = context
        self._vocab = vocab
        self._guide = guide
        self._chain = llama_cpp.llama_sampler_chain_init(
            llama_cpp.llama_sampler_chain_default_params()
        )
        parts = []
        if grammar:
            rules = llama_cpp.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
            if not rules:
                self.close()
                message = "the grammar is not one that llama.cpp reads"
                raise ValueError(message)
            parts.append(rules)
        if sampling.temperature <= 0:
            parts.append(llama_cpp.llama_sampler_init_greedy())
        else:
            parts += [
                llama_cpp.llama_sampler_init_top_k(40),
                llama_cpp.llama_sampler_init_top_p(0.95, 1),
                llama_cpp.llama_sampler_init_temp(sampling.temperature),
                llama_cpp.llama_sampler_init_dist(sampling.seed),
            ]
        for part in parts:
            llama_cpp.llama_sampler_chain_add(self._chain, part)

    def forced(self) -> int | None:
        """Return the next token where only one may come: nothing needs to be computed for it."""
        only = self._guide.allowed() if self._guide else None
        return only[0] if only and len(only) == 1 else None

    def sample(self, before: int = 0) -> tuple[int, float]:
        """Return the next token and its log-probability without the guide.

        Args:
            before: How many tokens before the last one that was evaluated it comes behind.
        """
        place = -1 - before
        log_probabilities = log_softmax(self._context, self._vocab, place)
        self._mask(_logits(self._context, self._vocab, place))
        token = int(llama_cpp.llama_sampler_sample(self._chain, self._context, place))
        return token, float(log_probabilities[token])

    def _mask(self, logits: npt.NDArray[np.float32]) -> None:
        """Mask the logits of what may not come next."""
        if self._guide is None:
            return
        only, never = self._guide.allowed(), self._guide.forbidden()
        if only is not None:
            kept = logits[list(only)]
            logits[:] = -np.inf
            logits[list(only)] = kept
        logits[list(never)] = -np.inf

    def close(self) -> None:
        """Free llama.cpp's sampler."""
        if self._chain:
            llama_cpp.llama_sampler_free(self._chain)
            self._chain = None


def _logits(context: Any, vocab: Any, place: int) -> npt.NDArray[np.float32]:
    """Return llama.cpp's own logits behind a token, which may be changed."""
    size = llama_cpp.llama_vocab_n_tokens(vocab)
    return np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, place), shape=(size,))


def log_softmax(context: Any, vocab: Any, place: int = -1) -> npt.NDArray[np.float32]:
    """Return the log-probabilities (natural) of what comes next.

    Args:
        context: llama.cpp's context.
        vocab: llama.cpp's vocabulary.
        place: Behind which of the tokens whose logits were computed; -1 for the last one.
    """
    logits = _logits(context, vocab, place)
    above = logits - logits.max()
    result: npt.NDArray[np.float32] = above - np.log(np.exp(above).sum())
    return result
