"""Choosing the next token from what llama.cpp computed, within what may be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from desktop.core.llm.generation import Guide, Sampling


class Sampler:
    """Chooses token after token of one text. To be closed.

    Args:
        context: llama.cpp's context, whose last token has its logits computed at each choice.
        vocab: llama.cpp's vocabulary.
        sampling: How to choose.
        grammar: In GBNF, from the rule `root`; "" for any text.
        guide: Says what may come next.

    Raises:
        ValueError: if llama.cpp can't read the grammar.
    """

    def __init__(
        self, context: Any, vocab: Any, sampling: Sampling, grammar: str, guide: Guide | None
    ) -> None:
        self._context = context
        self._vocab_size = llama_cpp.llama_vocab_n_tokens(vocab)
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

    def choose(self) -> tuple[int, float]:
        """Return the next token and the natural logarithm of its probability, unguided."""
        row = llama_cpp.llama_get_logits_ith(self._context, -1)
        logits = np.ctypeslib.as_array(row, shape=(self._vocab_size,))
        top = float(logits.max())
        whole = top + float(np.log(np.exp(logits - top).sum()))
        before = self._mask(logits)
        token = int(llama_cpp.llama_sampler_sample(self._chain, self._context, -1))
        return token, float(before[token]) - whole

    def _mask(self, logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Take from the logits what may not come next; return them as they were."""
        if self._guide is None:
            return logits
        only, never = self._guide.allowed(), self._guide.forbidden()
        if only is None and not never:
            return logits
        before = logits.copy()
        if only is not None:
            logits[:] = -np.inf
            logits[list(only)] = before[list(only)]
        logits[list(never)] = -np.inf
        return before

    def close(self) -> None:
        """Free llama.cpp's sampler."""
        if self._chain:
            llama_cpp.llama_sampler_free(self._chain)
            self._chain = None
