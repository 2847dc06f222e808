"""Conversations kept in one SQLite file, saved while an answer is still being written.

Owns the file and its schema. Knows nothing of how answers come about or are shown. Every write
is small, so that the window may call it between two frames.
"""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from desktop.core.codec import decode, encode
from desktop.core.database import prepare
from desktop.core.errors import UserFacingError
from desktop.core.records import Answer, Mode, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SCHEMA_VERSION = 2
"""2: chosen parts of books."""
BUSY_TIMEOUT_S = 0.04
"""Below one frame that an eye would miss; another process holds the file for less."""
HISTORY_TURNS = 3
TITLE_LENGTH = 60

_SCHEMA = """
CREATE TABLE IF NOT EXISTS conversation (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    scope TEXT NOT NULL,
    mode TEXT NOT NULL,
    changed REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    partial TEXT NOT NULL,
    answer TEXT,
    error TEXT NOT NULL,
    asked REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS chosen_part (
    conversation INTEGER PRIMARY KEY REFERENCES conversation(id) ON DELETE CASCADE,
    part TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS message_of_conversation ON message(conversation, id);
"""


class MessageState(StrEnum):
    """How far the answer to a question has come."""

    WRITING = "writing"  # being looked for or written right now
    DONE = "done"
    STOPPED = "stopped"  # by the user; the partial text stands
    INTERRUPTED = "interrupted"  # the window or a worker went away meanwhile
    FAILED = "failed"  # `Message.error` says why


@dataclass(frozen=True)
class ChosenPart:
    """The part of a book that a conversation keeps to.

    Attributes:
        book: The book's id.
        label: What the part is called.
        sections: Paths of its sections, as in `Passage.section`.
    """

    book: str
    label: str
    sections: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """A run of questions with their answers.

    Attributes:
        title: The first question, shortened; empty before it.
        scope: Ids of the books asked; empty for all.
        mode: How the next question is answered.
        changed: Seconds since the epoch.
        part: The part of the one book to keep to; None for all of it.
    """

    id: int
    title: str
    scope: tuple[str, ...] = ()
    mode: Mode = Mode.RETRIEVAL
    changed: float = 0.0
    part: ChosenPart | None = None


@dataclass(frozen=True)
class Message:
    """A question with what came of it.

    Attributes:
        partial: The text so far, or what there was when it ended early.
        answer: The finished answer; None where there is none.
        error: What went wrong, where it did.
        asked: Seconds since the epoch.
    """

    id: int
    conversation: int
    question: str
    mode: Mode
    state: MessageState
    partial: str = ""
    answer: Answer | None = None
    error: str = ""
    asked: float = 0.0

    @property
    def text(self) -> str:
        """The answer as far as there is one."""
        return self.answer.answer if self.answer else self.partial


def shorten(question: str) -> str:
    """Return a question as the title of a conversation."""
    title = " ".join(question.split())
    return title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1].rstrip() + "…"


class Conversations:
    """The conversations of one library.

    Args:
        file: The SQLite file; created where it is missing.
        now: Seconds since the epoch.

    Raises:
        UserFacingError: if the file was written by a newer version or is damaged.
    """

    def __init__(self, file: Path, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            usable = prepare(self._db, _SCHEMA, SCHEMA_VERSION)
            self._db.execute("PRAGMA foreign_keys = ON")
        except sqlite3.DatabaseError as error:
            self._db.close()
            message = f"The conversations in {file} can't be read ({error})"
            raise UserFacingError(message, "Move that file away and start Lutrin again") from error
        if not usable:
            self._db.close()
            message = "These conversations were written by a newer version of Lutrin"
            raise UserFacingError(message, "Update Lutrin to open them")

    def mark_interrupted(self) -> None:
        """Mark what an earlier run was writing when it went away. Call once at the start."""
        self._db.execute(
            "UPDATE message SET state = ? WHERE state = ?",
            (MessageState.INTERRUPTED, MessageState.WRITING),
        )

    def start(self, *, scope: Sequence[str] = (), mode: Mode = Mode.RETRIEVAL) -> Conversation:
        """Create an empty conversation and return it."""
        changed = self._now()
        cursor = self._db.execute(
            "INSERT INTO conversation (title, scope, mode, changed) VALUES ('', ?, ?, ?)",
            (json.dumps(list(scope)), mode, changed),
        )
        return Conversation(cursor.lastrowid or 0, "", tuple(scope), mode, changed)

    def all(self) -> list[Conversation]:
        """Return the conversations, last changed first."""
        rows = self._db.execute(f"{_CONVERSATIONS} ORDER BY changed DESC, id DESC")
        return [_conversation(row) for row in rows]

    def get(self, conversation: int) -> Conversation | None:
        """Return one conversation, or None where it is gone."""
        row = self._db.execute(f"{_CONVERSATIONS} WHERE id = ?", (conversation,)).fetchone()
        return _conversation(row) if row else None

    def set_scope(self, conversation: int, scope: Sequence[str]) -> None:
        """Keep which books the conversation asks; none means all."""
        self._db.execute(
            "UPDATE conversation SET scope = ? WHERE id = ?",
            (json.dumps(list(scope)), conversation),
        )

    def set_part(self, conversation: int, part: ChosenPart | None) -> None:
        """Keep to a part of a book from now on, or to none."""
        self._db.execute("DELETE FROM chosen_part WHERE conversation = ?", (conversation,))
        if part is not None:
            self._db.execute(
                "INSERT INTO chosen_part (conversation, part) VALUES (?, ?)",
                (conversation, json.dumps(encode(part))),
            )

    def set_mode(self, conversation: int, mode: Mode) -> None:
        """Keep how the next question is answered."""
        self._db.execute("UPDATE conversation SET mode = ? WHERE id = ?", (mode, conversation))

    def remove(self, conversation: int) -> None:
        """Delete a conversation with its messages."""
        self._db.execute("DELETE FROM conversation WHERE id = ?", (conversation,))

    def ask(self, conversation: int, question: str, mode: Mode) -> Message:
        """Add a question that is about to be answered; return its message."""
        asked = self._now()
        cursor = self._db.execute(
            "INSERT INTO message (conversation, question, mode, state, partial, error, asked)"
            " VALUES (?, ?, ?, ?, '', '', ?)",
            (conversation, question, mode, MessageState.WRITING, asked),
        )
        self._db.execute(
            "UPDATE conversation SET changed = ?, title = CASE title WHEN '' THEN ? ELSE title END"
            " WHERE id = ?",
            (asked, shorten(question), conversation),
        )
        number = cursor.lastrowid or 0
        state = MessageState.WRITING
        return Message(number, conversation, question, mode, state, asked=asked)

    def restart(self, message: int) -> None:
        """Forget an answer, since the question is asked again."""
        self._db.execute(
            "UPDATE message SET state = ?, partial = '', answer = NULL, error = '' WHERE id = ?",
            (MessageState.WRITING, message),
        )

    def save_partial(self, message: int, text: str) -> None:
        """Keep the text so far."""
        self._db.execute("UPDATE message SET partial = ? WHERE id = ?", (text, message))

    def finish(
        self,
        message: int,
        state: MessageState,
        *,
        partial: str = "",
        answer: Answer | None = None,
        error: str = "",
    ) -> Message | None:
        """Keep how it ended; return the message, or None where it was removed meanwhile."""
        data = json.dumps(encode(answer)) if answer else None
        self._db.execute(
            "UPDATE message SET state = ?, partial = ?, answer = ?, error = ? WHERE id = ?",
            (state, partial, data, error, message),
        )
        return self.message(message)

    def message(self, message: int) -> Message | None:
        """Return one message, or None where it is gone."""
        row = self._db.execute(f"{_MESSAGES} WHERE id = ?", (message,)).fetchone()
        return _message(row) if row else None

    def messages(self, conversation: int) -> list[Message]:
        """Return the messages of a conversation, oldest first."""
        rows = self._db.execute(f"{_MESSAGES} WHERE conversation = ? ORDER BY id", (conversation,))
        return [_message(row) for row in rows]

    def history(self, conversation: int, *, before: int) -> list[Turn]:
        """Return the last turns with an answer before message `before`, oldest first."""
        rows = self._db.execute(
            f"{_MESSAGES} WHERE conversation = ? AND id < ? AND state IN (?, ?)"
            " ORDER BY id DESC LIMIT ?",
            (conversation, before, MessageState.DONE, MessageState.STOPPED, HISTORY_TURNS),
        )
        found = [_message(row) for row in rows]
        return [Turn(m.question, m.text) for m in reversed(found) if m.text]

    def close(self) -> None:
        """Close the file."""
        self._db.close()


_CONVERSATIONS = (
    "SELECT id, title, scope, mode, changed, part FROM conversation"
    " LEFT JOIN chosen_part ON conversation = id"
)
_MESSAGES = (
    "SELECT id, conversation, question, mode, state, partial, answer, error, asked FROM message"
)


def _conversation(row: tuple[Any, ...]) -> Conversation:
    number, title, scope, mode, changed, kept = row
    part = decode(ChosenPart, json.loads(kept)) if kept else None
    return Conversation(number, title, tuple(json.loads(scope)), Mode(mode), changed, part)


def _message(row: tuple[Any, ...]) -> Message:
    number, conversation, question, mode, state, partial, answer, error, asked = row
    return Message(
        id=number,
        conversation=conversation,
        question=question,
        mode=Mode(mode),
        state=MessageState(state),
        partial=partial,
        answer=decode(Answer, json.loads(answer)) if answer else None,
        error=error,
        asked=asked,
    )
