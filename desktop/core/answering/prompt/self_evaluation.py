"""Asking a model whether what it has read answers the question.

The idea is P(True) of Kadavath et al. (Language Models (Mostly) Know What They Know, 2022). It
costs only the end of a prompt that the model holds already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.errors import CancelledError

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.answering.prompt.assembly import AssembledPrompt
    from desktop.core.answering.prompt.prompts import Prompts
    from desktop.core.answering.request import EngineLike


def self_evaluation(
    engine: EngineLike, texts: Prompts, prompt: AssembledPrompt, cancelled: Callable[[], bool]
) -> float | None:
    """Return the natural logarithm of the odds, by a model, that what it read answers.

    Args:
        engine: Runs the model.
        texts: The prompts, which say what is asked; None is returned where they do not.
        prompt: What was answered.
        cancelled: Asked whether to stop; None is returned then.
    """
    if not texts.asks:
        return None
    tokens = engine.chat(texts.asked(prompt.messages))
    if len(tokens) > engine.context_tokens:
        return None
    try:
        odds = engine.odds(tokens, texts.yes, texts.no, splices=prompt.splices, cancelled=cancelled)
    except CancelledError:
        return None
    return round(odds, 4)
