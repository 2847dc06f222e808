"""Speculative decoding by prompt lookup: draft tokens are copied from the text so far.

Answers repeat their sources, and evaluating several tokens in one batch takes little more time
than one, since the weights pass through the processor once. So where the last tokens form an
n-gram that stood before, the tokens that followed it there are drafted and evaluated together
with the next one. Those that the model would not have sampled are rejected: the text is the same,
and comes sooner.

Prompt lookup decoding (Saxena, 2023); the verification is that of speculative decoding (Leviathan
et al., ICML 2023), and as there the length of a draft follows from its cost and from the share of
draft tokens that are accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_NGRAM, MAX_NGRAM = 2, 4
"""Lengths of the n-grams that are looked up, in tokens."""
MAX_DRAFT = 8
"""Tokens of a draft at most."""
_PRIOR = {2: (4, 8), 3: (5, 8), 4: (7, 8)}
"""By the length of the n-gram: accepted and drafted tokens that count as seen before the first."""
_DEFAULT_COST = 0.3
"""The cost of one more token in a batch, as a share of that of one alone, until it is measured."""
_MIN_BATCH = 32
"""Tokens from which on a batch tells what one more costs."""
_WEIGHT = 0.2
"""Weight of a new figure in an exponential moving average."""


class BatchCosts:
    """What evaluating tokens costs on this machine, in seconds; measured as it goes."""

    def __init__(self) -> None:
        self._single = 0.0
        self._batched = 0.0

    def record(self, tokens: int, seconds: float) -> None:
        """Note how long a batch of some tokens took."""
        if tokens == 1:
            self._single = _average(self._single, seconds)
        elif tokens >= _MIN_BATCH:
            self._batched = _average(self._batched, seconds / tokens)

    @property
    def per_extra_token(self) -> float:
        """The cost of one more token in a batch, where one alone costs 1."""
        known = self._single and self._batched
        return self._batched / self._single if known else _DEFAULT_COST


class PromptLookup:
    """Drafts the continuation of one text.

    Args:
        prompt: The tokens before the first that is decoded.
        costs: What evaluating tokens costs.
    """

    def __init__(self, prompt: Sequence[int], costs: BatchCosts) -> None:
        self._costs = costs
        self._tokens = list(prompt)
        self._ngrams: dict[tuple[int, ...], int] = {}  # -> where the token behind it stands
        self._indexed = 0
        self._acceptance = dict(_PRIOR)
        self._matched = MIN_NGRAM

    def append(self, token: int) -> None:
        """Add a token that was decoded."""
        self._tokens.append(token)

    def draft(self, max_tokens: int) -> list[int]:
        """Return draft tokens; none where no n-gram matches or a draft would not pay."""
        self._index()
        for length in range(min(MAX_NGRAM, len(self._tokens)), MIN_NGRAM - 1, -1):
            place = self._ngrams.get(tuple(self._tokens[-length:]))
            if place is not None:
                self._matched = length
                return self._tokens[place : place + self._best_length(min(max_tokens, MAX_DRAFT))]
        return []

    def record(self, *, accepted: bool) -> None:
        """Note whether the first token of the last draft was accepted."""
        good, drafted = self._acceptance[self._matched]
        self._acceptance[self._matched] = good + accepted, drafted + 1

    def _index(self) -> None:
        """Index the n-grams of new tokens; not before the first draft, behind the first token."""
        for place in range(self._indexed, len(self._tokens)):
            for length in range(MIN_NGRAM, min(MAX_NGRAM, place) + 1):
                self._ngrams[tuple(self._tokens[place - length : place])] = place
        self._indexed = len(self._tokens)

    def _best_length(self, max_tokens: int) -> int:
        """Return the length of a draft that brings most tokens for the time.

        With an acceptance rate a, n draft tokens bring 1 + a + ... + a^n tokens.
        """
        good, drafted = self._acceptance[self._matched]
        rate = good / drafted
        best, length, expected = 1.0, 0, 1.0
        for count in range(1, max_tokens + 1):
            expected += rate**count
            if (gain := expected / (1 + count * self._costs.per_extra_token)) > best:
                best, length = gain, count
        return length


def _average(before: float, new: float) -> float:
    return before + _WEIGHT * (new - before) if before else new
