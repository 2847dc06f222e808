"""Retrieval: the passages that were found, as many as fit, the best one last.

Nearest to the question it counts most with small models. With `reordered`, what only stands around
it on its page is read before all the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.answering.prompt import recap
from desktop.core.answering.prompt.context import FRAME_TOKENS, Context, from_hit
from desktop.core.text.tables import whole, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.answering.modes.mode import ModeInput
    from desktop.core.records import Hit


def build_context(given: ModeInput) -> Context:
    """Return the passages that were found; the saved blocks that they stand on instead of them."""
    request = given.request
    context = choose(
        request.found.hits, count=given.count, room=given.room, reordered=request.reordered
    )
    if request.fresh or request.reordered:
        return context
    sources = given.blocks.with_saved_blocks(
        context.sources, request.found.where, given.room - recap.MOST_TOKENS
    )
    return replace(context, sources=sources)


def choose(
    hits: Sequence[Hit], *, count: Callable[[str], int], room: int, reordered: bool = False
) -> Context:
    """Return as many passages as fit, the best one last.

    Args:
        hits: What was found, best first.
        count: Tokens of a text.
        room: Most tokens of all sources together.
        reordered: Another order of the same text: what was found, then what stands around it.
    """
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
