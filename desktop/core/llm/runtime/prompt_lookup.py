"""Guessing what a model writes next from what it has read: answers repeat their sources.

Several tokens are read at once in little more time than one, since the weights pass through the
processor once. So what followed the last words where they stood before is read with them, and what
the model would not have written is taken back: the text is the same, and comes sooner. Prompt
lookup decoding (Saxena, 2023); the check is that of speculative decoding (Leviathan et al., ICML
2023), and as there the length of a guess follows from what it costs and how often it is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST, MOST = 2, 4
"""Last tokens that must have stood before in the same order, and most that are compared."""
LONGEST = 8
"""Tokens of a guess at most."""
_PRIOR = {2: (4, 8), 3: (5, 8), 4: (7, 8)}
"""Right of guessed tokens that count as seen before the first, by how many last ones agree."""
_UNKNOWN_COST = 0.3
"""The cost of one more token, as a share of that of one, until it is measured."""
_MANY = 32
"""Tokens from which on a reading tells what one more costs."""
_NEW = 0.2
"""Weight of a new figure in a running mean."""


class Costs:
    """What reading costs on this machine, in seconds; measured as it goes."""

    def __init__(self) -> None:
        self._one = 0.0
        self._more = 0.0

    def note(self, tokens: int, seconds: float) -> None:
        """Note how long reading some tokens at once took."""
        if tokens == 1:
            self._one = _mean(self._one, seconds)
        elif tokens >= _MANY:
            self._more = _mean(self._more, seconds / tokens)

    @property
    def more(self) -> float:
        """What one more token costs that is read with another, where that one costs 1."""
        return self._more / self._one if self._one and self._more else _UNKNOWN_COST


class PromptLookup:
    """Guesses for one text.

    Args:
        prompt: What the model has read.
        costs: What reading costs.
    """

    def __init__(self, prompt: Sequence[int], costs: Costs) -> None:
        self._costs = costs
        self._seen = list(prompt)
        self._after: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self._rates = dict(_PRIOR)
        self._agreed = LEAST

    def take(self, token: int) -> None:
        """Note the token that came."""
        self._seen.append(token)

    def _index(self) -> None:
        """Note what followed on what; not before the first guess, which is after the first word."""
        for place in range(self._indexed, len(self._seen)):
            for length in range(LEAST, min(MOST, place) + 1):
                self._after[tuple(self._seen[place - length : place])] = place
        self._indexed = len(self._seen)

    def guess(self, room: int) -> list[int]:
        """Return what may come next; nothing where that would not pay.

        Args:
            room: Most tokens.
        """
        self._index()
        for length in range(min(MOST, len(self._seen)), LEAST - 1, -1):
            place = self._after.get(tuple(self._seen[-length:]))
            if place is not None:
                self._agreed = length
                return self._seen[place : place + self._worth(min(room, LONGEST))]
        return []

    def judge(self, *, right: bool) -> None:
        """Note whether the next token of the last guess was right."""
        good, all_of_them = self._rates[self._agreed]
        self._rates[self._agreed] = good + right, all_of_them + 1

    def _worth(self, most: int) -> int:
        """Return how many tokens to guess: where most come for the time.

        With a share a right, n guessed tokens bring 1 + a + ... + a^n of them.
        """
        good, all_of_them = self._rates[self._agreed]
        share = good / all_of_them
        best, worth, brought = 1.0, 0, 1.0
        for count in range(1, most + 1):
            brought += share**count
            if (rate := brought / (1 + count * self._costs.more)) > best:
                best, worth = rate, count
        return worth


def _mean(before: float, new: float) -> float:
    return before + _NEW * (new - before) if before else new
