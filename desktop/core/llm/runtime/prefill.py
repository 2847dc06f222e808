"""Prefill: bringing the keys and values of a prompt into the KV cache.

What is there is reused, what was saved is loaded or spliced in, and the rest is computed. Also
prefills single blocks of a text, so that their states can be saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.errors import CancelledError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.llm.runtime.generation import Generation, Splice
    from desktop.core.llm.runtime.kv_cache import KVCache, KVStates

BATCH_TOKENS = 64
"""Tokens of a batch, between two looks at `cancelled`: some 0.6 s with the 1.5B model on two
cores, at the throughput of larger batches."""


@dataclass(frozen=True)
class Reuse:
    """What of a prompt need not be computed again.

    Attributes:
        prefix: So many first tokens come again in other prompts: their state is looked for in
            `states`, and saved there once it is computed.
        states: Where that state is; with `fresh` it is only saved.
        splices: Blocks that may be spliced in by their saved states, in order.
        fresh: Compute the whole prompt even where its start is still in the KV cache.
    """

    prefix: int = 0
    states: KVStates | None = None
    splices: Sequence[Splice] = ()
    fresh: bool = False


def prefill(
    kv_cache: KVCache,
    prompt: Sequence[int],
    figures: Generation,
    reuse: Reuse,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool],
) -> None:
    """Make the KV cache hold a prompt, its last token computed anew for the logits behind it.

    Raises:
        CancelledError: if stopped.
    """
    splices = reuse.splices if kv_cache.splices and not reuse.fresh else ()
    held = kv_cache.keep_prefix(() if reuse.fresh else prompt[:-1], splices)
    if held < reuse.prefix and reuse.states is not None and not reuse.fresh:
        state = reuse.states.load(prompt[: reuse.prefix])
        if state is not None:
            held = reuse.prefix if kv_cache.restore(prompt[: reuse.prefix], state) else 0
    figures.prompt_tokens, figures.reused_tokens = len(prompt), held
    figures.spliced = {splice.start for splice in splices if splice.end <= held}
    progress(held, len(prompt))
    coming = [splice for splice in splices if splice.start >= held]
    while len(kv_cache) < len(prompt):
        if cancelled():
            raise CancelledError
        first = len(kv_cache)
        if coming and coming[0].start == first:
            splice = coming.pop(0)
            found = splice.load()
            if found and kv_cache.splice(prompt[first : splice.end], *found):
                figures.spliced.add(first)
                figures.reused_tokens += splice.end - first
                progress(len(kv_cache), len(prompt))
                continue
        ends = [reuse.prefix, *(splice.start for splice in coming[:1]), len(prompt)]
        last = min(end for end in ends if end > first)
        kv_cache.evaluate(prompt[first : min(first + BATCH_TOKENS, last)])
        progress(len(kv_cache), len(prompt))
        if len(kv_cache) == reuse.prefix and reuse.states is not None:
            reuse.states.save(prompt[: reuse.prefix], kv_cache.state())


def prefill_block(
    kv_cache: KVCache,
    prefix: Sequence[int],
    block: Sequence[int],
    *,
    cancelled: Callable[[], bool],
) -> tuple[bytearray, int]:
    """Prefill a block of a text behind a prefix, as far as that is not in the KV cache.

    Returns:
        The block's state, for `Splice.load`, and how many tokens were computed.

    Raises:
        CancelledError: if stopped.
    """
    whole = [*prefix, *block]
    held = kv_cache.keep_prefix(prefix)
    for first in range(held, len(whole), BATCH_TOKENS):
        if cancelled():
            raise CancelledError
        kv_cache.evaluate(whole[first : first + BATCH_TOKENS])
    return kv_cache.state_from(len(prefix)), len(whole) - held
