"""What a model backend must do: `engine.Engine` is the one for llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from desktop.core.llm.runtime.generation import Generation, Guide, Message, Sampling, Splice
    from desktop.core.llm.runtime.kv_cache import KVStates


class EngineLike(Protocol):
    """What answering uses of an engine; the docstrings of `engine.Engine` say more.

    Attributes:
        context_tokens: The context window, in tokens.
        notice: What the user is to know of how the model is run; "" for nothing.
    """

    context_tokens: int
    notice: str

    def resize(self, context_tokens: int) -> None:
        """Make room for another window."""

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a text."""

    @property
    def splices(self) -> bool:
        """Whether parts of a prompt can be put in by their states."""

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt for some messages."""

    def chat_in_parts(self, messages: Sequence[Message]) -> tuple[list[int], list[int]]:
        """Return it with the places where the parts of the last message begin."""

    def prefill_block(
        self, before: Sequence[int], piece: Sequence[int], *, cancelled: Callable[[], bool] = ...
    ) -> tuple[bytearray, int]:
        """Return the state of a piece and how many tokens were read for it."""

    @property
    def identity(self) -> str:
        """What changes the bytes of a state beside the model's file and the tokens."""

    def begin(
        self, start: Sequence[int], states: KVStates, *, cancelled: Callable[[], bool] = ...
    ) -> Generation:
        """Hold what prompts to come begin with."""

    def generate(
        self,
        prompt: Sequence[int],
        figures: Generation,
        *,
        most_tokens: int,
        sampling: Sampling | None = None,
        reading: Callable[[int, int], None] = ...,
        cancelled: Callable[[], bool] = ...,
        fresh: bool = False,
        grammar: str = ...,
        guide: Guide | None = ...,
        kept: int = ...,
        states: KVStates | None = ...,
        splices: Sequence[Splice] = ...,
    ) -> Iterator[str]:
        """Yield the continuation of a prompt."""

    def odds(
        self,
        prompt: Sequence[int],
        words: Sequence[str],
        others: Sequence[str],
        *,
        splices: Sequence[Splice] = ...,
        cancelled: Callable[[], bool] = ...,
    ) -> float:
        """Return the logarithm of the odds that a reply begins with some words, not with others."""

    def close(self) -> None:
        """Free the memory."""
