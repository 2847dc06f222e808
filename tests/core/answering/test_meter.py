from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.answering import loaded as loaded_models
from desktop.core.answering import meter
from desktop.core.answering.answerer import Answerer
from desktop.core.answering.loaded import LoadedModel
from desktop.core.answering.meter import MOST_ANSWER_TOKENS
from desktop.core.answering.request import Listener
from desktop.core.errors import UserFacingError
from desktop.core.library.where import Where
from desktop.core.llm.generation import Generation
from desktop.core.llm.gguf import memory_needed
from desktop.core.records import Page
from tests.core import makers
from tests.core.llm.test_room import MODEL
from tests.fakes import FakeEngine, FakeShelf

if TYPE_CHECKING:
    from desktop.core.library.library import Library

BOOK = makers.book_id("a")
SECTIONS = ["1 Birds \u203a 1.1 Herons", "1 Birds \u203a 1.2 Owls", "2 Fish"]
TEXTS = ["one two three", "four five six", "seven eight nine ten"]


@pytest.fixture
def book(library: Library) -> Where:
    makers.shelve(library.catalog, BOOK, TEXTS)
    passages = [
        makers.passage(BOOK, number, text, section=section)
        for number, (text, section) in enumerate(zip(TEXTS, SECTIONS, strict=True), 1)
    ]
    pages = [Page(number, "", text) for number, text in enumerate(TEXTS, 1)]
    library.catalog.commit_pages(BOOK, pages, passages)
    return Where((BOOK,))


@pytest.fixture
def loaded(library: Library) -> LoadedModel:
    return LoadedModel(FakeShelf("small").get("small"), FakeEngine(), library)


def test_the_parts_of_a_book(library: Library, book: Where) -> None:
    del book
    birds, herons, owls, fish = meter.parts(library.catalog, BOOK)
    assert [birds.level, herons.level, owls.level, fish.level] == [0, 1, 1, 0]
    assert [birds.chapter, herons.chapter, fish.chapter] == [True, False, True]
    assert birds.pages == (1, 2)
    assert birds.sections == tuple(SECTIONS[:2])
    assert birds.characters == len(TEXTS[0]) + len(TEXTS[1])
    assert birds.label == "Chapter 1 \u00b7 Birds"
    assert fish.sections == (SECTIONS[2],)


def test_what_reading_takes(library: Library, book: Where, loaded: LoadedModel) -> None:
    whole = meter.measure(loaded, library.catalog, book)
    assert whole.pages == 3
    assert whole.fits
    assert whole.most < loaded.engine.context_tokens - MOST_ANSWER_TOKENS
    assert whole.seconds is None  # it has not read anything yet
    part = Where((BOOK,), sections=(SECTIONS[2],))
    less = meter.measure(loaded, library.catalog, part)
    assert less.pages == 1
    assert len(TEXTS[2].split()) <= less.tokens < whole.tokens
    loaded.note(Generation(prompt_tokens=1000, reused_tokens=200, prefill_s=8.0))
    assert (meter.measure(loaded, library.catalog, book).seconds or 0.0) > 0


def test_what_does_not_fit_is_said(library: Library, book: Where, loaded: LoadedModel) -> None:
    loaded.engine.context_tokens = (
        MOST_ANSWER_TOKENS + 1 + len(loaded.engine.chat(meter.prompts.load().messages("?", (), ())))
    )
    found = meter.measure(loaded, library.catalog, book)
    assert found.most == 1
    assert not found.fits
    assert not found.known
    assert found.seconds is None
    loaded.note(Generation(prompt_tokens=1000, prefill_s=10.0))
    through = meter.measure(loaded, library.catalog, book).seconds
    assert through == pytest.approx(found.tokens * 0.01 * meter.THROUGH, rel=0.1)


def test_a_book_that_is_gone_is_an_error(library: Library, loaded: LoadedModel) -> None:
    with pytest.raises(UserFacingError, match="no longer in the library"):
        meter.measure(loaded, library.catalog, Where((makers.book_id("b"),)))


def test_the_answerer_needs_a_model_to_measure(library: Library, book: Where) -> None:
    with pytest.raises(UserFacingError, match="No language model"):
        Answerer(library, FakeShelf()).measure(book, None, Listener())  # type: ignore[arg-type]


class Short:
    """A computer with too little memory for what the model could read."""

    memory_available = 0


@pytest.fixture
def big(library: Library, monkeypatch: pytest.MonkeyPatch) -> LoadedModel:
    """A model with a window of 4,096 tokens on a computer without a free byte."""
    monkeypatch.setattr(loaded_models, "survey", Short)
    monkeypatch.setattr(loaded_models, "read_header", lambda _path: MODEL)
    return LoadedModel(FakeShelf("big").get("big"), FakeEngine(), library)


def test_the_figures_of_short_memory_are_those_of_the_widest_window(
    library: Library, book: Where, big: LoadedModel
) -> None:
    short = meter.measure(big, library.catalog, book).short
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
    wide = LoadedModel(FakeShelf("w").get("w"), FakeEngine(context_tokens=8192), library)
    assert wide.notices() == ()
