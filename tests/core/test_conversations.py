from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from desktop.core.conversations import ChosenPart, Conversations, MessageState, shorten
from desktop.core.errors import UserFacingError
from desktop.core.records import Answer, Citation, Mode, Timings, Turn, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "conversations.sqlite3"


@pytest.fixture
def kept(file: Path) -> Iterator[Conversations]:
    clock = iter(range(1, 1000))
    conversations = Conversations(file, now=lambda: float(next(clock)))
    yield conversations
    conversations.close()


def test_the_chosen_part_of_a_book_is_kept(kept: Conversations, file: Path) -> None:
    conversation = kept.start(scope=["a"])
    assert conversation.part is None
    part = ChosenPart("a", "Chapter 1", ("One", "One \u203a Two"))
    kept.set_part(conversation.id, part)
    other = Conversations(file)
    found = other.get(conversation.id)
    assert found is not None
    assert found.part == part
    assert [each.part for each in other.all()] == [part]
    other.set_part(conversation.id, None)
    assert [each.part for each in kept.all()] == [None]
    kept.set_part(conversation.id, part)
    kept.remove(conversation.id)
    assert other._db.execute("SELECT count(*) FROM chosen_part").fetchone() == (0,)
    other.close()


def test_conversations_made_before_parts_could_be_chosen_open(file: Path) -> None:
    old = Conversations(file)
    number = old.start(scope=["a"]).id
    old._db.execute("DROP TABLE chosen_part")
    old._db.execute("PRAGMA user_version=1")
    old.close()
    opened = Conversations(file)
    opened.set_part(number, ChosenPart("a", "Chapter 1", ("One",)))
    assert opened.all()[0].part is not None
    opened.close()


def an_answer(text: str) -> Answer:
    citation = Citation(1, "b", "T", 3, "iii", "q", 0, 1, Verdict.VERBATIM, 1.0, ((0, 0, 1, 1),))
    return Answer("q", Mode.RETRIEVAL, "m", text, False, (citation,), (), Timings(ttft_s=0.5))


def test_answer_comes_back_as_it_was(kept: Conversations, file: Path) -> None:
    conversation = kept.start(scope=["a", "b"], mode=Mode.LONG_CONTEXT)
    message = kept.ask(conversation.id, "Why?", Mode.LONG_CONTEXT)
    done = kept.finish(message.id, MessageState.DONE, partial="It", answer=an_answer("It is."))
    assert done is not None
    assert done.text == "It is."
    again = Conversations(file)
    assert again.messages(conversation.id) == [done]
    (found,) = again.all()
    assert (found.title, found.scope, found.mode) == ("Why?", ("a", "b"), Mode.LONG_CONTEXT)
    again.close()


def test_killed_while_writing_comes_back_interrupted(kept: Conversations, file: Path) -> None:
    conversation = kept.start()
    message = kept.ask(conversation.id, "Why?", Mode.RETRIEVAL)
    kept.save_partial(message.id, "Because the")
    again = Conversations(file)
    again.mark_interrupted()
    (found,) = again.messages(conversation.id)
    assert found.state is MessageState.INTERRUPTED
    assert found.text == "Because the"
    again.restart(message.id)
    (found,) = again.messages(conversation.id)
    assert (found.state, found.text) == (MessageState.WRITING, "")
    again.close()


def test_history_is_the_last_three_answered_turns(kept: Conversations) -> None:
    conversation = kept.start()
    for number in range(5):
        message = kept.ask(conversation.id, f"q{number}", Mode.RETRIEVAL)
        state = MessageState.FAILED if number == 3 else MessageState.DONE
        kept.finish(message.id, state, answer=an_answer(f"a{number}"))
    last = kept.ask(conversation.id, "now", Mode.RETRIEVAL)
    assert kept.history(conversation.id, before=last.id) == [
        Turn("q1", "a1"),
        Turn("q2", "a2"),
        Turn("q4", "a4"),
    ]


def test_order_follows_the_last_question(kept: Conversations) -> None:
    first, second = kept.start(), kept.start()
    assert [c.id for c in kept.all()] == [second.id, first.id]
    kept.ask(first.id, "Why?", Mode.RETRIEVAL)
    assert [c.id for c in kept.all()] == [first.id, second.id]
    kept.remove(first.id)
    assert [c.id for c in kept.all()] == [second.id]
    assert kept.messages(first.id) == []
    assert kept.get(first.id) is None


def test_scope_and_mode_are_kept(kept: Conversations) -> None:
    conversation = kept.start()
    kept.set_scope(conversation.id, ["x"])
    kept.set_mode(conversation.id, Mode.LONG_CONTEXT)
    found = kept.get(conversation.id)
    assert found is not None
    assert (found.scope, found.mode) == (("x",), Mode.LONG_CONTEXT)


def test_finishing_a_removed_message_does_nothing(kept: Conversations) -> None:
    conversation = kept.start()
    message = kept.ask(conversation.id, "Why?", Mode.RETRIEVAL)
    kept.remove(conversation.id)
    assert kept.finish(message.id, MessageState.DONE, answer=an_answer("x")) is None


def test_newer_and_damaged_files_are_told(tmp_path: Path) -> None:
    newer = tmp_path / "newer.sqlite3"
    db = sqlite3.connect(newer)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(UserFacingError, match="newer version"):
        Conversations(newer)
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(b"no database" * 1000)
    with pytest.raises(UserFacingError, match="can't be read"):
        Conversations(damaged)


def test_titles_are_short() -> None:
    assert shorten("  Why\n is it? ") == "Why is it?"
    assert len(shorten("long " * 50)) <= 60
