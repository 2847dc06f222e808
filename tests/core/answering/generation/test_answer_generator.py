from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering.attribution.verification import verify
from desktop.core.answering.generation import answer_generator as answerer_module
from desktop.core.answering.generation import model_manager
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.generation.loaded_model import LoadedModel
from desktop.core.answering.prompt import assembly, prompts
from desktop.core.answering.prompt.context import MOST_ANSWER_TOKENS
from desktop.core.answering.request import Listener, Request
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.records import Mode, Progress, Turn, Verdict
from desktop.core.retrieval import query_patterns
from desktop.core.retrieval.results import RetrievalResult
from tests.core import makers
from tests.fakes import FakeEngine, FakeModelStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from desktop.core.library.library import Library
    from desktop.core.llm.runtime.engine import Generation, Sampling
    from desktop.core.records import Answer

BOOK = makers.book_id("a")
START = sum(len(text.split()) + 1 for _, text in prompts.load().start())
"""Words of the fixed start of every prompt, as the fake engine counts them."""
PAGES = [
    "The grey heron is a wading bird of the marshes. It reaches a height of 98 cm.",
    "Inflation is a general and ongoing rise in the level of prices.",
]
TRUE = "The grey heron is a wading bird of the marshes."
FALSE = "Herons were invented by Napoleon during a banquet."
REFUSAL = "The book does not say."


class Engine(FakeEngine):
    """Remembers how it was asked to write, too."""

    def __init__(self, *replies: str, **values: Any) -> None:
        super().__init__(*replies, **values)
        self.samplings: list[Sampling | None] = []
        self.fresh: list[bool] = []

    def generate(
        self,
        prompt: Sequence[int],
        figures: Generation,
        *,
        most_tokens: int,
        sampling: Sampling | None = None,
        reading: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
        fresh: bool = False,
        **_: Any,
    ) -> Iterator[str]:
        self.samplings.append(sampling)
        self.fresh.append(fresh)
        return super().generate(
            prompt, figures, most_tokens=most_tokens, reading=reading, cancelled=cancelled
        )


class Heard:
    """A listener that keeps all it is told, and may stop after some tokens."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stages: list[Progress] = []
        self.tokens: list[str] = []
        self.listener = Listener(
            stage=self.stages.append,
            token=self.tokens.append,
            cancelled=lambda: stop_after is not None and len(self.tokens) >= stop_after,
        )

    def names(self) -> list[str]:
        return list(dict.fromkeys(stage.stage for stage in self.stages))


@pytest.fixture(autouse=True)
def no_model_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no file whose header could tell the window."""
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: 4096)


@pytest.fixture
def ask(library: Library) -> Callable[..., Answer]:
    """Ask a question of the book whose two pages were found, of an engine with these replies."""
    makers.shelve(library.catalog, BOOK, PAGES, title="Herons")
    passages = library.catalog.passages(BOOK)
    hits = tuple(makers.hit(p, rank, score=1 / rank) for rank, p in enumerate(passages, 1))
    question = "What is the grey heron?"
    found = RetrievalResult(question, hits, ((BOOK, "Herons"),), retrieve_s=0.25)
    base = Request(question, Mode.RETRIEVAL, found)

    def put(engine: FakeEngine, heard: Heard | None = None, **changes: Any) -> Answer:
        answerer = AnswerGenerator(
            library, FakeModelStore("small"), make_engine=lambda *_: engine  # type: ignore[arg-type]
        )  # fmt: skip
        request = replace(base, **changes)
        draft = answerer.generate(request, heard.listener if heard else Listener())
        return verify(request, draft, embedder="fake@1")

    return put


def test_an_answer_is_streamed_and_proved(ask: Callable[..., Answer]) -> None:
    heard = Heard()
    engine = Engine(f"{TRUE} [7]")
    answer = ask(engine, heard)
    assert "".join(heard.tokens) == f"{TRUE} [7]"
    assert len(heard.tokens) == len(TRUE.split()) + 1
    assert heard.names() == ["loading", "reading", "writing"]
    assert answer.answer == "The grey heron is a wading bird of the marshes [1]."
    assert (answer.abstained, answer.stopped, answer.model) == (False, False, "small")
    assert (answer.question, answer.mode) == ("What is the grey heron?", Mode.RETRIEVAL)
    (citation,) = answer.citations
    assert (citation.book, citation.page, citation.verdict) == (BOOK, 1, Verdict.VERBATIM)
    assert [item.page for item in answer.context] == [1, 2]
    assert answer.left_out is None
    assert answer.notes == ()
    assert answer.timings.retrieve_s == 0.25
    assert answer.timings.prompt_tokens > 20
    assert answer.timings.generated_tokens == len(heard.tokens)
    assert 0.25 <= answer.timings.ttft_s <= answer.timings.total_s
    assert engine.samplings == [None]
    for text in PAGES:
        assert text in engine.prompts[0]


def test_the_model_is_asked_whether_the_passages_answer(ask: Callable[..., Answer]) -> None:
    engine = Engine(TRUE)
    answer = ask(engine)
    (asked,) = engine.shared
    assert asked.startswith(engine.prompts[0])  # so that only the end is read again
    assert asked.endswith(prompts.load().asks)
    assert answer.confidence["self_evaluation"] == 0.75


def test_a_model_that_cannot_use_what_was_read_ahead_says_so_once(
    library: Library, ask: Callable[..., Answer]
) -> None:
    assert ask(Engine(TRUE)).notes == ()  # nothing was read ahead
    library.states.of("another", BOOK).save([1, 2], b"state")
    engine = Engine(TRUE, TRUE)
    answerer = AnswerGenerator(
        library, FakeModelStore("small"), make_engine=lambda *_: engine  # type: ignore[arg-type]
    )  # fmt: skip
    hit = makers.hit(library.catalog.passages(BOOK)[0])
    found = RetrievalResult("What is the grey heron?", (hit,), ((BOOK, "Herons"),))
    request = Request("What is the grey heron?", Mode.RETRIEVAL, found)
    first, second = (answerer.generate(request, Listener()) for _ in range(2))
    assert first.notes == (answerer_module.NOT_SPLICED.format(model="small"),)
    assert second.notes == ()


def test_a_second_sentence_without_proof_is_noted(ask: Callable[..., Answer]) -> None:
    answer = ask(Engine(f"{TRUE} {FALSE}"))
    assert not answer.abstained
    assert answer.answer.endswith(FALSE)
    assert answer.notes == (f"1 of 2 sentences was not found in the book: {FALSE}",)


def test_a_refusal_is_one_sentence(ask: Callable[..., Answer]) -> None:
    answer = ask(Engine("The passages do not mention who built it. Maybe Napoleon did."))
    assert (answer.answer, answer.abstained, answer.citations) == (REFUSAL, True, ())
    assert [item.page for item in answer.context] == [1, 2]


def test_an_answer_without_any_proof_is_withheld(ask: Callable[..., Answer]) -> None:
    answer = ask(Engine(FALSE))
    assert (answer.answer, answer.abstained, answer.citations) == (REFUSAL, True, ())
    assert any(FALSE in note for note in answer.notes)


def test_stopping_keeps_what_was_written(ask: Callable[..., Answer]) -> None:
    words = len(TRUE.split())
    heard = Heard(stop_after=words)
    answer = ask(Engine(f"{TRUE} {FALSE}"), heard)
    assert answer.stopped
    assert len(heard.tokens) == words
    assert answer.answer == "The grey heron is a wading bird of the marshes [1]."


def test_stopping_before_the_first_word_cancels(ask: Callable[..., Answer]) -> None:
    class Silent(Engine):
        def generate(self, *_: Any, **__: Any) -> Iterator[str]:
            return iter(())

    with pytest.raises(CancelledError):
        ask(Silent(), Heard(stop_after=0))


def test_a_loop_is_cut_off(ask: Callable[..., Answer]) -> None:
    sentence = "It reaches a height of 98 cm and then again it reaches the same height. "
    heard = Heard()
    ask(Engine(TRUE + " " + sentence * 60), heard)
    assert 30 < len(heard.tokens) < 100


def test_an_answer_has_an_end(ask: Callable[..., Answer]) -> None:
    heard = Heard()
    ask(Engine(" ".join(f"word{i}" for i in range(5000))), heard)
    assert len(heard.tokens) == MOST_ANSWER_TOKENS


@pytest.mark.parametrize(
    ("question", "led"), [("And why?", True), ("What is the rate of inflation in 1980?", False)]
)
def test_the_turn_before_goes_along_only_where_it_is_leant_on(
    ask: Callable[..., Answer], question: str, led: bool
) -> None:
    engine = Engine(TRUE)
    history = (Turn("an old question", "an old answer"), Turn("EARLIER", "REPLY [1], [2]. " * 99))
    ask(engine, question=question, history=history)
    (prompt,) = engine.prompts
    assert ("EARLIER" in prompt) is led
    assert "an old" not in prompt
    assert "REPLY [1]" not in prompt
    assert prompt.count("REPLY") <= assembly.TURN_WORDS


def test_another_attempt_is_sampled_by_its_number(ask: Callable[..., Answer]) -> None:
    engine = Engine(TRUE, TRUE, TRUE)
    for attempt in (0, 1, 2):
        ask(engine, attempt=attempt)
    first, second, third = engine.samplings
    assert first is None
    assert second
    assert third
    assert second.temperature == third.temperature > 0
    assert (second.seed, third.seed) == (1, 2)


@pytest.mark.parametrize("fresh", [False, True])
def test_fresh_goes_to_the_engine(ask: Callable[..., Answer], fresh: bool) -> None:
    engine = Engine(TRUE)
    ask(engine, fresh=fresh)
    assert engine.fresh == [fresh]


def test_the_prompt_and_the_answer_fit_the_window(ask: Callable[..., Answer]) -> None:
    engine = Engine(TRUE, context_tokens=MOST_ANSWER_TOKENS + START + 90)
    answer = ask(engine)
    assert [item.page for item in answer.context] == [1]
    assert answer.notes[0] == "1 of 2 passages did not fit the window"
    assert answer.timings.prompt_tokens + MOST_ANSWER_TOKENS <= engine.context_tokens


def test_long_context_says_what_it_left_out(
    ask: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(TRUE, context_tokens=MOST_ANSWER_TOKENS + START + 90)
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: engine.context_tokens)
    answer = ask(engine, mode=Mode.LONG_CONTEXT)
    assert [item.page for item in answer.context] == [1]
    assert answer.left_out
    assert [entry.pages for entry in answer.left_out] == [(2, 2)]
    whole = ask(Engine(TRUE), mode=Mode.LONG_CONTEXT)
    assert whole.left_out is None


def test_a_window_that_can_not_be_made_leaves_no_model_behind(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Engine] = []

    class Narrow(Engine):
        def resize(self, context_tokens: int) -> None:
            what = f"no memory for {context_tokens}"
            raise UserFacingError(what, "Close other programs")

    def make(*_: object) -> Engine:
        narrow = Narrow(TRUE, context_tokens=MOST_ANSWER_TOKENS + START + 90)
        made.append(Engine(TRUE) if made else narrow)
        return made[-1]

    monkeypatch.setattr(LoadedModel, "widest", lambda _: 4096)
    answerer = AnswerGenerator(library, FakeModelStore("small"), make_engine=make)  # type: ignore[arg-type]
    makers.shelve(library.catalog, BOOK, [f"{PAGES[0]} " * 20])
    hits = tuple(makers.hit(passage, 1) for passage in library.catalog.passages(BOOK))
    request = Request("q", Mode.LONG_CONTEXT, RetrievalResult("q", hits, ((BOOK, "Herons"),)))
    with pytest.raises(UserFacingError, match="no memory for 2048"):
        answerer.generate(request, Listener())
    assert made[0].closed
    assert answerer.generate(request, Listener()).text
    assert len(made) == 2


def test_a_mode_that_is_not_there_yet(ask: Callable[..., Answer]) -> None:
    with pytest.raises(UserFacingError, match="No adapter has been trained"):
        ask(Engine(TRUE), mode=Mode.ADAPTER)


def test_without_a_model_it_says_how_to_get_one(library: Library) -> None:
    answerer = AnswerGenerator(library, FakeModelStore(), make_engine=lambda *_: Engine())  # type: ignore[arg-type]
    makers.shelve(library.catalog, BOOK, PAGES)
    hits = tuple(makers.hit(passage, 1) for passage in library.catalog.passages(BOOK))
    request = Request("q", Mode.RETRIEVAL, RetrievalResult("q", hits, ((BOOK, "Herons"),)))
    with pytest.raises(UserFacingError, match=r"No language model.*lutrin models get"):
        answerer.generate(request, Listener())
    with pytest.raises(UserFacingError, match="no model huge"):
        answerer.generate(replace(request, model="huge"), Listener())


def test_a_model_is_loaded_once_and_unloaded_for_another(library: Library) -> None:
    loaded: list[tuple[str, int]] = []
    engines: list[Engine] = []

    def make(path: Path, window: int, _threads: int, _cancelled: Callable[[], bool]) -> Engine:
        loaded.append((path.name, window))
        engines.append(Engine())
        return engines[-1]

    answerer = AnswerGenerator(library, FakeModelStore("one", "two"), make_engine=make)  # type: ignore[arg-type]
    for name in (None, "one", "two", None):
        answerer.load(name, Listener())
    assert loaded == [("one.gguf", 4096), ("two.gguf", 4096), ("one.gguf", 4096)]
    assert [engine.closed for engine in engines] == [True, True, False]
    answerer.close()
    assert engines[-1].closed


def test_an_answer_waits_its_turn_and_gives_it_back(
    ask: Callable[..., Answer], library: Library
) -> None:
    with library.turns.answering(), pytest.raises(CancelledError):
        ask(Engine(TRUE), Heard(stop_after=0))
    ask(Engine(TRUE))
    assert not library.turns.answer_under_way()

    class Broken(Engine):
        def generate(self, *_: Any, **__: Any) -> Iterator[str]:
            raise UserFacingError("The model stopped working", "Ask again")

    with pytest.raises(UserFacingError, match="stopped working"):
        ask(Broken())
    assert not library.turns.answer_under_way()


def test_what_was_made_of_many_pages_is_marked_not_withheld(ask: Callable[..., Answer]) -> None:
    text = "Altogether this volume celebrates feathered friendship."
    kept = ask(Engine(text), mode=Mode.LONG_CONTEXT)
    assert (kept.abstained, kept.answer, kept.citations) == (False, text, ())
    assert "not found in the book" in kept.notes[-1]
    assert ask(Engine(text)).abstained


def test_the_model_says_where_a_question_looks_in_a_grammar(library: Library) -> None:
    engine = FakeEngine('{"list": "none"}')
    answerer = AnswerGenerator(library, FakeModelStore("small"), make_engine=lambda *_: engine)  # type: ignore[arg-type]
    heard = Heard()
    reply = answerer.parse_query("Tell me of owls in the last chapter", None, heard.listener)
    assert reply == '{"list": "none"}'
    assert engine.grammars == [query_patterns.GRAMMAR]
    assert "Tell me of owls in the last chapter" in engine.prompts[0]
    assert heard.tokens == []  # nothing of it is for the reader
    assert not library.turns.answer_under_way()


def test_an_answer_is_free_of_a_grammar(ask: Callable[..., Answer]) -> None:
    engine = FakeEngine(TRUE)
    ask(engine)
    assert engine.grammars == [""]


def test_without_a_model_nothing_is_made_of_a_question(library: Library) -> None:
    answerer = AnswerGenerator(library, FakeModelStore(), make_engine=lambda *_: Engine())  # type: ignore[arg-type]
    with pytest.raises(UserFacingError, match="No language model"):
        answerer.parse_query("In the last chapter?", None, Listener())
    assert not library.turns.answer_under_way()
