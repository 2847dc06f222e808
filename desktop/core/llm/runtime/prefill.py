"""Bringing a prompt into a model's memory: what is there stays, what was kept is put in.

The rest is read. Also reads the pieces of a text ahead, so that their states can be kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.errors import CancelledError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.llm.runtime.generation import Generation, Splice
    from desktop.core.llm.runtime.kv_cache import KVCache, KVStates

STEP_TOKENS = 64
"""Tokens read between two looks at `cancelled`: some 0.6 s with the 1.5B model on two cores, at
the speed of larger steps."""


@dataclass(frozen=True)
class Known:
    """What of a prompt may be known from before.

    Attributes:
        kept: So many first tokens come again in other prompts: their state is looked for in
            `states`, and kept there once they are read.
        states: Where that state is; with `fresh` it is only kept.
        splices: Parts that may be put in by their states, in order.
        fresh: Read the whole prompt even where its start is still in the memory.
    """

    kept: int = 0
    states: KVStates | None = None
    splices: Sequence[Splice] = ()
    fresh: bool = False


def prefill(
    memory: KVCache,
    prompt: Sequence[int],
    figures: Generation,
    known: Known,
    *,
    reading: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool],
) -> None:
    """Make a memory hold a prompt, the last token read anew for what comes behind it.

    Raises:
        CancelledError: if stopped.
    """
    splices = known.splices if memory.splices and not known.fresh else ()
    held = memory.keep(() if known.fresh else prompt[:-1], splices)
    if held < known.kept and known.states is not None and not known.fresh:
        state = known.states.load(prompt[: known.kept])
        if state is not None:
            held = known.kept if memory.restore(prompt[: known.kept], state) else 0
    figures.prompt_tokens, figures.reused_tokens = len(prompt), held
    figures.spliced = {splice.start for splice in splices if splice.end <= held}
    reading(held, len(prompt))
    coming = [splice for splice in splices if splice.start >= held]
    while len(memory) < len(prompt):
        if cancelled():
            raise CancelledError
        first = len(memory)
        if coming and coming[0].start == first:
            splice = coming.pop(0)
            found = splice.load()
            if found and memory.put(prompt[first : splice.end], *found):
                figures.spliced.add(first)
                figures.reused_tokens += splice.end - first
                reading(len(memory), len(prompt))
                continue
        ends = [known.kept, *(splice.start for splice in coming[:1]), len(prompt)]
        last = min(end for end in ends if end > first)
        memory.read(prompt[first : min(first + STEP_TOKENS, last)])
        reading(len(memory), len(prompt))
        if len(memory) == known.kept and known.states is not None:
            known.states.save(prompt[: known.kept], memory.state())


def prefill_block(
    memory: KVCache,
    before: Sequence[int],
    piece: Sequence[int],
    *,
    cancelled: Callable[[], bool],
) -> tuple[bytearray, int]:
    """Read a piece of a text behind some tokens, of which those need not be read that are there.

    Returns:
        The piece's state, for `Splice.load`, and how many tokens were read.

    Raises:
        CancelledError: if stopped.
    """
    whole = [*before, *piece]
    held = memory.keep(before)
    for first in range(held, len(whole), STEP_TOKENS):
        if cancelled():
            raise CancelledError
        memory.read(whole[first : first + STEP_TOKENS])
    return memory.piece(len(before)), len(whole) - held
