"""Constrained decoding of quotations: behind its mark, a line is the end of a given text.

The texts form a trie of tokens, and behind the mark only its branches are allowed. The model
chooses with which word to begin, and at each fork; the rest is forced, and is prefilled in batches
instead of being decoded. It may begin inside a text, since with its first word it can't know yet
where that leads.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MARK = ">"
_END = -1


class QuotingGuide:
    """A constraint (see `generation.Guide`) on a text with quotations, each on a line of its own.

    Args:
        tokenize: The model's tokenizer.
        texts: What may be quoted, each on one line.
        most: Most quotations.
        least: Words of a quotation at least, but of a text that is shorter as a whole.
    """

    def __init__(
        self,
        tokenize: Callable[[str], Sequence[int]],
        texts: Iterable[str],
        *,
        most: int,
        least: int,
    ) -> None:
        marks = tokenize(MARK)
        self._mark = marks[0] if len(marks) == 1 else None
        self._breaks = _single(tokenize, "\n", "\n\n")
        self._marks = _single(tokenize, MARK, f"{MARK}\n", f"{MARK}\n\n", f" {MARK}")
        self._left = most
        self._root: dict[int, Any] = {}
        self._node: dict[int, Any] | None = None
        self._at_start = True
        if not self._breaks:
            return  # such a vocabulary has no end for a line to be told by
        # Behind a space a word has the same tokens whatever comes before and after it.
        word_tokens = cache(lambda word: tokenize(f"{MARK} {word}"))
        for text in texts:
            words = [word_tokens(word) for word in text.split()]
            if any(tokens[0] != self._mark for tokens in words):
                continue
            for begin in range(max(1, len(words) - least + 1)):
                node = self._root
                for tokens in words[begin:]:
                    for token in tokens[1:]:
                        node = node.setdefault(token, {})
                node[_END] = {}

    def allowed(self) -> Sequence[int] | None:
        """See `Guide`."""
        if self._node is None:
            return None
        going_on = [token for token in self._node if token != _END]
        return [*going_on, *self._breaks] if _END in self._node else going_on

    def forbidden(self) -> Sequence[int]:
        """See `Guide`."""
        return self._marks if self._at_start and self._left <= 0 else ()

    def accept(self, token: int, piece: str) -> None:
        """See `Guide`."""
        if self._node is not None:
            self._node = self._node.get(token)
            self._at_start = self._node is None
        elif self._at_start and token == self._mark and self._root:
            self._node = self._root
            self._left -= 1
        else:
            self._at_start = piece.endswith("\n") or (self._at_start and not piece.strip())


def _single(tokenize: Callable[[str], Sequence[int]], *texts: str) -> list[int]:
    """Return the tokens of the texts that are one token each."""
    return [ids[0] for ids in map(tokenize, texts) if len(ids) == 1]
