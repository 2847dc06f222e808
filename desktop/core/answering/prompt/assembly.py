"""Putting a prompt together from its sources, and what may spare reading parts of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from desktop.core.answering.prompt.context import quoting_guide
from desktop.core.answering.prompt.recap import recap
from desktop.core.records import Turn
from desktop.core.retrieval.query_rewriting import leans_on_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.answering.prompt.blocks import PromptBlocks
    from desktop.core.answering.prompt.context import Source
    from desktop.core.answering.prompt.prompts import Prompts
    from desktop.core.answering.request import EngineLike
    from desktop.core.llm.runtime.constrained_decoding import QuotingGuide
    from desktop.core.llm.runtime.generation import Message, Splice

TURN_WORDS = 90
"""Words kept of an earlier answer: enough to say what "it" is, without reading it all again."""
_MARKER = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True)
class AssembledPrompt:
    """A prompt, ready for an engine.

    Attributes:
        messages: What it is made of.
        tokens: The whole of it.
        splices: Parts of it that may be put in by their saved states.
        guide: Lets what is written quote the sources, word for word.
        shared: How many first tokens are alike whatever is asked of its sources; 0 where the
            sources are not what it begins with.
    """

    messages: list[Message]
    tokens: list[int]
    splices: list[Splice]
    guide: QuotingGuide
    shared: int = 0


def assemble(
    blocks: PromptBlocks,
    question: str,
    sources: Sequence[Source],
    history: Sequence[Turn] = (),
    *,
    first: bool = False,
    recapped: bool = True,
) -> AssembledPrompt:
    """Return the prompt for a question about sources.

    Args:
        blocks: The blocks of the model that reads, with its prompt texts.
        question: What is asked.
        sources: What is read, in this order.
        history: Earlier turns to go on from.
        first: Whether the sources come before the earlier turns, so that prompts about the same
            ones begin alike.
        recapped: Whether what shares most with the question is read again behind the sources.
    """
    engine, texts = blocks.engine, blocks.texts
    again = recap(question, sources, lambda text: len(engine.tokenize(text))) if recapped else ()
    messages = texts.messages(question, sources, history, first=first, recaps=again)
    tokens, places = engine.chat_in_parts(messages)
    return AssembledPrompt(
        messages,
        tokens,
        blocks.splices(sources, places),
        quoting_guide(sources, engine.tokenize),
        shared_prefix(engine, texts, tokens, sources) if first else 0,
    )


def shared_prefix(
    engine: EngineLike, texts: Prompts, prompt: Sequence[int], sources: Sequence[Source]
) -> int:
    """Return how many first tokens of a prompt are alike whatever is asked of its sources."""
    other = engine.chat(texts.messages("", sources, (), first=True))
    same = takewhile(lambda pair: pair[0] == pair[1], zip(prompt, other, strict=False))
    return sum(1 for _ in same)


def turns_to_go_on(question: str, history: Sequence[Turn]) -> list[Turn]:
    """Return the turn before, where a question leans on it; its answer shortened, unmarked."""
    if not history or not leans_on_before(question):
        return []
    turn = history[-1]
    words = _MARKER.sub("", turn.answer).split()
    return [Turn(turn.question, " ".join(words[:TURN_WORDS]))]
