"""A recap: what of its sources a model reads once more, right before the question.

A block that is put in by its state was read by itself: it knows nothing of the question, nor of the
other blocks, and a small model then copies a number wrong or takes the row beside the right one.
The sentences and rows that share most with the question are therefore read again, where all that
is before them is known. (CacheBlend, Yao et al., EuroSys 2025, reads the tokens again whose states
deviate most; llama.cpp does not show states layer by layer.)
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.answering.prompt.context import quotable
from desktop.core.text import terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.answering.prompt.context import Source

MOST_TOKENS = 56
"""Of all that is read again: each token is one more before the first word."""
MOST_TEXTS = 4
_LEAST_TOKENS = 12
"""A smaller rest is left."""
_SHORT = 8
_LENGTH = 0.3
"""A text of n terms counts 1 / (n + `_SHORT`) ** `_LENGTH`: long ones share more by chance."""


@dataclass(frozen=True)
class Recap:
    """What is read again of one source.

    Attributes:
        page: The source's.
        text: Sentences and rows of tables, each on a line.
    """

    page: int
    text: str


def recap(
    question: str, sources: Sequence[Source], count: Callable[[str], int]
) -> tuple[Recap, ...]:
    """Return what of sources is to be read again, in their order: nothing where none is a block.

    Args:
        question: What is asked.
        sources: What is read, the best one last.
        count: Tokens of a text.
    """
    if not any(source.block for source in sources):
        return ()
    texts = [(n, text) for n, source in enumerate(sources) for text in quotable([source])]
    known = [set(terms.of_text(text)) for _, text in texts]
    often = Counter(term for each in known for term in each)
    asked = set(terms.of_query(question))

    def worth(place: int) -> float:
        shared = sum(math.log(1 + len(texts) / often[term]) for term in asked & known[place])
        return shared / math.pow(len(known[place]) + _SHORT, _LENGTH)

    chosen: list[int] = []
    left = MOST_TOKENS
    for place in sorted(range(len(texts)), key=lambda n: (worth(n), texts[n][0]), reverse=True):
        if not worth(place) or left < _LEAST_TOKENS or len(chosen) == MOST_TEXTS:
            break
        tokens = count(texts[place][1])
        if tokens <= left:
            chosen.append(place)
            left -= tokens
    return tuple(
        Recap(
            source.page,
            "\n".join(texts[place][1] for place in sorted(chosen) if texts[place][0] == n),
        )
        for n, source in enumerate(sources)
        if any(texts[place][0] == n for place in chosen)
    )
