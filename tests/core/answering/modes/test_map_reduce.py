"""Reading a book through for a question: notes page by page, an answer from them, stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from desktop.core import progress
from desktop.core.answering.attribution.verification import verify
from desktop.core.answering.generation import model_manager
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.modes import map_reduce
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.blocks import SEGMENT_PAGES
from desktop.core.answering.request import Draft, Listener, Request
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import LeftOut, Mode, Progress, Verdict
from desktop.core.retrieval.results import RetrievalResult
from tests.core import makers
from tests.fakes import FakeEngine, FakeModelStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.library.library import Library

BOOK = makers.book_id("a")
PAGES = [f"Heron number {n} waits for its fish on page {n}. It is patient." for n in range(1, 13)]
QUESTION = "How do herons wait?"
NOTHING = "The book does not say."


def quote(page: int) -> str:
    """Return what can be copied of a page."""
    return f"Heron number {page} waits for its fish on page {page}."


class Reading:
    """A library with a book of three segments, read by an engine with given replies."""

    def __init__(self, library: Library, *hits: int) -> None:
        makers.shelve(library.catalog, BOOK, PAGES, title="Herons")
        passages = library.catalog.passages(BOOK)
        self.library = library
        self.hits = tuple(makers.hit(passages[page - 1]) for page in hits)
        self.stages: list[Progress] = []
        self.tokens: list[str] = []
        self.stop_after: float = float("inf")
        """Segments."""

    def read(
        self,
        engine: FakeEngine,
        question: str = QUESTION,
        *,
        fresh: bool = False,
        reordered: bool = False,
        **where: Any,
    ) -> Draft:
        made: Callable[..., Any] = lambda *_: engine  # noqa: E731
        answerer = AnswerGenerator(
            self.library, FakeModelStore("small"), make_engine=made  # type: ignore[arg-type]
        )  # fmt: skip
        self.request = Request(
            question,
            Mode.LONG_CONTEXT,
            RetrievalResult(
                question, self.hits, ((BOOK, "Herons"),), where=SearchFilter((BOOK,), **where)
            ),
            fresh=fresh,
            reordered=reordered,
            map_reduce=True,
        )
        listener = Listener(self.stages.append, self.tokens.append, self._cancelled)
        return answerer.generate(self.request, listener)

    def _cancelled(self) -> bool:
        done = [stage.done for stage in self.stages if stage.stage == "map_reduce"]
        return max(done, default=0) >= self.stop_after * SEGMENT_PAGES


@pytest.fixture
def reading(library: Library, monkeypatch: pytest.MonkeyPatch) -> Reading:
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: 4096)
    monkeypatch.setattr(progress, "REPORT_S", 0.0)  # each segment is told
    return Reading(library)


def test_an_answer_is_written_from_what_was_noted(reading: Reading) -> None:
    answer = "Heron number 3 waits for its fish on page 3, and heron 11 likewise."
    engine = FakeEngine(f"> {quote(3)}\n\nThat says it.", NOTHING, f"> {quote(11)}\n", answer)
    draft = reading.read(engine)
    assert draft.text == answer
    assert [source.page for source in draft.sources] == [3, 11]
    assert draft.left_out is None
    assert draft.notes == (
        "Read 12 of 12 pages through; 2 passages were noted, beside what searching finds",
    )
    *notes, last = engine.prompts
    assert len(notes) == 3
    assert [prompt.count("Heron number") for prompt in (*notes, last)] == [4, 4, 4, 2]
    assert all(prompts.load().partial in prompt for prompt in notes)
    assert prompts.load().partial not in last
    seen = [(stage.done, stage.total) for stage in reading.stages if stage.stage == "map_reduce"]
    assert seen[0] == (0, 12)
    assert seen[-1] == (12, 12)
    streamed = "".join(reading.tokens)
    assert streamed.startswith(f"“{quote(3)}” (page p3)\n\n“{quote(11)}” (page p11)\n\n")
    proved = verify(reading.request, draft, embedder="fake@1")
    assert {citation.page for citation in proved.citations} <= {3, 11}


def test_where_something_was_found_is_read_first(library: Library, reading: Reading) -> None:
    del reading
    engine = FakeEngine(*[NOTHING] * 3, "Herons wait.")
    draft = Reading(library, 10, 6).read(engine)
    *notes, last = [p.partition("Heron number ")[2].split()[0] for p in engine.prompts]
    assert notes == ["9", "5", "1"]
    assert last == "6"
    assert [source.page for source in draft.sources] == [6, 10]  # the best one last


def test_what_searching_finds_is_read_beside_what_was_noted(
    library: Library, reading: Reading
) -> None:
    reading.hits = Reading(library, 10, 6).hits
    replies = [f"> {quote(10)}\n\n", NOTHING, f"> {quote(2)}\n\n"]
    draft = reading.read(FakeEngine(*replies, "Herons wait."))
    assert [source.page for source in draft.sources] == [2, 6, 10]
    other = reading.read(FakeEngine("Herons wait."), reordered=True)
    assert [source.page for source in other.sources] == [6, 10, 2]
    reading.stages.clear()
    reading.stop_after = 1
    stopped = reading.read(FakeEngine(f"> {quote(10)}\n\n"), fresh=True)
    assert stopped.text == f"> {quote(10)}"


def test_only_the_part_is_read(reading: Reading) -> None:
    engine = FakeEngine(f"> {quote(6)}\n\n", quote(6))
    draft = reading.read(engine, pages=(6, 7))
    assert [prompt.count("Heron number") for prompt in engine.prompts] == [2, 1]
    assert draft.notes == (
        "Read 2 of 2 pages through; 1 passage was noted, beside what searching finds",
    )
    with pytest.raises(UserFacingError, match="no such pages"):
        reading.read(FakeEngine(), pages=(40, 50))


def test_stopped_it_gives_what_it_has(reading: Reading) -> None:
    reading.stop_after = 2
    engine = FakeEngine(f"> {quote(2)}\n\n", f"> {quote(7)}\n\n", "never")
    draft = reading.read(engine)
    assert len(engine.prompts) == 2
    assert draft.stopped
    assert draft.text == f"> {quote(2)}\n> {quote(7)}"
    assert draft.left_out is not None
    assert [part.pages for part in draft.left_out] == [(9, 12)]
    assert isinstance(draft.left_out[0], LeftOut)
    assert draft.left_out[0].tokens > 0
    answer = verify(reading.request, draft, embedder="fake@1")
    assert [c.verdict for c in answer.citations] == [Verdict.VERBATIM] * 2
    assert [c.page for c in answer.citations] == [2, 7]


def test_stopped_before_anything_was_found_there_is_no_answer(reading: Reading) -> None:
    reading.stop_after = 1
    with pytest.raises(CancelledError):
        reading.read(FakeEngine(NOTHING, NOTHING))


def test_notes_are_taken_once(reading: Reading) -> None:
    reading.stop_after = 2
    reading.read(FakeEngine(f"> {quote(2)}\n\n", NOTHING))
    reading.stop_after = float("inf")
    engine = FakeEngine(f"> {quote(12)}\n\n", "Herons wait.")
    draft = reading.read(engine, "How do the herons wait?")
    assert len(engine.prompts) == 2  # the last segment, and the answer
    assert [source.page for source in draft.sources] == [2, 12]
    again = FakeEngine(*[NOTHING] * 3)
    assert reading.read(again, fresh=True).sources == ()
    assert len(again.prompts) == 3


def test_of_many_notes_the_best_are_read(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_reduce, "MOST_READ_TOKENS", 70)
    odds = iter([0.1, 2.0, -1.0])
    engine = FakeEngine(*(f"> {quote(page)}\n\n" for page in (1, 5, 9)), "Herons wait.")
    monkeypatch.setattr(engine, "odds", lambda *_, **__: next(odds, 0.0))
    draft = reading.read(engine)
    assert [source.page for source in draft.sources] == [5]
    assert draft.notes == (
        "Read 12 of 12 pages through; 3 passages were noted, of which the best 1 were used, "
        "beside what searching finds",
    )


@pytest.mark.parametrize(
    "reply",
    [NOTHING, "", "Herons wait for fish.", "> Herons were never on any page of it.\n\n", ">\n"],
)
def test_what_is_not_copied_is_no_note(reading: Reading, reply: str) -> None:
    draft = reading.read(FakeEngine(reply, NOTHING, NOTHING))
    assert draft.text == NOTHING


def test_a_quotation_without_its_beginning_is_the_whole_sentence(reading: Reading) -> None:
    engine = FakeEngine("> its fish on page 4.\n\n", NOTHING, NOTHING, "Yes.")
    reading.read(engine)
    assert reading.tokens[0].startswith(f"“{quote(4)}”")
