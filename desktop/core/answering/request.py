"""What an answer is made of before it is one: the question, who listens, an engine, a draft."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

# decode() reads the hints.
from desktop.core.answering.prompt.context import Source  # noqa: TC001
from desktop.core.records import LeftOut, Mode, Progress, Timings, Turn
from desktop.core.retrieval.results import RetrievalResult  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from desktop.core.llm.runtime.generation import Generation, Guide, Message, Sampling, Splice
    from desktop.core.llm.runtime.kv_cache import KVStates


@dataclass(frozen=True)
class Request:
    """A question with all that writing its answer needs.

    Attributes:
        found: What was looked up.
        model: Name of the model; None for the default.
        history: Earlier turns, oldest first.
        fresh: Use nothing that was read before.
        attempt: 0 at first; a higher number gives another wording.
        reordered: Read the same in another arrangement, see `ModeContext`.
        map_reduce: Read the whole part a few pages at a time, see `map_reduce`.
    """

    question: str
    mode: Mode
    found: RetrievalResult
    model: str | None = None
    history: tuple[Turn, ...] = ()
    fresh: bool = False
    attempt: int = 0
    reordered: bool = False
    map_reduce: bool = False


@dataclass(frozen=True)
class Draft:
    """What the model wrote, and from what; nothing of it is proved yet.

    Attributes:
        text: The model's text.
        model: The model's name.
        sources: What it read, in the order of reading.
        left_out: What did not fit; None where everything did.
        notes: Sentences for the user.
        stopped: True where the user stopped it.
        certainty: Mean natural logarithm of the probability of the tokens written; 0 is certain.
        self_evaluation: Natural logarithm of the odds, by the model, that the passages answer; None
            where it was not asked.
    """

    text: str
    model: str
    sources: tuple[Source, ...]
    timings: Timings = field(default_factory=Timings)
    left_out: tuple[LeftOut, ...] | None = None
    notes: tuple[str, ...] = ()
    stopped: bool = False
    certainty: float = 0.0
    self_evaluation: float | None = None


@dataclass(frozen=True)
class Listener:
    """Who is told how an answer comes along.

    Attributes:
        stage: Told each step: "waiting", "loading", "map_reduce", "reading", "writing".
        token: Gets each piece of text.
        cancelled: Asked whether to stop.
    """

    stage: Callable[[Progress], None] = lambda _progress: None
    token: Callable[[str], None] = lambda _text: None
    cancelled: Callable[[], bool] = lambda: False


class EngineLike(Protocol):
    """What the answerer uses of an engine; see `desktop.core.llm.runtime.engine.Engine`."""

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
