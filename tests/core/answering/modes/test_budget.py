from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.answering.generation import loaded_model as loaded_models
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.generation.loaded_model import LoadedModel
from desktop.core.answering.modes import budget
from desktop.core.answering.prompt.context import MOST_ANSWER_TOKENS
from desktop.core.answering.request import Listener
from desktop.core.errors import UserFacingError
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.gguf.reader import memory_needed
from desktop.core.llm.runtime.generation import Generation
from desktop.core.records import Page
from tests.core import makers
from tests.core.llm.hardware.test_memory_plan import MODEL
from tests.fakes import FakeEngine, FakeModelStore

if TYPE_CHECKING:
    from desktop.core.library.library import Library

BOOK = makers.book_id("a")
SECTIONS = ["1 Birds \u203a 1.1 Herons", "1 Birds \u203a 1.2 Owls", "2 Fish"]
TEXTS = ["one two three", "four five six", "seven eight nine ten"]


@pytest.fixture
def book(library: Library) -> SearchFilter:
    makers.shelve(library.catalog, BOOK, TEXTS)
    passages = [
        makers.passage(BOOK, number, text, section=section)
        for number, (text, section) in enumerate(zip(TEXTS, SECTIONS, strict=True), 1)
    ]
    pages = [Page(number, "", text) for number, text in enumerate(TEXTS, 1)]
    library.catalog.commit_pages(BOOK, pages, passages)
    return SearchFilter((BOOK,))


@pytest.fixture
def loaded(library: Library) -> LoadedModel:
    return LoadedModel(FakeModelStore("small").get("small"), FakeEngine(), library)


def test_the_parts_of_a_book(library: Library, book: SearchFilter) -> None:
    del book
    birds, herons, owls, fish = budget.parts(library.catalog, BOOK)
    assert [birds.level, herons.level, owls.level, fish.level] == [0, 1, 1, 0]
    assert [birds.chapter, herons.chapter, fish.chapter] == [True, False, True]
    assert birds.pages == (1, 2)
    assert birds.sections == tuple(SECTIONS[:2])
    assert birds.characters == len(TEXTS[0]) + len(TEXTS[1])
    assert birds.label == "Chapter 1 \u00b7 Birds"
    assert fish.sections == (SECTIONS[2],)


def test_what_reading_takes(library: Library, book: SearchFilter, loaded: LoadedModel) -> None:
    whole = budget.estimate(loaded, library.catalog, book)
    assert whole.pages == 3
    assert whole.fits
    assert whole.most < loaded.engine.context_tokens - MOST_ANSWER_TOKENS
    assert whole.seconds is None  # it has not read anything yet
    part = SearchFilter((BOOK,), sections=(SECTIONS[2],))
    less = budget.estimate(loaded, library.catalog, part)
    assert less.pages == 1
    assert len(TEXTS[2].split()) <= less.tokens < whole.tokens
    loaded.note(Generation(prompt_tokens=1000, reused_tokens=200, prefill_s=8.0))
    assert (budget.estimate(loaded, library.catalog, book).seconds or 0.0) > 0


def test_what_does_not_fit_is_said(
    library: Library, book: SearchFilter, loaded: LoadedModel
) -> None:
    loaded.engine.context_tokens = (
        MOST_ANSWER_TOKENS
        + 1
        + len(loaded.engine.chat(budget.prompts.load().messages("?", (), ())))
    )
    found = budget.estimate(loaded, library.catalog, book)
    assert found.most == 1
    assert not found.fits
    assert not found.known
    assert found.seconds is None
    loaded.note(Generation(prompt_tokens=1000, prefill_s=10.0))
    map_reduce = budget.estimate(loaded, library.catalog, book).seconds
    assert map_reduce == pytest.approx(found.tokens * 0.01 * budget.MAP_REDUCE_COST, rel=0.1)


def test_a_book_that_is_gone_is_an_error(library: Library, loaded: LoadedModel) -> None:
    with pytest.raises(UserFacingError, match="no longer in the library"):
        budget.estimate(loaded, library.catalog, SearchFilter((makers.book_id("b"),)))


def test_the_answerer_needs_a_model_to_measure(library: Library, book: SearchFilter) -> None:
    with pytest.raises(UserFacingError, match="No language model"):
        AnswerGenerator(library, FakeModelStore()).estimate(book, None, Listener())  # type: ignore[arg-type]


class Short:
    """A computer with too little memory for what the model could read."""

    memory_available = 0


@pytest.fixture
def big(library: Library, monkeypatch: pytest.MonkeyPatch) -> LoadedModel:
    """A model with a window of 4,096 tokens on a computer without a free byte."""
    monkeypatch.setattr(loaded_models, "survey", Short)
    monkeypatch.setattr(loaded_models, "read_header", lambda _path: MODEL)
    return LoadedModel(FakeModelStore("big").get("big"), FakeEngine(), library)


def test_the_figures_of_short_memory_are_those_of_the_widest_window(
    library: Library, book: SearchFilter, big: LoadedModel
) -> None:
    short = budget.estimate(big, library.catalog, book).short
    assert short is not None
    assert short.window == 32_768
    assert short.need == memory_needed(MODEL, context_tokens=32_768).total
    assert short.free == memory_needed(MODEL, context_tokens=4096).total  # what it has itself


def test_a_narrow_window_is_said_with_its_figures_and_always_alike(
    big: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notice,) = big.notices()
    assert "big reads 4,096 tokens at once: 8,192 need 1.7 GB, and 1.6 GB are free" in notice
    monkeypatch.setattr(Short, "memory_available", 10_000_000)
    assert big.notices() == (notice,)


def test_what_the_engine_has_to_say_is_a_notice(big: LoadedModel) -> None:
    big.engine.notice = "Slow."
    assert big.notices()[0] == "Slow."


def test_with_the_usual_window_nothing_is_said(library: Library) -> None:
    wide = LoadedModel(FakeModelStore("w").get("w"), FakeEngine(context_tokens=8192), library)
    assert wide.notices() == ()
