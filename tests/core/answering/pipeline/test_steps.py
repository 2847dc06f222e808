from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from desktop.core.answering.attribution.verification import verify
from desktop.core.answering.pipeline import steps
from desktop.core.answering.prompt.context import from_hit
from desktop.core.answering.request import Draft, Request
from desktop.core.codec import decode, encode
from desktop.core.errors import CancelledError
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import (
    Answer,
    Citation,
    Hit,
    LeftOut,
    Limit,
    Mode,
    Timings,
    Turn,
    Verdict,
)
from desktop.core.retrieval.listing import Entry
from desktop.core.retrieval.results import RetrievalResult
from tests.core import makers

pytestmark = pytest.mark.usefixtures("founded_is_enough")

BOOK = makers.book_id("a")
TRUE = "The grey heron is a wading bird of the marshes."
MORE = "It reaches a height of 98 cm when it is grown."


class Parts:
    """Stands for the workers: passages by turns, and replies by turns."""

    def __init__(self, *replies: str, found: list[RetrievalResult] | None = None) -> None:
        self.replies = list(replies)
        first = RetrievalResult("q", hits(TRUE), ((BOOK, "Birds"),), retrieve_s=0.1)
        self.found = found or [first, replace(first, hits=hits(MORE, page=2))]
        self.done: list[steps.Step] = []

    def __call__(self, step: steps.Step) -> Any:
        self.done.append(step)
        if isinstance(step, steps.Retrieve):
            return self.found.pop(0)
        if isinstance(step, steps.ParseQuery):
            return "reply"
        if isinstance(step, steps.Generate):
            sources = tuple(from_hit(hit, len) for hit in step.request.found.hits)
            return Draft(self.replies.pop(0), "small", sources)
        return verify(step.request, step.draft, embedder="fake@1")

    def kinds(self) -> list[str]:
        return [type(step).__name__ for step in self.done]


class Stopped(Parts):
    """Is stopped where a kind of step is carried out for the nth time."""

    def __init__(self, kind: type[steps.Step], time: int, *replies: str) -> None:
        super().__init__(*replies)
        self._last = kind, time

    def __call__(self, step: steps.Step) -> Any:
        kind, time = self._last
        if isinstance(step, kind) and self.kinds().count(kind.__name__) == time - 1:
            raise CancelledError
        return super().__call__(step)


def hits(*texts: str, page: int = 1) -> tuple[Hit, ...]:
    return tuple(
        makers.hit(makers.passage(BOOK, page, text), rank) for rank, text in enumerate(texts, 1)
    )


def ask(parts: Parts, text: str = "What is it?", mode: Mode = Mode.RETRIEVAL) -> Any:
    return steps.run(steps.answer_pipeline(steps.Question(text, mode)), parts)


def test_a_proved_answer_takes_one_round() -> None:
    parts = Parts(TRUE)
    answer = ask(parts)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify"]
    assert (answer.rounds, answer.abstained, answer.unsupported) == (1, False, ())


def test_what_was_not_proved_is_searched_for_again() -> None:
    parts = Parts(f"{TRUE} {MORE}", f"{TRUE} {MORE}")
    answer = ask(parts)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify"] * 2
    again = parts.done[3]
    assert isinstance(again, steps.Retrieve)
    assert MORE in again.question
    assert again.skip == (f"{BOOK}:1:0",)
    assert answer.rounds == 2


def test_a_worse_second_answer_is_not_given() -> None:
    answer = ask(Parts(f"{TRUE} {MORE}", "Napoleon ate it. Nobody knows why he did. It was red."))
    assert TRUE[:-1] in answer.answer
    assert answer.rounds == 2


def test_rounds_end_where_nothing_new_is_found() -> None:
    first = RetrievalResult("q", hits(TRUE), ((BOOK, "Birds"),))
    parts = Parts(f"{TRUE} {MORE}", found=[first, replace(first, hits=())])
    ask(parts)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify", "Retrieve"]


def test_long_context_and_a_stopped_text_take_one_round() -> None:
    parts = Parts(MORE)
    ask(parts, mode=Mode.LONG_CONTEXT)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify"]


@pytest.mark.parametrize("step", [steps.Retrieve, steps.Generate, steps.Verify])
def test_stopped_before_anything_is_proved_there_is_no_answer(step: type[steps.Step]) -> None:
    with pytest.raises(CancelledError):
        ask(Stopped(step, 1, TRUE))


@pytest.mark.parametrize("step", [steps.Retrieve, steps.Generate, steps.Verify])
def test_stopped_in_a_further_round_the_answer_before_is_given(step: type[steps.Step]) -> None:
    answer = ask(Stopped(step, 2, f"{TRUE} {MORE}", f"{TRUE} {MORE}"))
    assert TRUE[:-1] in answer.answer
    assert (answer.rounds, answer.stopped) == (1, False)


def test_what_a_book_was_read_through_for_is_written_again_from_the_same_notes() -> None:
    parts = Parts(MORE, f"{TRUE} {MORE}", f"{TRUE} {MORE}")
    asked = steps.Question("What is it?", Mode.LONG_CONTEXT, fresh=True, map_reduce=True)
    steps.run(steps.answer_pipeline(asked), parts)
    written = [step.request for step in parts.done if isinstance(step, steps.Generate)]
    assert [(r.fresh, r.reordered) for r in written[:2]] == [(True, False), (False, True)]
    assert all(r.map_reduce for r in written)


@pytest.mark.parametrize("absent", [(), ("Darwin",)])
def test_nothing_found_is_said_without_the_model(absent: tuple[str, ...]) -> None:
    found = hits(TRUE) if absent else ()
    parts = Parts(found=[RetrievalResult("q", found, ((BOOK, "Birds"),), absent=absent)])
    answer = ask(parts)
    assert parts.kinds() == ["Retrieve"]
    assert answer.abstained
    assert len(answer.context) == len(found)
    assert answer.notes


def test_a_list_is_answered_without_the_model() -> None:
    entries = (
        Entry("1 Birds", BOOK, 3, "p3", 5, 12, "1 Birds"),
        Entry("1.1 Herons", BOOK, 4, "p4", 0, 0, "1 Birds", level=2),
    )
    limits = (Limit("section", "Chapter 1"),)
    listed = RetrievalResult("", (), ((BOOK, "Animals"),), limits=limits, listing="contents",
                      entries=entries)  # fmt: skip
    parts = Parts(found=[listed])
    answer = ask(parts, "What is in chapter 1?")
    assert parts.kinds() == ["Retrieve"]
    assert "- 1 Birds, page 3 [1]\n  - 1.1 Herons, page 4" in answer.answer
    (citation,) = answer.citations
    assert (citation.title, citation.page, citation.start, citation.end) == ("Animals", 3, 5, 12)
    assert (answer.model, answer.limits, answer.abstained) == ("", limits, False)


def test_the_model_is_asked_where_the_rules_see_a_place_but_no_plan() -> None:
    first = RetrievalResult("q", hits(TRUE), ((BOOK, "Birds"),))
    parts = Parts(TRUE, found=[first, first])
    ask(parts, "What was the point of the chapter before the last?")
    assert parts.kinds() == ["Retrieve", "ParseQuery", "Retrieve", "Generate", "Verify"]
    assert parts.done[2].reply == "reply"  # type: ignore[union-attr]


def test_every_step_has_a_place() -> None:
    assert set(steps.ROUTES) == set(steps.Step.__args__)


def test_what_the_user_chose_goes_along() -> None:
    chosen = SearchFilter((BOOK,), (1, 9))
    turns = (Turn("q", "a"),)
    asked = steps.Question("Why?", Mode.RETRIEVAL, chosen, ("pages",), "big", turns, True, 2)
    parts = Parts(TRUE)
    steps.run(steps.answer_pipeline(asked), parts)
    assert parts.done[0] == steps.Retrieve("Why?", chosen, ("pages",), turns)
    request = parts.done[1].request  # type: ignore[union-attr]
    assert (request.model, request.history, request.fresh, request.attempt) == (
        "big", turns, True, 2,
    )  # fmt: skip


def test_a_limit_that_was_taken_away_is_not_asked_of_the_model() -> None:
    parts = Parts(TRUE)
    text = "What was the point of the chapter before the last?"
    steps.run(
        steps.answer_pipeline(steps.Question(text, Mode.RETRIEVAL, without=("section",))), parts
    )
    assert "ParseQuery" not in parts.kinds()


def test_the_second_round_reads_old_and_new_and_takes_no_new_limits() -> None:
    texts = [f"{TRUE} {n}" for n in range(4)]
    where = SearchFilter((BOOK,), (1, 2))
    first = RetrievalResult("q", hits(*texts), ((BOOK, "Birds"),), where, complete=True)
    new = replace(first, hits=hits(MORE, page=2))
    parts = Parts(f"{TRUE} {MORE}", f"{TRUE} {MORE}", found=[first, new])
    ask(parts)
    again, second = parts.done[3], parts.done[4]
    assert isinstance(again, steps.Retrieve)
    assert again.where == where
    assert set(again.without) == {"book", "section", "pages", "marks"}
    assert isinstance(second, steps.Generate)
    read = [hit.passage.text for hit in second.request.found.hits]
    assert MORE in read
    assert texts[0] in read
    assert len(read) <= len(texts)


def test_a_second_answer_does_not_turn_an_answer_into_a_refusal() -> None:
    answer = ask(Parts(f"{TRUE} {MORE}", "The book does not say."))
    assert not answer.abstained
    assert answer.rounds == 2


def test_a_refusal_is_searched_for_once_more() -> None:
    parts = Parts("The book does not say.", MORE)
    answer = ask(parts)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify"] * 2
    assert not answer.abstained
    assert answer.rounds == 2


def test_a_refusal_is_not_given_up_for_what_is_not_proved() -> None:
    answer = ask(Parts("The book does not say.", f"> {MORE}\n\nNapoleon was an owl."))
    assert answer.abstained
    assert answer.rounds == 2
    quoted = ask(Parts("The book does not say.", f"> {MORE}"))
    assert not quoted.abstained


def test_a_stopped_text_takes_one_round() -> None:
    class Stopped(Parts):
        def __call__(self, step: steps.Step) -> Any:
            result = super().__call__(step)
            return replace(result, stopped=True) if isinstance(result, Draft) else result

    parts = Stopped("Nothing of it is")
    answer = ask(parts)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify"]
    assert answer.stopped


def paged(**changes: Any) -> RetrievalResult:
    """Return a passage that was found and the sentence after it on its page."""
    (hit,) = hits(f"{TRUE} {MORE}")
    return RetrievalResult(
        "q", (replace(hit, found=(0, len(TRUE))),), ((BOOK, "Birds"),), **changes
    )


def test_an_answer_that_is_not_sure_is_written_again_from_another_order() -> None:
    parts = Parts("Napoleon ate it.", TRUE, found=[paged()])
    answer = ask(parts)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify", "Generate", "Verify"]
    requests = [step.request for step in parts.done if isinstance(step, steps.Generate)]
    assert [request.reordered for request in requests] == [False, True]
    assert requests[0].found == requests[1].found
    assert (answer.abstained, answer.rounds) == (False, 2)


def test_the_time_of_two_answers_is_that_of_both() -> None:
    class Timed(Parts):
        def __call__(self, step: steps.Step) -> Any:
            result = super().__call__(step)
            if not isinstance(step, steps.Generate):
                return result
            later = step.request.reordered
            took = Timings(prefill_s=0.5 + later, ttft_s=1.0 + later, total_s=4.0)
            return replace(result, timings=took)

    answer = ask(Timed("Napoleon ate it.", TRUE, found=[paged()]))
    assert (answer.timings.ttft_s, answer.timings.total_s) == (1.0, 8.0)
    assert answer.timings.prefill_s == 0.5


def test_a_sure_answer_is_not_written_again() -> None:
    parts = Parts(TRUE, found=[paged()])
    assert ask(parts).rounds == 1
    assert parts.kinds() == ["Retrieve", "Generate", "Verify"]


def test_of_two_answers_the_better_proved_is_given() -> None:
    loose = "The heron is a bird of marshes, a tall one."
    for first, second in ((loose, TRUE), (TRUE.replace("grey", "tall grey"), loose)):
        parts = Parts(first, second, found=[paged(), paged()])
        answer = ask(parts)
        assert "wading" in answer.answer
        assert answer.rounds >= 1


def test_no_question_takes_more_than_three_rounds() -> None:
    found = [replace(paged(), query=f"{n}") for n in range(1, 9)]
    parts = Parts(*[f"It is red {n}. It is blue." for n in range(9)], found=found)
    assert ask(parts).rounds == 3
    assert parts.kinds().count("Generate") == 3


def test_stopping_the_second_reading_keeps_the_first_answer() -> None:
    class StoppedLater(Parts):
        def __call__(self, step: steps.Step) -> Any:
            result = super().__call__(step)
            later = isinstance(step, steps.Generate) and step.request.reordered
            return replace(result, stopped=True) if later else result

    parts = StoppedLater(f"{TRUE} Napoleon ate it.", "It is", found=[paged(), paged()])
    answer = ask(parts)
    assert parts.kinds() == ["Retrieve", "Generate", "Verify", "Generate"]
    assert TRUE[:-1] in answer.answer
    assert not answer.stopped  # the answer that is given is whole


CITED = Citation(1, BOOK, "B", 3, "p3", "q", 0, 1, Verdict.VERBATIM, 1.0, ((0.0, 1.0, 2.0, 3.5),))
FOUND = RetrievalResult(
    "query", hits(TRUE), ((BOOK, "Birds"),),
    SearchFilter((BOOK,), (1, 2), ("1 Birds",), ("figure",)),
    (Limit("pages", "page 3"),), "figures", (Entry("x", BOOK, 1, "1", 0, 1, "s", level=2),),
    ("Darwin",), False, 0.5,
)  # fmt: skip
REQUEST = Request("q", Mode.LONG_CONTEXT, FOUND, "m", (Turn("a", "b"),), True, 3)
DRAFT = Draft(
    "text", "m", (from_hit(FOUND.hits[0], len),), Timings(1.0), (LeftOut(BOOK, (1, 2), 9),), ("n",),
    True, -0.5,
)  # fmt: skip
CARRIED = [
    steps.Retrieve("q", FOUND.where, ("book",), REQUEST.history, ("i",), "reply"),
    steps.Retrieve("q"),
    steps.ParseQuery("q", "m"),
    steps.ParseQuery("q"),
    steps.Generate(REQUEST),
    steps.Verify(REQUEST, DRAFT),
    FOUND,
    RetrievalResult("q"),
    DRAFT,
    Answer("q", Mode.RETRIEVAL, "m", "a", False, (CITED,), (DRAFT.sources[0].item(),), Timings(),
           None, False, ("n",), FOUND.limits, ("u",), 2, {"proved": 1.0}),
]  # fmt: skip


@pytest.mark.parametrize("record", CARRIED, ids=lambda record: type(record).__name__)
def test_steps_and_their_results_survive_the_way_to_a_worker(record: Any) -> None:
    sent = json.loads(json.dumps(encode(record)))
    assert decode(type(record), sent) == record


def test_each_place_has_a_verb_that_its_worker_knows() -> None:
    from desktop.worker.answerer import Answerer
    from desktop.worker.librarian import Librarian

    known = {
        "librarian": Librarian.verbs(Librarian.__new__(Librarian)),
        "answerer": Answerer.verbs(Answerer.__new__(Answerer)),
    }
    for place in steps.ROUTES.values():
        assert place.verb in known[place.worker]
