"""What an answer is made of before it is one: the request, who listens, the draft."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

# decode() reads the hints.
from desktop.core.answering.prompt.context import Source  # noqa: TC001
from desktop.core.records import LeftOut, Mode, Progress, Timings, Turn
from desktop.core.retrieval.results import RetrievalResult  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Callable


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
