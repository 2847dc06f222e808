"""What a generation is asked for, and its figures. Knows no engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Guide(Protocol):
    """Constrains decoding: says, token by token, what may come next."""

    def allowed(self) -> Sequence[int] | None:
        """Return the only tokens that may come next; None where any may."""

    def forbidden(self) -> Sequence[int]:
        """Return tokens that may not come next, where any other may."""

    def accept(self, token: int, piece: str) -> None:
        """Note the token that was decoded, and its text."""


Message = tuple[str, str | tuple[str, ...]]
"""Role and text; a text in parts is tokenized part by part."""


@dataclass(frozen=True)
class Splice:
    """A block of a prompt that may be spliced in by its saved KV state instead of prefilled.

    Attributes:
        start: Of its first token in the prompt.
        end: Behind its last token.
        load: Returns the state, and the position of the block's first token when it was
            prefilled; None where there is none any more.
    """

    start: int
    end: int
    load: Callable[[], tuple[bytes, int] | None]


@dataclass(frozen=True)
class Sampling:
    """How the next token is sampled.

    Attributes:
        temperature: 0 is greedy: always the likeliest token.
        seed: For temperatures above 0.
    """

    temperature: float = 0.0
    seed: int = 0


@dataclass
class Generation:
    """Figures of one generation; they are complete once its text has ended.

    Attributes:
        prompt_tokens: Length of the prompt.
        reused_tokens: Of these, how many were not computed again.
        spliced: The starts of the blocks that were spliced in.
        prefill_s: Seconds of the prefill.
        generated_tokens: Tokens decoded.
        decode_s: Seconds for decoding them.
        certainty: Mean log-probability (natural) of the tokens that were sampled.
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
        """Throughput of decoding."""
        return self.generated_tokens / self.decode_s if self.decode_s > 0 else 0.0
