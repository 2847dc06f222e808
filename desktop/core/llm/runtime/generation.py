"""How text is generated, and the figures of one generation. Knows no engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Guide(Protocol):
    """Says, token by token, what a model may write next."""

    def allowed(self) -> Sequence[int] | None:
        """Return the only tokens that may come next; None where any may."""

    def forbidden(self) -> Sequence[int]:
        """Return tokens that may not come next, where any other may."""

    def take(self, token: int, piece: str) -> None:
        """Note the token that came, and its text."""


Message = tuple[str, str | tuple[str, ...]]
"""Role and text; a text in parts is tokenized part by part."""


@dataclass(frozen=True)
class Splice:
    """A part of a prompt that may be put in by its state instead of being read.

    Attributes:
        start: Of its first token in the prompt.
        end: Behind its last token.
        load: Returns the state, and the place where the part began when it was read; None where
            there is none any more.
    """

    start: int
    end: int
    load: Callable[[], tuple[bytes, int] | None]


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
        reused_tokens: Of these, how many were known from before.
        spliced: The starts of the parts that were put in by their states.
        prefill_s: Seconds for reading the prompt.
        generated_tokens: Tokens written.
        decode_s: Seconds for writing them.
        certainty: Mean natural logarithm of the probability of the tokens written.
        finish: "end", "length" or "stopped".
    """

    prompt_tokens: int = 0
    reused_tokens: int = 0
    spliced: set[int] = field(default_factory=set)
    prefill_s: float = 0.0
    generated_tokens: int = 0
    decode_s: float = 0.0
    certainty: float = 0.0
    finish: str = "end"

    @property
    def tokens_per_s(self) -> float:
        """Speed of writing."""
        return self.generated_tokens / self.decode_s if self.decode_s > 0 else 0.0
