"""Retrieval: the passages that were found, as many as fit, the best one last.

Nearest to the question it counts most with small models. With `reordered`, what only stands around
it on its page is read before all the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.answering.prompt.context import FRAME_TOKENS, Context, from_hit
from desktop.core.text.tables import whole, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.library.search_filter import SearchFilter
    from desktop.core.records import Hit


def choose(
    catalog: Catalog,
    hits: Sequence[Hit],
    *,
    books: Sequence[str],
    where: SearchFilter,
    count: Callable[[str], int],
    room: int,
    reordered: bool = False,
) -> Context:
    """See `ModeContext`."""
    del catalog, books, where  # only what was found is read
    if reordered:
        pieces = [_parted(hit) for hit in hits]
        hits = [*(found for found, _ in pieces), *(hit for _, around in pieces for hit in around)]
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


def _parted(hit: Hit) -> tuple[Hit, list[Hit]]:
    """Return what was found, with the tables that it touches, and what stands around it."""
    if hit.found is None:
        return hit, []
    passage, text = hit.passage, hit.passage.text
    start, end = whole(hit.tables, *(place - passage.start for place in hit.found))
    spans = [(start, end), (0, start), (end, len(text))]
    found, *around = [
        replace(
            hit,
            passage=replace(
                passage, start=passage.start + a, end=passage.start + b, text=text[a:b]
            ),
            tables=within(hit.tables, a, b),
        )
        for a, b in spans
    ]
    return found, [piece for piece in around if piece.passage.text.strip()]
