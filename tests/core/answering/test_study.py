"""A book that is read ahead by a real model: what is kept, what it spares, who goes first."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering import answerer as answerer_module
from desktop.core.answering import holder
from desktop.core.answering.answerer import Answerer
from desktop.core.answering.request import Draft, Listener, Request
from desktop.core.answering.study import Studied, study
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.where import Where
from desktop.core.llm.states import StateStore
from desktop.core.records import Mode
from desktop.core.retrieval.findings import Findings
from tests.core import makers
from tests.core.answering.test_reading_once import Shelf
from tests.fakes import FakeEngine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.core.llm.shelf import ModelShelf
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
        shelf: ModelShelf = Shelf(path)  # type: ignore[assignment]
        self.library = library
        self.answerer = Answerer(library, shelf)
        self.stages: list[Progress] = []
        self.stop_after: int | None = None

    def study(self, **where: Any) -> Studied:
        listener = Listener(stage=self.stages.append, cancelled=self._cancelled)
        part = Where((BOOK,), **where)
        return study(self.library, self.answerer.models, part, None, listener)

    def _cancelled(self) -> bool:
        done = [stage.done for stage in self.stages if stage.stage == "studying"]
        return self.stop_after is not None and max(done, default=0) >= self.stop_after

    def ask(self, *pages: int, **more: Any) -> Draft:
        passages = self.library.catalog.passages(BOOK)
        hits = tuple(makers.hit(passages[page - 1], 1) for page in pages)
        found = Findings("What waits?", hits, ((BOOK, "Herons"),), where=Where((BOOK,)))
        return self.answerer.write(
            Request("What waits?", Mode.RETRIEVAL, found, **more), Listener()
        )


@pytest.fixture
def student(
    library: Library, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Student]:
    monkeypatch.setattr(holder, "fitting", lambda *_: 2048)
    monkeypatch.setattr(answerer_module, "MOST_ANSWER_TOKENS", 24)
    made = Student(library, small_model)
    yield made
    made.answerer.close()


def test_what_was_read_ahead_is_not_read_for_an_answer(student: Student) -> None:
    before = student.ask(2, 5)
    assert not any(source.leaf or source.reused for source in before.sources)
    studied = student.study()
    assert (studied.book, studied.model) == (BOOK, "tiny")
    assert (studied.done, studied.passages) == (8, 8)
    assert studied.bytes == student.library.states.usage(BOOK).bytes > 0
    assert studied.tokens_per_s > 0
    after = student.ask(2, 5)
    assert [source.page for source in after.sources] == [5, 2]
    assert all(source.leaf and source.reused for source in after.sources)
    times = after.timings
    spared = sum(source.tokens for source in after.sources)
    assert times.reused_tokens >= spared
    assert times.prompt_tokens - times.reused_tokens < 140
    fresh = student.ask(2, 5, fresh=True)
    assert fresh.timings.reused_tokens == 0
    assert not any(source.leaf for source in fresh.sources)


def test_a_second_time_nothing_is_left_to_read(student: Student) -> None:
    first = student.study()
    again = student.study()
    assert again.tokens_per_s == 0
    assert (again.done, again.bytes) == (first.done, first.bytes)


def test_a_part_is_read_by_itself(student: Student) -> None:
    studied = student.study(pages=(3, 4))
    assert (studied.done, studied.passages) == (2, 2)
    sources = student.ask(2, 3).sources
    assert [(source.page, source.reused) for source in sources] == [(3, True), (2, False)]


def test_stopped_it_keeps_what_it_has_and_goes_on_from_there(student: Student) -> None:
    student.stop_after = 3
    with pytest.raises(CancelledError):
        student.study()
    kept = student.library.states.usage(BOOK).states
    assert 3 <= kept < 8
    student.stop_after = None
    student.stages.clear()
    assert student.study().done == 8
    assert student.library.states.usage(BOOK).states == 8


def test_an_answer_goes_first(student: Student) -> None:
    student.answerer.load(None, Listener())
    thread = threading.Thread(target=student.study, daemon=True)
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
    student.study(pages=(1, 1))
    one = student.library.states.usage(BOOK).bytes
    student.library.states.clear()
    student.library.states = StateStore(student.library.paths.states, quota=lambda: 3 * one)
    studied = student.study()
    assert studied.full
    assert 1 <= studied.done < 8
    assert studied.bytes <= 3 * one


def test_a_book_takes_what_was_read_along(student: Student) -> None:
    student.study()
    student.library.remove(BOOK)
    student.library.purge(BOOK)
    assert student.library.states.usage(BOOK).states == 0


def test_a_model_that_can_not_be_spliced_is_said(student: Student) -> None:
    student.answerer = Answerer(
        student.library, student.answerer.models._shelf, make_engine=lambda *_: FakeEngine()
    )
    with pytest.raises(UserFacingError, match="can't read ahead"):
        student.study()


def test_there_is_no_such_part(student: Student) -> None:
    with pytest.raises(UserFacingError, match="no such pages"):
        student.study(pages=(80, 90))
