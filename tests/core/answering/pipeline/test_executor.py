"""Each step of an answer carried out by the part that has what it needs, in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering.generation import model_manager
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.pipeline import steps
from desktop.core.answering.pipeline.executor import execute, execute_in_library
from desktop.core.answering.request import Draft, Listener
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.indexing import Indexer
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Answer, Mode
from tests.core import makers
from tests.fakes import FakeEngine, FakeModelStore

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.library.library import Library

PAGES = [
    "1 Birds\n\nHerons wade in shallow water all year round.",
    "2 Fish\n\nTrout live in cold rivers of the north.",
    "Trout are caught with flies in early summer.",
]
TOC = [(1, "1 Birds", 1), (1, "2 Fish", 2)]


@pytest.fixture
def book(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: 4096)
    added = Indexer(library).add(makers.pdf(tmp_path / "a.pdf", PAGES, toc=TOC, title="Animals"))
    assert added.book
    return added.book.id


def ask(library: Library, text: str, *replies: str, **more: Any) -> Answer:
    engine = FakeEngine(*replies)
    answerer = AnswerGenerator(library, FakeModelStore("small"), make_engine=lambda *_: engine)  # type: ignore[arg-type]
    asked = steps.Question(text, Mode.RETRIEVAL, **more)
    answer = steps.run(
        steps.answer_pipeline(asked), lambda step: execute(step, library, answerer, Listener())
    )
    assert engine.replies == []
    assert not library.turns.answer_under_way()
    return answer


def test_a_question_becomes_a_proved_answer(library: Library, book: str) -> None:
    quote = "Trout live in cold rivers of the north."
    answer = ask(library, "Where do trout live?", f"> {quote}\n\nTrout live in cold rivers.")
    assert answer.answer == f"> {quote[:-1]} [1].\n\nTrout live in cold rivers [1]."
    (citation,) = answer.citations
    page = library.catalog.page(book, citation.page)
    assert page
    assert page.text[citation.start : citation.end] == citation.quote
    assert (citation.page, answer.model, answer.rounds) == (2, "small", 1)


@pytest.mark.usefixtures("book")
def test_a_list_needs_no_model(library: Library) -> None:
    answer = ask(library, "List the chapters")
    assert "- 1 Birds, page 1 [1]\n- 2 Fish, page 2 [2]" in answer.answer


@pytest.mark.usefixtures("book")
def test_a_name_that_is_not_in_the_book_needs_no_model(library: Library) -> None:
    answer = ask(library, "Where do the trout of Darwin live?")
    assert answer.abstained
    assert "Darwin" in answer.notes[0]


@pytest.mark.usefixtures("book")
def test_what_the_model_makes_of_a_place_is_kept_to(library: Library) -> None:
    reply = '{"list": "none", "chapter": "2", "first_page": 0, "last_page": 0, "about": ""}'
    text = "Tell me where trout live, as in the second one, the chapter before the last."
    answer = ask(library, text, reply, "Trout live in cold rivers.")
    assert [limit.label for limit in answer.limits] == ["Chapter 2 · Fish"]
    assert {item.page for item in answer.context} <= {2, 3}


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize("reply", ["", "no", "{}", "[]", '{"list": "none", "chapter": "9"}'])
def test_a_reply_without_sense_changes_nothing(library: Library, reply: str) -> None:
    text = "Tell me where trout live, as in the chapter before the last."
    answer = ask(library, text, reply, "Trout live in cold rivers.")
    assert (answer.limits, answer.abstained) == ((), False)


def test_the_search_waits_its_turn(library: Library, book: str) -> None:
    step = steps.Retrieve("trout", SearchFilter((book,)))
    stages: list[str] = []
    listener = Listener(stage=lambda p: stages.append(p.stage), cancelled=lambda: bool(stages))
    with library.turns.answering(), pytest.raises(CancelledError):
        execute(step, library, AnswerGenerator(library, FakeModelStore("small")), listener)  # type: ignore[arg-type]
    assert stages == ["waiting"]
    assert execute_in_library(library, step).hits  # type: ignore[union-attr]


def test_a_check_compares_meaning_with_the_librarys_embedder(library: Library, book: str) -> None:
    found = execute_in_library(library, steps.Retrieve("trout", SearchFilter((book,))))
    request = steps.Request("trout", Mode.RETRIEVAL, found)  # type: ignore[arg-type]
    asked: list[int] = []
    embed = library.embedder.embed
    library.embedder.embed = lambda texts: (asked.append(len(texts)), embed(texts))[1]  # type: ignore[method-assign]
    from desktop.core.answering.prompt.context import from_hit

    sources = tuple(from_hit(hit, len) for hit in request.found.hits)
    answer = execute_in_library(
        library, steps.Verify(request, Draft("Trout live there.", "m", sources))
    )
    assert isinstance(answer, Answer)
    assert asked
    assert asked[0] > 1


def test_without_a_book_it_says_what_to_do(library: Library) -> None:
    with pytest.raises(UserFacingError, match="no book to look in"):
        execute_in_library(library, steps.Retrieve("q"))
