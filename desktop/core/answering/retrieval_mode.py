"""Retrieval: the passages that were found, as many as fit, the best one last.

Nearest to the question it counts most with small models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.answering.context import FRAME_TOKENS, Context, from_hit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.library.where import Where
    from desktop.core.records import Hit


def choose(
    catalog: Catalog,
    hits: Sequence[Hit],
    *,
    books: Sequence[str],
    where: Where,
    count: Callable[[str], int],
    room: int,
) -> Context:
    """See `ModeContext`."""
    del catalog, books, where  # only what was found is read
    sources = []
    left = room
    for hit in hits:
        source = from_hit(hit, count)
        left -= source.tokens + FRAME_TOKENS
        if left < 0:
            break
        sources.append(source)
    dropped = len(hits) - len(sources)
    notes = (f"{dropped} of {len(hits)} passages did not fit the window",) if dropped else ()
    return Context(tuple(reversed(sources)), notes=notes)
