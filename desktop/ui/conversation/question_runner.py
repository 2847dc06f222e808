"""Runs one question at a time through the answer pipeline, and stores the answer.

Sends each step of the pipeline to the librarian or the answerer and saves into the conversations.
Knows no widgets; views follow its signals, so that an answer goes on while another conversation
is shown.
"""

from __future__ import annotations

import dataclasses
import logging
import sqlite3
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.core.codec import decode, encode
from desktop.core.conversations import (
    ChosenPart,
    Conversation,
    Conversations,
    Message,
    MessageState,
)
from desktop.core.errors import CancelledError
from desktop.core.records import Answer, Mode, Progress, Turn
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from collections.abc import Generator

    from desktop.core.answering.pipeline.steps import Route, Step
    from desktop.ui.bridge import Bridge, JobHandle, Workers
    from desktop.worker.process import Delivery

logger = logging.getLogger(__name__)

PAINT_MS = 33
SAVE_MS = 500
FINDING = Progress("finding", 0, 0, "")
FURTHER = Progress("further", 0, 0, "")


@dataclass
class Running:
    """The question that is being answered.

    Attributes:
        scope: Ids of the books asked; empty for all.
        part: The part of a book to keep to; None for no such part.
        without: Keys of the filters found in the question that the user took away.
        steps: The answer pipeline, which yields one step after the other.
        attempt: How often the answer was regenerated.
        map_reduce: Whether the whole part is read, a few pages at a time.
        stage: What is being done.
        started: Seconds of the monotonic clock.
        further_round: Whether the text of a further round is being written; the first text stays
            shown until one is chosen.
        saved: How many pieces are stored.
        shown: How many pieces the views have.
    """

    message: Message
    scope: tuple[str, ...]
    model: str | None
    part: ChosenPart | None = None
    without: tuple[str, ...] = ()
    steps: Generator[Step, Any, Answer] | None = None
    job: JobHandle | None = None
    attempt: int = 0
    map_reduce: bool = False
    stage: Progress = FINDING
    pieces: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    complete: bool = True
    further_round: bool = False
    saved: int = 0
    shown: int = 0

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    @property
    def shown_text(self) -> str:
        """The text that the views have."""
        return "".join(self.pieces[: self.shown])


class QuestionRunner(QObject):
    """Answers one question at a time."""

    started = Signal(object)
    """The `Message`, new or about to be answered again."""
    stage_changed = Signal(int, object)
    text_added = Signal(int, str)
    """Number of the message and what was added."""
    finished = Signal(object)
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
        self._without: dict[int, list[str]] = {}
        self._warm: str | None = ""
        self._paint = QTimer(self, interval=PAINT_MS)
        self._paint.timeout.connect(self._emit_text)
        self._save = QTimer(self, interval=SAVE_MS)
        self._save.timeout.connect(self._save_partial)
        self._answerer.died.connect(self._forget_warm_up)

    def ask(
        self, conversation: Conversation, question: str, mode: Mode, *, model: str | None
    ) -> None:
        """Ask a new question."""
        if self.running is None:
            message = self._conversations.ask(conversation.id, question, mode)
            self._run(Running(message, conversation.scope, model, conversation.part))

    def ask_again(
        self,
        message: Message,
        conversation: Conversation,
        *,
        model: str | None,
        without: str = "",
        map_reduce: bool = False,
    ) -> None:
        """Answer a question of the conversation anew, in its place.

        Args:
            message: Whose question.
            conversation: Says which books are asked, and which part.
            model: Name of the model; None for the default.
            without: Key of a limit of the question's own that was taken away.
            map_reduce: Read the whole part, a few pages at a time.
        """
        if self.running is not None:
            return
        attempt = 0 if without or map_reduce else self._next_attempt(message)
        if without:
            self._without.setdefault(message.id, []).append(without)
        self._conversations.restart(message.id)
        fresh = self._conversations.message(message.id)
        if fresh is not None:
            taken = tuple(self._without.get(message.id, ()))
            scope, part = conversation.scope, conversation.part
            self._run(
                Running(
                    fresh, scope, model, part, without=taken, attempt=attempt, map_reduce=map_reduce
                )
            )

    def _next_attempt(self, message: Message) -> int:
        """Count the regenerations of an answer; one that failed or was stopped is not counted."""
        if message.answer is not None and message.state is MessageState.DONE:
            self._attempts[message.id] = self._attempts.get(message.id, 0) + 1
        return self._attempts.get(message.id, 0)

    def stop(self) -> None:
        """Stop; what is written so far stays."""
        running = self.running
        if running is None:
            return
        if running.job is None or running.stage.stage in ("finding", "further", "checking"):
            if running.job:
                running.job.drop()
            self._stopped(running)
        else:
            running.job.cancel()

    def warm_up(self, model: str | None) -> None:
        """Load a model before it is needed; only once for the same model."""
        if self._warm != model and self.running is None:
            self._warm = model
            self._answerer.request("load", {"model": model}, on_event=self._on_warmed)

    def close(self) -> None:
        """Keep what is there; the window is closing."""
        running = self.running
        if running is not None:
            if running.job:
                running.job.drop()
            self._finish(MessageState.INTERRUPTED)

    def _run(self, running: Running) -> None:
        # Not before a question is asked: the window is to be there at once.
        from desktop.core.answering.pipeline import steps
        from desktop.core.library.search_filter import SearchFilter

        self.running = running
        self.started.emit(running.message)
        self._paint.start()
        self._save.start()
        part = running.part
        asked = steps.Question(
            text=running.message.question,
            mode=Mode(running.message.mode),
            where=SearchFilter((part.book,), sections=part.sections)
            if part
            else SearchFilter(running.scope or None),
            without=running.without,
            model=running.model,
            history=self._history(),
            attempt=running.attempt,
            map_reduce=running.map_reduce,
        )
        running.steps = steps.answer_pipeline(asked)
        self._take(next(running.steps))

    def _take(self, step: Step) -> None:
        """Hand the next step to the worker that can do it."""
        from desktop.core.answering.pipeline import steps

        running = self.running
        assert running is not None
        place = steps.ROUTES[type(step)]
        if isinstance(step, steps.Generate):
            running.further_round = bool(running.pieces)
            self._warm = running.model
        further = isinstance(step, steps.Retrieve) and bool(step.skip)
        self._set_stage(FURTHER if further else Progress(place.stage, 0, 0, ""))
        worker = self._answerer if place.worker == "answerer" else self._librarian
        running.job = worker.request(
            place.verb, encode(step), on_event=lambda delivery: self._on_event(delivery, place)
        )

    def _history(self) -> tuple[Turn, ...]:
        message = self.running.message if self.running else None
        if message is None:
            return ()
        return tuple(self._conversations.history(message.conversation, before=message.id))

    def _on_event(self, delivery: Delivery, place: Route) -> None:
        running = self.running
        if running is None:
            return
        match delivery.event:
            case "stage":
                stage = decode(Progress, delivery.data)
                again = running.further_round and stage.stage in (
                    "map_reduce",
                    "reading",
                    "writing",
                )
                self._set_stage(replace(stage, stage="comparing") if again else stage)
            case "token" if running.further_round:
                pass
            case "token":
                running.pieces.append(delivery.data["text"])
            case "done":
                self._continue(running, decode(place.record, delivery.data))
            case _:
                self._on_failure(running, delivery, place)

    def _continue(self, running: Running, result: Any) -> None:
        """Send a step's result to the pipeline, and take the next step or the answer."""
        running.complete = running.complete and getattr(result, "complete", True)
        assert running.steps is not None
        try:
            step = running.steps.send(result)
        except StopIteration as end:
            self._answered(running, end.value)
        else:
            self._take(step)

    def _stopped(self, running: Running) -> None:
        """End with the answer of the rounds before, where there is one."""
        assert running.steps is not None
        try:
            running.steps.throw(CancelledError())
        except StopIteration as end:
            self._answered(running, end.value)
        except CancelledError:
            self._finish(MessageState.STOPPED)

    def _answered(self, running: Running, answer: Answer) -> None:
        state = MessageState.STOPPED if answer.stopped else MessageState.DONE
        self._finish(state, answer=self._with_notes(running, answer))

    def _with_notes(self, running: Running, answer: Answer) -> Answer:
        if running.complete:
            return answer
        note = tr(
            "The book was still being prepared, so this was found by its words only; "
            "asking again later may find more."
        )
        return dataclasses.replace(answer, notes=(*answer.notes, note))

    def _on_failure(self, running: Running, delivery: Delivery, place: Route) -> None:
        if delivery.event == "cancelled":
            self._stopped(running)
        elif delivery.event == "failed":
            data = delivery.data
            self._finish(MessageState.FAILED, error=f"{data['what']}. {data['remedy']}.")
        elif delivery.event == "died":
            again = tr("It keeps stopping; look into Help › About for the log file.")
            if not (delivery.data or {}).get("given_up"):
                again = tr("It has been started again.")
            part = tr("The part that looks things up in the books")
            if place.worker == "answerer":
                part = tr("The part that writes answers")
            text = tr("{part} stopped unexpectedly. {again}").format(part=part, again=again)
            self._finish(MessageState.INTERRUPTED, error=text)

    def _set_stage(self, stage: Progress) -> None:
        if self.running is not None:
            self.running.stage = stage
            self.stage_changed.emit(self.running.message.id, stage)

    def _emit_text(self) -> None:
        running = self.running
        if running is not None and len(running.pieces) > running.shown:
            grown = "".join(running.pieces[running.shown :])
            running.shown = len(running.pieces)
            self.text_added.emit(running.message.id, grown)

    def _save_partial(self) -> None:
        running = self.running
        if running is None or running.saved == len(running.pieces):
            return
        running.saved = len(running.pieces)
        try:
            self._conversations.save_partial(running.message.id, running.text)
        except sqlite3.Error as error:
            logger.warning("the partial answer was not saved: %s", error)

    def _finish(
        self, state: MessageState, *, answer: Answer | None = None, error: str = ""
    ) -> None:
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
            self.finished.emit(ended)

    def _on_warmed(self, delivery: Delivery) -> None:
        if delivery.event != "done":
            self._warm = ""

    def _forget_warm_up(self) -> None:
        self._warm = ""
