"""What an answer is made of before it is written: the question, who listens, and an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

# decode() reads the hints of a request.
from desktop.core.records import Hit, Mode, Progress, Turn  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from desktop.core.llm.generation import Generation, Sampling


@dataclass(frozen=True)
class Request:
    """A question with all that answering it needs.

    Attributes:
        model: Name of the model; None for the default.
        history: Earlier turns, oldest first.
        hits: Passages that were found, best first.
        books: Ids of the books that are asked.
        pages: First and last page to keep to; None for all.
        absent: Names in the question that occur nowhere in the books.
        retrieve_s: Seconds that finding took; counted into the time to the first word.
        fresh: Use nothing that was read before.
        attempt: 0 at first; a higher number gives another wording.
    """

    question: str
    mode: Mode
    hits: tuple[Hit, ...]
    books: tuple[str, ...]
    pages: tuple[int, int] | None = None
    model: str | None = None
    history: tuple[Turn, ...] = ()
    absent: tuple[str, ...] = ()
    retrieve_s: float = 0.0
    fresh: bool = False
    attempt: int = 0


@dataclass(frozen=True)
class Listener:
    """Who is told how an answer comes along.

    Attributes:
        stage: Told each step: "waiting", "loading", "reading", "writing".
        token: Gets each piece of text.
        cancelled: Asked whether to stop.
    """

    stage: Callable[[Progress], None] = lambda _progress: None
    token: Callable[[str], None] = lambda _text: None
    cancelled: Callable[[], bool] = lambda: False


class EngineLike(Protocol):
    """What the answerer uses of an engine; see `desktop.core.llm.engine.Engine`."""

    context_tokens: int

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Return the tokens of a text."""

    def chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the prompt for some messages."""

    def read(self, prompt: Sequence[int], *, cancelled: Callable[[], bool] = ...) -> None:
        """Read the start of prompts to come."""

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
    ) -> Iterator[str]:
        """Yield the continuation of a prompt."""

    def close(self) -> None:
        """Free the memory."""
