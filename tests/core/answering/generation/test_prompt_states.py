"""A text that is read as a whole is read once, by a real model, also over two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering.generation import answer_generator as answerer_module
from desktop.core.answering.generation import model_manager
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.generation.loaded_model import LoadedModel
from desktop.core.answering.request import Draft, Listener, Request
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.models.store import ModelStore, StoredModel
from desktop.core.records import LeftOut, Mode, Turn
from desktop.core.retrieval.results import RetrievalResult
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from desktop.core.answering.modes.budget import Estimate
    from desktop.core.library.library import Library

BOOK = makers.book_id("a")
PAGES = [
    f"On page {n} stands a heron. " + f"It waits for fish number {n} in the shallow water. " * 5
    for n in range(1, 9)
]

NARROW, WIDE = 1024, 2048


class OneModel:
    """A model store with one model."""

    def __init__(self, path: Path) -> None:
        self._model = StoredModel("tiny", "Tiny", True, 98_000_000, 8192, path, "", False, "0" * 64)

    def default(self, *_: object) -> StoredModel:
        return self._model


class Run:
    """One run of the program, with a question at a time."""

    def __init__(self, library: Library, path: Path) -> None:
        model_store: ModelStore = OneModel(path)  # type: ignore[assignment]
        self._hits = tuple(makers.hit(p, 1) for p in library.catalog.passages(BOOK)[:1])
        self.answerer = AnswerGenerator(library, model_store)

    def ask(self, question: str = "What waits?", **more: Any) -> Draft:
        found = RetrievalResult(question, self._hits, ((BOOK, "Herons"),))
        return self.answerer.generate(
            Request(question, Mode.LONG_CONTEXT, found, **more), Listener()
        )

    def estimate(self) -> Estimate:
        return self.answerer.estimate(SearchFilter((BOOK,)), None, Listener())


@pytest.fixture
def start(
    library: Library, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Run]]:
    """Start a run; the one before it is closed."""
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: NARROW)
    monkeypatch.setattr(LoadedModel, "widest", lambda _: WIDE)
    monkeypatch.setattr(answerer_module, "MOST_ANSWER_TOKENS", 24)
    makers.shelve(library.catalog, BOOK, PAGES, title="Herons")
    runs: list[Run] = []

    def begin() -> Run:
        if runs:
            runs[-1].answerer.close()
        runs.append(Run(library, small_model))
        return runs[-1]

    yield begin
    runs[-1].answerer.close()


def test_the_second_question_reads_only_itself(
    start: Callable[[], Run],
) -> None:
    run = start()
    first = run.ask()
    assert first.left_out is None
    assert [source.page for source in first.sources] == list(range(1, 9))
    assert first.timings.prompt_tokens > NARROW  # the window was made wider
    second = run.ask("Where does it stand?")
    assert second.timings.prompt_tokens - second.timings.reused_tokens < 40


def test_and_so_it_does_in_the_next_run(start: Callable[[], Run]) -> None:
    run = start()
    assert not run.estimate().known
    first = run.ask()
    run = start()
    estimate = run.estimate()
    assert estimate.known
    assert (estimate.seconds or 0.0) > 0
    again = run.ask()
    assert again.text == first.text
    assert again.timings.prompt_tokens - again.timings.reused_tokens < 40
    fresh = run.ask(fresh=True)
    assert fresh.timings.reused_tokens == 0
    assert fresh.text == first.text


def test_a_conversation_goes_on_behind_the_text(
    start: Callable[[], Run],
) -> None:
    run = start()
    first = run.ask()
    history = (Turn("What waits?", first.text),)
    leaning = run.ask("And why?", history=history)
    unread = leaning.timings.prompt_tokens - leaning.timings.reused_tokens
    assert unread < 40
    assert leaning.timings.prompt_tokens > first.timings.prompt_tokens


def test_what_does_not_fit_is_said_and_not_kept(
    start: Callable[[], Run],
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LoadedModel, "widest", lambda _: NARROW)
    run = start()
    states = library.states.usage().states
    draft = run.ask()
    assert draft.left_out
    assert all(isinstance(part, LeftOut) for part in draft.left_out)
    assert draft.timings.prompt_tokens + 24 <= NARROW
    assert library.states.usage().states == states + 1  # the start of every prompt


def test_a_book_takes_its_states_along(start: Callable[[], Run], library: Library) -> None:
    start().ask()
    assert library.states.usage(BOOK).states == 1
    library.remove(BOOK)
    library.purge(BOOK)
    assert library.states.usage(BOOK).states == 0
