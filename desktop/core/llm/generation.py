"""How text is generated, and the figures of one generation. Knows no engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Guide(Protocol):
    """Says, token by token, what a model may write next."""

    def allowed(self) -> Sequence[int] | None:
        """Return the only tokens that may come next; None where any may."""

    def forbidden(self) -> Sequence[int]:
        """Return tokens that may not come next, where any other may."""

    def take(self, token: int, piece: str) -> None:
        """Note the token that came, and its text."""


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen.

    Attributes:
        temperature: 0 takes the likeliest token always.
        seed: For temperatures above 0.
    """

    temperature: float = 0.0
    seed: int = 0


@dataclass
class Generation:
    """Figures of one generation; they are complete once its text has ended.

    Attributes:
        prompt_tokens: Length of the prompt.
        reused_tokens: Of these, how many were still in the memory from before.
        prefill_s: Seconds for reading the prompt.
        generated_tokens: Tokens written.
        decode_s: Seconds for writing them.
        certainty: Mean natural logarithm of the probability of the tokens written.
        finish: "end", "length" or "stopped".
    """

    prompt_tokens: int = 0
    reused_tokens: int = 0
    prefill_s: float = 0.0
    generated_tokens: int = 0
    decode_s: float = 0.0
    certainty: float = 0.0
    finish: str = "end"

    @property
    def tokens_per_s(self) -> float:
        """Speed of writing."""
        return self.generated_tokens / self.decode_s if self.decode_s > 0 else 0.0
