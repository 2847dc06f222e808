"""What the librarian and the answerer make of the steps of an answer, without processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering.generation import model_manager
from desktop.core.answering.generation.answer_generator import AnswerGenerator as Core
from desktop.core.answering.pipeline import steps
from desktop.core.answering.prompt.context import from_hit
from desktop.core.answering.request import Draft, Request
from desktop.core.codec import decode, encode
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.indexing import Indexer
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Answer, Mode
from desktop.core.retrieval.results import RetrievalResult
from desktop.worker.answerer import Answerer
from desktop.worker.librarian import Librarian
from tests.core import makers
from tests.fakes import FakeEngine, FakeModelStore

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.paths import Paths

PAGES = ["1 Birds\n\nHerons wade in shallow water.", "2 Fish\n\nTrout live in cold rivers."]
TOC = [(1, "1 Birds", 1), (1, "2 Fish", 2)]


class Job:
    """A request as it comes out of a pipe."""

    def __init__(self, args: Any, *, stopped: bool = False) -> None:
        self.args = json.loads(json.dumps(encode(args)))
        self.events: list[tuple[str, Any]] = []
        self._stopped = stopped

    def cancelled(self) -> bool:
        return self._stopped

    def emit(self, event: str, data: Any) -> None:
        self.events.append((event, data))


@pytest.fixture
def book(library: Library, tmp_path: Path) -> str:
    added = Indexer(library).add(makers.pdf(tmp_path / "a.pdf", PAGES, toc=TOC, title="Animals"))
    assert added.book
    return added.book.id


@pytest.fixture
def librarian(library: Library, paths: Paths) -> Librarian:
    service = Librarian(paths)
    service._library.close()
    service._library = library
    return service


def answerer(
    library: Library, paths: Paths, monkeypatch: pytest.MonkeyPatch, *replies: str
) -> Answerer:
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: 4096)
    service = Answerer(paths)
    service._library.close()
    engine = FakeEngine(*replies)
    service._core = Core(library, FakeModelStore("small"), make_engine=lambda *_: engine)  # type: ignore[arg-type]
    return service


def sent(kind: type, result: Any) -> Any:
    """Return a result as the window gets it."""
    return decode(kind, json.loads(json.dumps(encode(result))))


@pytest.mark.usefixtures("book")
def test_the_librarian_looks_up(librarian: Librarian) -> None:
    job = Job(steps.Retrieve("In chapter 2, where do trout live?"))
    found = sent(RetrievalResult, librarian.verbs()["retrieve"][1](job))
    assert [hit.passage.page for hit in found.hits] == [2]
    assert [limit.label for limit in found.limits] == ["Chapter 2 · Fish"]
    assert found.where.sections == ("2 Fish",)


def test_a_bare_question_is_enough(librarian: Librarian, book: str) -> None:
    found = librarian.retrieve(Job({"question": "trout"}))
    assert found.books == ((book, "Animals"),)


def test_the_books_and_pages_that_were_chosen_are_kept_to(librarian: Librarian, book: str) -> None:
    found = librarian.retrieve(
        Job(steps.Retrieve("herons and trout", SearchFilter((book,), (2, 2))))
    )
    assert [hit.passage.page for hit in found.hits] == [2]
    with pytest.raises(UserFacingError, match="no book to look in"):
        librarian.retrieve(Job(steps.Retrieve("trout", SearchFilter((makers.book_id("f"),)))))


@pytest.mark.usefixtures("book")
def test_the_librarian_checks_what_was_written(librarian: Librarian) -> None:
    found = librarian.retrieve(Job(steps.Retrieve("Where do trout live?")))
    sources = tuple(from_hit(hit, len) for hit in found.hits)
    request = Request("Where do trout live?", Mode.RETRIEVAL, found)
    step = steps.Verify(request, Draft("Trout live in cold rivers. They sing.", "small", sources))
    answer = sent(Answer, librarian.verbs()["verify"][1](Job(step)))
    assert answer.answer == "Trout live in cold rivers [1]. They sing."
    assert answer.unsupported == ("They sing.",)
    assert answer.citations[0].page == 2


@pytest.mark.usefixtures("book")
def test_a_step_that_was_stopped_gives_nothing(librarian: Librarian) -> None:
    with pytest.raises(CancelledError):
        librarian.retrieve(Job(steps.Retrieve("trout"), stopped=True))


def test_the_answerer_writes_word_by_word(
    library: Library, paths: Paths, monkeypatch: pytest.MonkeyPatch, book: str
) -> None:
    hits = tuple(makers.hit(passage) for passage in library.catalog.passages(book))
    found = RetrievalResult("trout", hits, ((book, "Animals"),))
    service = answerer(library, paths, monkeypatch, "Trout live in cold rivers.")
    job = Job(steps.Generate(Request("Where do trout live?", Mode.RETRIEVAL, found)))
    draft = sent(Draft, service.verbs()["generate"][1](job))
    assert (draft.text, draft.model, draft.stopped) == (
        "Trout live in cold rivers.",
        "small",
        False,
    )
    assert {source.page for source in draft.sources} == {1, 2}
    tokens = [data["text"] for event, data in job.events if event == "token"]
    assert "".join(tokens) == draft.text
    stages = [data.stage for event, data in job.events if event == "stage"]
    assert list(dict.fromkeys(stages)) == ["loading", "reading", "writing"]


def test_the_answerer_interprets_without_a_word_to_the_reader(
    library: Library, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = answerer(library, paths, monkeypatch, '{"list": "none"}')
    job = Job(steps.ParseQuery("In the last chapter?"))
    assert service.verbs()["parse_query"][1](job) == '{"list": "none"}'
    assert "token" not in [event for event, _ in job.events]
