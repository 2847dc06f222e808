"""A book that is read ahead by a real model: what is kept, what it spares, who goes first."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering.generation import answer_generator as answerer_module
from desktop.core.answering.generation import model_manager
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.generation.prefill import Prefilled, prefill
from desktop.core.answering.request import Draft, Listener, Request
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.runtime.kv_store import KVStore
from desktop.core.records import Mode
from desktop.core.retrieval.results import RetrievalResult
from tests.core import makers
from tests.core.answering.generation.test_prompt_states import OneModel
from tests.fakes import FakeEngine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.core.llm.models.store import ModelStore
    from desktop.core.records import Progress

BOOK = makers.book_id("a")
PAGES = [
    f"On page {n} stands a heron. " + f"It waits for fish number {n} in the shallow water. " * 8
    for n in range(1, 9)
]


class Student:
    """A library with one book, and a model that reads it."""

    def __init__(self, library: Library, path: Path) -> None:
        makers.shelve(library.catalog, BOOK, PAGES, title="Herons")
        model_store: ModelStore = OneModel(path)  # type: ignore[assignment]
        self.library = library
        self.answerer = AnswerGenerator(library, model_store)
        self.stages: list[Progress] = []
        self.stop_after: int | None = None

    def prefill(self, **where: Any) -> Prefilled:
        listener = Listener(stage=self.stages.append, cancelled=self._cancelled)
        part = SearchFilter((BOOK,), **where)
        return prefill(self.library, self.answerer.models, part, None, listener)

    def _cancelled(self) -> bool:
        done = [stage.done for stage in self.stages if stage.stage == "studying"]
        return self.stop_after is not None and max(done, default=0) >= self.stop_after

    def ask(self, *pages: int, **more: Any) -> Draft:
        passages = self.library.catalog.passages(BOOK)
        hits = tuple(makers.hit(passages[page - 1], 1) for page in pages)
        found = RetrievalResult(
            "What waits?", hits, ((BOOK, "Herons"),), where=SearchFilter((BOOK,))
        )
        return self.answerer.generate(
            Request("What waits?", Mode.RETRIEVAL, found, **more), Listener()
        )


@pytest.fixture
def student(
    library: Library, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Student]:
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: 2048)
    monkeypatch.setattr(answerer_module, "MOST_ANSWER_TOKENS", 24)
    made = Student(library, small_model)
    yield made
    made.answerer.close()


def test_what_was_read_ahead_is_not_read_for_an_answer(student: Student) -> None:
    before = student.ask(2, 5)
    assert not any(source.block or source.reused for source in before.sources)
    prefilled = student.prefill()
    assert (prefilled.book, prefilled.model) == (BOOK, "tiny")
    assert (prefilled.done, prefilled.passages) == (8, 8)
    assert prefilled.bytes == student.library.states.usage(BOOK).bytes > 0
    assert prefilled.tokens_per_s > 0
    after = student.ask(2, 5)
    assert [source.page for source in after.sources] == [5, 2]
    assert all(source.block and source.reused for source in after.sources)
    times = after.timings
    spared = sum(source.tokens for source in after.sources)
    assert times.reused_tokens >= spared
    assert times.prompt_tokens - times.reused_tokens < 140
    fresh = student.ask(2, 5, fresh=True)
    assert fresh.timings.reused_tokens == 0
    assert not any(source.block for source in fresh.sources)


def test_a_second_time_nothing_is_left_to_read(student: Student) -> None:
    first = student.prefill()
    again = student.prefill()
    assert again.tokens_per_s == 0
    assert (again.done, again.bytes) == (first.done, first.bytes)


def test_a_part_is_read_by_itself(student: Student) -> None:
    prefilled = student.prefill(pages=(3, 4))
    assert (prefilled.done, prefilled.passages) == (2, 2)
    sources = student.ask(2, 3).sources
    assert [(source.page, source.reused) for source in sources] == [(3, True), (2, False)]


def test_stopped_it_keeps_what_it_has_and_goes_on_from_there(student: Student) -> None:
    student.stop_after = 3
    with pytest.raises(CancelledError):
        student.prefill()
    kept = student.library.states.usage(BOOK).states
    assert 3 <= kept < 8
    student.stop_after = None
    student.stages.clear()
    assert student.prefill().done == 8
    assert student.library.states.usage(BOOK).states == 8


def test_an_answer_goes_first(student: Student) -> None:
    student.answerer.load(None, Listener())
    thread = threading.Thread(target=student.prefill, daemon=True)
    thread.start()
    while not student.library.states.usage(BOOK).states:
        time.sleep(0.01)
    draft = student.ask(8)
    between = student.library.states.usage(BOOK).states
    assert draft.text
    thread.join(120)
    assert between < 8
    assert student.library.states.usage(BOOK).states == 8


def test_it_ends_where_no_more_may_be_kept(student: Student) -> None:
    student.prefill(pages=(1, 1))
    one = student.library.states.usage(BOOK).bytes
    student.library.states.clear()
    student.library.states = KVStore(student.library.paths.states, quota=lambda: 3 * one)
    prefilled = student.prefill()
    assert prefilled.full
    assert 1 <= prefilled.done < 8
    assert prefilled.bytes <= 3 * one


def test_a_book_takes_what_was_read_along(student: Student) -> None:
    student.prefill()
    student.library.remove(BOOK)
    student.library.purge(BOOK)
    assert student.library.states.usage(BOOK).states == 0


def test_a_model_that_can_not_be_spliced_is_said(student: Student) -> None:
    student.answerer = AnswerGenerator(
        student.library, student.answerer.models._model_store, make_engine=lambda *_: FakeEngine()
    )
    with pytest.raises(UserFacingError, match="can't read ahead"):
        student.prefill()


def test_there_is_no_such_part(student: Student) -> None:
    with pytest.raises(UserFacingError, match="no such pages"):
        student.prefill(pages=(80, 90))
