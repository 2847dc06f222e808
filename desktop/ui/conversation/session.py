"""The conversation that is shown: its questions, its scope, its mode, and what its pane shows.

Connects the question runner, the library, the models and the stored conversations to the
conversation pane. Knows nothing of pages, menus or dropped files.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.core.conversations import Message, MessageState
from desktop.core.records import Mode
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from desktop.core.conversations import ChosenPart, Conversation, Conversations
    from desktop.ui.conversation.conversation_pane import ConversationPane
    from desktop.ui.conversation.question_runner import QuestionRunner
    from desktop.ui.library.book_list import BookList
    from desktop.ui.models.model_list import ModelList
    from desktop.ui.preferences import Preferences

UNDO_MS = 10_000


class Session(QObject):
    """The conversation that is shown.

    Args:
        had_books: Whether there seemed to be books at the start, before the librarian answers.
    """

    scope_changed = Signal(tuple)
    shown = Signal()
    """Another conversation is shown, or the scope, part, mode or model has changed."""
    chapter_wanted = Signal(object)
    """A `Message` whose question is to be asked of the chapter that its answer comes from."""
    removal_offered = Signal(str)
    """The title of a conversation that was deleted and can be had back."""
    removal_settled = Signal()
    busy_changed = Signal(bool)

    def __init__(
        self,
        *,
        conversations: Conversations,
        question_runner: QuestionRunner,
        book_list: BookList,
        model_list: ModelList,
        pane: ConversationPane,
        preferences: Preferences,
        had_books: bool,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._conversations = conversations
        self._question_runner = question_runner
        self._book_list = book_list
        self._model_list = model_list
        self._pane = pane
        self._preferences = preferences
        self._had_books = had_books
        self._removed: Conversation | None = None
        self.conversation: Conversation = self._first()
        self._offer = QTimer(self, interval=UNDO_MS, singleShot=True)
        self._offer.timeout.connect(self.settle_removal)
        self._connect()
        self._show()

    def new(self) -> None:
        """Start an empty conversation, or take the one that is still empty."""
        empty = next((c for c in self._listed() if not c.title), None)
        scope, mode = self.conversation.scope, self.conversation.mode
        self.conversation = empty or self._conversations.start(scope=scope, mode=mode)
        self._show()
        self._pane.composer.focus()

    def switch(self, number: int) -> None:
        """Show another conversation."""
        found = self._conversations.get(number)
        if found is not None:
            self.conversation = found
            self._show()

    def remove(self, number: int) -> None:
        """Delete a conversation, with an offer to undo it."""
        found = self._conversations.get(number)
        if found is None:
            return
        running = self._question_runner.running
        if running is not None and running.message.conversation == number:
            self._question_runner.close()
        self.settle_removal()
        if not found.title:
            self._conversations.remove(number)
        else:
            self._removed = found
            self._offer.start()
            self.removal_offered.emit(found.title)
        if self.conversation.id == number:
            self.conversation = self._first()
        self._show()

    def undo_removal(self) -> None:
        """Bring the conversation back that was deleted last."""
        found, self._removed = self._removed, None
        self._offer.stop()
        if found is not None:
            self.switch(found.id)
        self.removal_settled.emit()

    def settle_removal(self) -> None:
        """End the offer to undo: the conversation is really deleted."""
        found, self._removed = self._removed, None
        self._offer.stop()
        if found is not None:
            self._conversations.remove(found.id)
            self.removal_settled.emit()

    def set_scope(self, scope: tuple[str, ...]) -> None:
        """Limit questions to these books from now on; none means all."""
        self._conversations.set_scope(self.conversation.id, scope)
        part = self.conversation.part
        if part is not None and scope != (part.book,):
            part = None
            self._conversations.set_part(self.conversation.id, None)
        self.conversation = dataclasses.replace(self.conversation, scope=scope, part=part)
        self.scope_changed.emit(scope)
        self.refresh()
        self.shown.emit()

    def set_part(self, part: ChosenPart | None) -> None:
        """Limit questions to a part of a book from now on; None for no such limit."""
        if part is not None and self.conversation.scope != (part.book,):
            self.set_scope((part.book,))
        self._conversations.set_part(self.conversation.id, part)
        self.conversation = dataclasses.replace(self.conversation, part=part)
        self.shown.emit()

    def ask(self, question: str, mode: Mode) -> None:
        """Ask a question in the conversation that is shown."""
        self._question_runner.ask(self.conversation, question, mode, model=self.model())

    def answered(self) -> int:
        """Return how many questions of the conversation have an answer."""
        messages = self._conversations.messages(self.conversation.id)
        return sum(message.state is MessageState.DONE for message in messages)

    def regenerate(self) -> None:
        """Answer the last question anew."""
        last = self._pane.view.last()
        if last is not None:
            self._again(last)

    def use_model(self, name: str) -> None:
        """Answer with another model from now on."""
        self._preferences.change(model=name)
        self._show_models()
        self.show_current(force=True)
        self.shown.emit()

    def open_models(self) -> None:
        """List all models in the place of the conversation."""
        self._pane.show_models(
            use=self.use_model,
            closed=lambda: self.show_current(force=True),
            used=self.model(),
        )

    def show_current(self, *, force: bool = False) -> None:
        """Show the messages, or the page that says what to do first."""
        if self._pane.showing_models() and not force:
            return
        books = bool(self._book_list.entries) or (self._had_books and not self._book_list.is_loaded)
        asked = bool(self._pane.view.views)
        model = self._model_list.any_installed()
        if model and (books or asked):
            self._pane.show_conversation()
        else:
            self._pane.show_start(book=not books, model=not model)

    def refresh(self) -> None:
        """Show again what depends on books and models."""
        self._pane.composer.set_ready(self._why_not())
        self.show_current()

    def close(self) -> None:
        """Keep everything; the window is closing."""
        self._question_runner.close()
        self.settle_removal()
        self._preferences.change(conversation=self.conversation.id)

    def _connect(self) -> None:
        pane, question_runner = self._pane, self._question_runner
        pane.new_wanted.connect(self.new)
        pane.conversation_chosen.connect(self.switch)
        pane.remove_wanted.connect(self.remove)
        pane.regenerate_wanted.connect(self.regenerate)
        pane.composer.question_sent.connect(self.ask)
        pane.composer.stop_wanted.connect(question_runner.stop)
        pane.composer.mode_changed.connect(self._set_mode)
        pane.composer.model_chosen.connect(self.use_model)
        pane.composer.models_wanted.connect(self.open_models)
        pane.composer.activated.connect(self._warm_up)
        pane.view.regenerate_wanted.connect(self._again)
        pane.view.mode_wanted.connect(self._in_mode)
        pane.view.map_reduce_wanted.connect(self._map_reduce)
        pane.view.limit_removed.connect(self._without_limit)
        question_runner.started.connect(self._on_started)
        question_runner.stage_changed.connect(pane.view.show_stage)
        question_runner.text_added.connect(pane.view.append)
        question_runner.finished.connect(self._on_finished)
        self._book_list.loaded.connect(self.refresh)
        self._book_list.entry_changed.connect(lambda _: self.refresh())
        self._book_list.entry_removed.connect(lambda _: self.refresh())
        self._model_list.changed.connect(self._on_models)
        self._model_list.installed.connect(self._on_installed)

    def _first(self) -> Conversation:
        known = self._listed()
        last = self._preferences.settings.conversation
        chosen = next((c for c in known if c.id == last), known[0] if known else None)
        return chosen or self._conversations.start()

    def _listed(self) -> list[Conversation]:
        removed = self._removed
        return [c for c in self._conversations.all() if removed is None or c.id != removed.id]

    def _show(self) -> None:
        current = self.conversation
        self._pane.set_conversations(self._listed(), current.id)
        self._pane.view.show_messages(self._conversations.messages(current.id))
        self._pane.composer.set_mode(current.mode)
        running = self._question_runner.running
        if running is not None and running.message.conversation == current.id:
            message = dataclasses.replace(running.message, partial=running.shown_text)
            self._pane.view.start(message, running.started, running.stage)
        self._preferences.change(conversation=current.id)
        self.scope_changed.emit(current.scope)
        self._show_models()
        self.refresh()
        self.shown.emit()

    def model(self) -> str | None:
        """Return the name of the model that answers; None where there is none."""
        chosen = self._preferences.settings.model
        known = self._model_list.models.get(chosen or "")
        return chosen if known is not None and known.installed else self._model_list.default

    def _show_models(self) -> None:
        installed = [(m.name, m.title) for m in self._model_list.models.values() if m.installed]
        name = self.model()
        self._pane.composer.set_models(installed, self._model_list.title(name) if name else "")
        if self._pane.all_models is not None:
            self._pane.all_models.set_used(name)

    def _why_not(self) -> str:
        if self._book_list.any_askable(self.conversation.scope):
            return ""
        if not self._book_list.is_loaded:
            return tr("Opening the library…")
        if not self._book_list.entries:
            return tr("Add a book first, then ask about it")
        return tr("The book is being read; you can ask in a moment")

    def _again(self, message: Message, *, without: str = "", map_reduce: bool = False) -> None:
        if message.state is not MessageState.WRITING:
            self._question_runner.ask_again(
                message,
                self.conversation,
                model=self.model(),
                without=without,
                map_reduce=map_reduce,
            )

    def _map_reduce(self, message: Message) -> None:
        self._again(message, map_reduce=True)

    def _without_limit(self, message: Message, key: str) -> None:
        self._again(message, without=key)

    def _in_mode(self, message: Message, mode: Mode) -> None:
        if self._question_runner.running is not None:
            return
        if mode is Mode.LONG_CONTEXT and message.answer is not None and message.answer.context:
            self.chapter_wanted.emit(message)
        else:
            self.ask_in(mode, message.question)

    def ask_in(self, mode: Mode, question: str) -> None:
        """Ask a question in a mode, which stays chosen."""
        self._pane.composer.set_mode(mode)
        self.ask(question, mode)

    def _set_mode(self, mode: Mode) -> None:
        self._conversations.set_mode(self.conversation.id, mode)
        self.conversation = dataclasses.replace(self.conversation, mode=mode)
        self.shown.emit()

    def _warm_up(self) -> None:
        if self._book_list.any_askable(self.conversation.scope) and self.model():
            self._question_runner.warm_up(self.model())

    def _on_started(self, message: Message) -> None:
        running = self._question_runner.running
        if running is not None and message.conversation == self.conversation.id:
            self._pane.view.start(message, running.started, running.stage)
        if not self.conversation.title:
            self.conversation = self._conversations.get(self.conversation.id) or self.conversation
            self._pane.set_conversations(self._listed(), self.conversation.id)
        self._pane.composer.set_busy(True)
        self.busy_changed.emit(True)
        self.show_current(force=True)

    def _on_finished(self, message: Message) -> None:
        self._pane.view.refresh(message)
        self._pane.composer.set_busy(False)
        self.busy_changed.emit(False)

    def _on_models(self) -> None:
        self._show_models()
        self.refresh()

    def _on_installed(self, name: str) -> None:
        if not self._model_list.any_installed() or self.model() is None:
            self._preferences.change(model=name)
