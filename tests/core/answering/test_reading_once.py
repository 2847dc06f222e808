"""A text that is read as a whole is read once, by a real model, also over two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.answering import answerer as answerer_module
from desktop.core.answering.answerer import Answerer
from desktop.core.answering.request import Draft, Listener, Request
from desktop.core.llm.shelf import ModelShelf, ShelfModel
from desktop.core.records import LeftOut, Mode, Turn
from desktop.core.retrieval.findings import Findings
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from desktop.core.library.library import Library

BOOK = makers.book_id("a")
PAGES = [
    f"On page {n} stands a heron. " + f"It waits for fish number {n} in the shallow water. " * 5
    for n in range(1, 9)
]

NARROW, WIDE = 1024, 2048


class Shelf:
    """A shelf with one model."""

    def __init__(self, path: Path) -> None:
        self._model = ShelfModel("tiny", "Tiny", True, 98_000_000, 8192, path, "", False, "0" * 64)

    def default(self, *_: object) -> ShelfModel:
        return self._model


@pytest.fixture
def start(
    library: Library, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Callable[..., Draft]]]:
    """Start an answerer, as with the program; the last one is closed, as at its end."""
    monkeypatch.setattr(
        answerer_module, "fitting", lambda *windows: WIDE if len(windows) > 2 else NARROW
    )
    monkeypatch.setattr(answerer_module, "MOST_TOKENS", 24)
    makers.shelve(library.catalog, BOOK, PAGES, title="Herons")
    running: list[Answerer] = []

    def begin() -> Callable[..., Draft]:
        if running:
            running.pop().close()
        shelf: ModelShelf = Shelf(small_model)  # type: ignore[assignment]
        running.append(Answerer(library, shelf))
        return ask

    def ask(question: str = "What waits?", **more: object) -> Draft:
        hits = tuple(makers.hit(p, 1) for p in library.catalog.passages(BOOK)[:1])
        found = Findings(question, hits, ((BOOK, "Herons"),))
        request = Request(question, Mode.LONG_CONTEXT, found, **more)  # type: ignore[arg-type]
        return running[0].write(request, Listener())

    yield begin
    running.pop().close()


def test_the_second_question_reads_only_itself(
    start: Callable[[], Callable[..., Draft]],
) -> None:
    ask = start()
    first = ask()
    assert first.left_out is None
    assert [source.page for source in first.sources] == list(range(1, 9))
    assert first.timings.prompt_tokens > NARROW  # the window was made wider
    second = ask("Where does it stand?")
    assert second.timings.prompt_tokens - second.timings.reused_tokens < 40


def test_and_so_it_does_in_the_next_run(start: Callable[[], Callable[..., Draft]]) -> None:
    first = start()()
    ask = start()
    again = ask()
    assert again.text == first.text
    assert again.timings.prompt_tokens - again.timings.reused_tokens < 40
    fresh = ask(fresh=True)
    assert fresh.timings.reused_tokens == 0
    assert fresh.text == first.text


def test_a_conversation_goes_on_behind_the_text(
    start: Callable[[], Callable[..., Draft]],
) -> None:
    ask = start()
    first = ask()
    history = (Turn("What waits?", first.text),)
    leaning = ask("And why?", history=history)
    unread = leaning.timings.prompt_tokens - leaning.timings.reused_tokens
    assert unread < 40
    assert leaning.timings.prompt_tokens > first.timings.prompt_tokens


def test_what_does_not_fit_is_said_and_not_kept(
    start: Callable[[], Callable[..., Draft]],
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answerer_module, "fitting", lambda *_: NARROW)
    ask = start()
    states = library.states.usage().states
    draft = ask()
    assert draft.left_out
    assert all(isinstance(part, LeftOut) for part in draft.left_out)
    assert draft.timings.prompt_tokens + 24 <= NARROW
    assert library.states.usage().states == states + 1  # the start of every prompt


def test_a_book_takes_its_states_along(
    start: Callable[[], Callable[..., Draft]], library: Library
) -> None:
    start()()
    assert library.states.usage(BOOK).states == 1
    library.remove(BOOK)
    library.purge(BOOK)
    assert library.states.usage(BOOK).states == 0
