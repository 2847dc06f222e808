"""One question on its way: the passages are looked up, then the answer is written and kept.

Talks to the librarian and the answerer and saves into the conversations. Knows no widgets;
views follow its signals, so that an answer goes on while another conversation is shown.
"""

from __future__ import annotations

import dataclasses
import logging
import sqlite3
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.core.conversations import Conversation, Conversations, Message, MessageState
from desktop.core.records import Answer, Mode, Progress, decode, encode
from desktop.ui.wording import tr

if TYPE_CHECKING:
    from desktop.ui.bridge import Bridge, JobHandle, Workers
    from desktop.worker.process import Delivery

logger = logging.getLogger(__name__)

PAINT_MS = 33
SAVE_MS = 500
FINDING = Progress("finding", 0, 0, "")


@dataclass
class Running:
    """The question that is being answered.

    Attributes:
        scope: Ids of the books asked; empty for all.
        attempt: How often another wording was asked for.
        stage: What is being done.
        started: Seconds of the monotonic clock.
        saved: Pieces that are in the file.
        shown: Pieces that the views were told.
    """

    message: Message
    scope: tuple[str, ...]
    model: str | None
    job: JobHandle | None = None
    attempt: int = 0
    stage: Progress = FINDING
    pieces: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    complete: bool = True
    saved: int = 0
    shown: int = 0

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    @property
    def told(self) -> str:
        """The text that the views were told."""
        return "".join(self.pieces[: self.shown])


class Asker(QObject):
    """Answers one question at a time."""

    began = Signal(object)
    """The `Message`, new or about to be answered again."""
    stage_changed = Signal(int, object)
    text_grew = Signal(int, str)
    """Number of the message and what was added."""
    ended = Signal(object)
    """The `Message` as it is kept now."""
    save_failed = Signal(str)

    def __init__(
        self, workers: Workers, conversations: Conversations, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._librarian: Bridge = workers.librarian
        self._answerer: Bridge = workers.answerer
        self._conversations = conversations
        self.running: Running | None = None
        self._attempts: dict[int, int] = {}
        self._warm: str | None = ""
        self._paint = QTimer(self, interval=PAINT_MS)
        self._paint.timeout.connect(self._tell)
        self._save = QTimer(self, interval=SAVE_MS)
        self._save.timeout.connect(self._save_partial)
        self._answerer.died.connect(self._cool_down)

    def ask(
        self, conversation: Conversation, question: str, mode: Mode, *, model: str | None
    ) -> None:
        """Ask a new question."""
        if self.running is None:
            message = self._conversations.ask(conversation.id, question, mode)
            self._run(Running(message, conversation.scope, model))

    def ask_again(self, message: Message, scope: tuple[str, ...], *, model: str | None) -> None:
        """Answer a question of the conversation anew, in its place."""
        if self.running is None:
            self._conversations.restart(message.id)
            fresh = self._conversations.message(message.id)
            if fresh is not None:
                self._run(Running(fresh, scope, model, attempt=self._next_attempt(message)))

    def _next_attempt(self, message: Message) -> int:
        """Count the wordings of an answer; one that failed or was stopped is just tried again."""
        if message.answer is not None and message.state is MessageState.DONE:
            self._attempts[message.id] = self._attempts.get(message.id, 0) + 1
        return self._attempts.get(message.id, 0)

    def stop(self) -> None:
        """Stop; what is written so far stays."""
        running = self.running
        if running is None:
            return
        if running.job is None or running.stage.stage == "finding":
            if running.job:
                running.job.drop()
            self._end(MessageState.STOPPED)
        else:
            running.job.cancel()

    def warm_up(self, model: str | None) -> None:
        """Load the model ahead of the question; once a model."""
        if self._warm != model and self.running is None:
            self._warm = model
            self._answerer.request("load", {"model": model}, on_event=self._on_warmed)

    def close(self) -> None:
        """Keep what is there; the window is closing."""
        running = self.running
        if running is not None:
            if running.job:
                running.job.drop()
            self._end(MessageState.INTERRUPTED)

    def _run(self, running: Running) -> None:
        self.running = running
        self.began.emit(running.message)
        self._paint.start()
        self._save.start()
        running.job = self._librarian.request(
            "retrieve",
            {
                "question": running.message.question,
                "history": self._history(),
                "books": list(running.scope) or None,
            },
            on_event=self._on_found,
        )

    def _history(self) -> list[Any]:
        message = self.running.message if self.running else None
        if message is None:
            return []
        turns = self._conversations.history(message.conversation, before=message.id)
        return [encode(turn) for turn in turns]

    def _on_found(self, delivery: Delivery) -> None:
        running = self.running
        if running is None:
            return
        if delivery.event != "done":
            self._on_trouble(delivery, tr("The part that looks things up in the books"))
            return
        running.complete = delivery.data.get("complete", True)
        self._set_stage(Progress("waiting", 0, 0, "tokens"))
        self._warm = running.model
        running.job = self._answerer.request(
            "answer",
            {
                "question": running.message.question,
                "mode": running.message.mode,
                "model": running.model,
                "history": self._history(),
                "hits": delivery.data["hits"],
                "absent": delivery.data["absent"],
                "attempt": running.attempt,
                "retrieve_s": delivery.data["retrieve_s"],
                "books": list(running.scope) or None,
            },
            on_event=self._on_answer,
        )

    def _on_answer(self, delivery: Delivery) -> None:
        running = self.running
        if running is None:
            return
        match delivery.event:
            case "stage":
                self._set_stage(decode(Progress, delivery.data))
            case "token":
                running.pieces.append(delivery.data["text"])
            case "done":
                answer = self._noted(running, decode(Answer, delivery.data))
                stopped = answer.stopped
                self._end(MessageState.STOPPED if stopped else MessageState.DONE, answer=answer)
            case _:
                self._on_trouble(delivery, tr("The part that writes answers"))

    def _noted(self, running: Running, answer: Answer) -> Answer:
        if running.complete:
            return answer
        note = tr(
            "The book was still being prepared, so this was found by its words only; "
            "asking again later may find more."
        )
        return dataclasses.replace(answer, notes=(*answer.notes, note))

    def _on_trouble(self, delivery: Delivery, part: str) -> None:
        if delivery.event == "cancelled":
            self._end(MessageState.STOPPED)
        elif delivery.event == "failed":
            data = delivery.data
            self._end(MessageState.FAILED, error=f"{data['what']}. {data['remedy']}.")
        elif delivery.event == "died":
            again = tr("It keeps stopping; look into Help › About for the log file.")
            if not (delivery.data or {}).get("given_up"):
                again = tr("It has been started again.")
            text = tr("{part} stopped unexpectedly. {again}").format(part=part, again=again)
            self._end(MessageState.INTERRUPTED, error=text)

    def _set_stage(self, stage: Progress) -> None:
        if self.running is not None:
            self.running.stage = stage
            self.stage_changed.emit(self.running.message.id, stage)

    def _tell(self) -> None:
        running = self.running
        if running is not None and len(running.pieces) > running.shown:
            grown = "".join(running.pieces[running.shown :])
            running.shown = len(running.pieces)
            self.text_grew.emit(running.message.id, grown)

    def _save_partial(self) -> None:
        running = self.running
        if running is None or running.saved == len(running.pieces):
            return
        running.saved = len(running.pieces)
        try:
            self._conversations.save_partial(running.message.id, running.text)
        except sqlite3.Error as error:
            logger.warning("the partial answer was not saved: %s", error)

    def _end(self, state: MessageState, *, answer: Answer | None = None, error: str = "") -> None:
        running, self.running = self.running, None
        self._paint.stop()
        self._save.stop()
        if running is None:
            return
        text = running.text
        ended: Message | None = dataclasses.replace(
            running.message, state=state, partial=text, answer=answer, error=error
        )
        try:
            ended = self._conversations.finish(
                running.message.id, state, partial=text, answer=answer, error=error
            )
        except sqlite3.Error as problem:
            logger.warning("the answer was not saved: %s", problem)
            self.save_failed.emit(
                tr(
                    "This answer could not be saved ({problem}). Check that the disk is not full."
                ).format(problem=problem)
            )
        if ended is not None:
            self.ended.emit(ended)

    def _on_warmed(self, delivery: Delivery) -> None:
        if delivery.event != "done":
            self._warm = ""

    def _cool_down(self) -> None:
        self._warm = ""
