"""Each model's prefill throughput on this computer, measured in use and kept for estimates."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from desktop.core.llm.models.atomic_import import read_json, write_json

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

MIN_TOKENS = 256
"""A shorter prefill says little of the throughput."""
DOUBLED_AT = 16_384
"""Tokens before one that make it cost twice what the first costs: it attends to all of them."""


class Throughput:
    """Seconds that models take to prefill a token.

    Args:
        file: Where they are kept, JSON; made with the first.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def note(self, model: str, seconds: float, tokens: int, before: int = 0) -> None:
        """Note how long a prefill took.

        Args:
            model: Its name.
            seconds: The time.
            tokens: How many were computed in that time.
            before: How many stood before them.
        """
        if tokens < MIN_TOKENS or seconds <= 0:
            return
        known = {**self._read(), model: seconds / _work(tokens, before)}
        try:
            write_json(self._file, known)
        except OSError as error:
            logger.warning("a model's throughput is not kept: %s", error)

    def seconds(self, model: str, tokens: int) -> float | None:
        """Return about how long a model takes to prefill a text; None where that is not known."""
        each = self._read().get(model)
        return None if each is None else each * _work(tokens, 0)

    def _read(self) -> dict[str, float]:
        try:
            return {name: float(each) for name, each in read_json(self._file).items()}
        except (ValueError, TypeError) as error:
            logger.warning("the models' throughput can't be read: %s", error)
            return {}


def _work(tokens: int, before: int) -> float:
    """Return the cost of a prefill, in that of a token with none before it."""
    return tokens * (1 + (before + tokens / 2) / DOUBLED_AT)
