"""Late interaction: each token of the question against each of those of the best passages.

A search compares a question with one vector of a window. Here each token of the question takes the
token of the passage that is nearest to it, in the sense that each has where it stands; the sum of
those similarities is the score. So a question in words that the page does not use still finds the
page that speaks of each of them. Late interaction, as in ColBERT (Khattab and Zaharia, SIGIR
2020), with the embedder that is there instead of one trained for it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from desktop.core.library.embedding import Embedder
    from desktop.core.records import Passage

CANDIDATES = 12
"""Passages looked at again. With 24 as many of the first five are right, in twice the time."""
SECTION = 0.9
"""Weight of a token that only stands in the title of the passage's section."""
BATCH = 4
MOST_S = 1.0
"""After so long no more passages are looked at, so that a slow computer does not wait for it; 12
passages take 0.5 s on two cores."""


def scores(embedder: Embedder, question: str, passages: Sequence[Passage]) -> list[float]:
    """Return how well each of the first passages fits a question, from -1 to 1.

    Args:
        embedder: Makes the vectors of tokens.
        question: What was asked.
        passages: Best first.

    Returns:
        Fewer scores than passages where the time was over.
    """
    end = time.monotonic() + MOST_S
    titles = list(dict.fromkeys(passage.section for passage in passages))
    asked, *above = embedder.embed_tokens([question, *titles])
    if not asked.weights.sum():
        return []
    near = {
        title: _nearest(asked.vectors, t.vectors) for title, t in zip(titles, above, strict=True)
    }
    found: list[float] = []
    for first in range(0, len(passages), BATCH):
        if time.monotonic() > end:
            break
        batch = passages[first : first + BATCH]
        for passage, tokens in zip(
            batch, embedder.embed_tokens([p.text for p in batch]), strict=True
        ):
            own = _nearest(asked.vectors, tokens.vectors)
            best = own.clip(min=SECTION * near[passage.section])
            found.append(float(best @ asked.weights / asked.weights.sum()))
    return found


def _nearest(
    asked: npt.NDArray[np.float32], tokens: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return the cosine similarity of each of some tokens to the nearest one of others."""
    similar: npt.NDArray[np.float32] = (asked @ tokens.T).max(axis=1, initial=-1.0)
    return similar
