"""Which chapters of a book a question is limited to: shown, chosen, and how long they take to read.

Connects the conversation that is shown to the librarian, which knows the parts of a book, and to
the answerer, which knows how much fits into the model's context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from desktop.core.codec import decode, encode
from desktop.core.conversations import ChosenPart
from desktop.core.records import Mode
from desktop.ui.formatting import context_estimate, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.answering.modes.budget import Part
    from desktop.core.conversations import Message
    from desktop.ui.bridge import JobHandle, Workers
    from desktop.ui.conversation.conversation_pane import ConversationPane
    from desktop.ui.conversation.session import Session
    from desktop.ui.library.book_list import BookList
    from desktop.worker.process import Delivery

MOST_NAMED = 2


class PartChoice(QObject):
    """Shows the part that is asked below the question, and lets the user choose another."""

    def __init__(
        self, session: Session, pane: ConversationPane, book_list: BookList, workers: Workers
    ) -> None:
        super().__init__(session)
        self._session = session
        self._pane = pane
        self._book_list = book_list
        self._librarian = workers.librarian
        self._answerer = workers.answerer
        self._estimated_for: object = None
        self._estimate_job: JobHandle | None = None
        session.shown.connect(self.refresh)
        session.chapter_wanted.connect(self._read_chapter)
        session.busy_changed.connect(self._on_busy)
        pane.composer.part_wanted.connect(self.choose)
        book_list.loaded.connect(self.refresh)
        book_list.entry_changed.connect(lambda _: self.refresh())
        book_list.entry_removed.connect(lambda _: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Show the part that is asked, and the estimate in long-context mode."""
        part, book = self._session.conversation.part, self._book()
        name = part.label if part else tr("Whole book") if book else ""
        self._pane.composer.show_part(name, chosen=part is not None)
        self._update_estimate()

    def choose(self) -> None:
        """Let the user choose chapters."""
        book = self._book()
        if book is not None:
            self._request_parts(book, lambda parts: self._open(book, parts))

    def _book(self) -> str | None:
        """Return the one book that is asked, once it has been read; None where there are more."""
        scope = self._session.conversation.scope or tuple(self._book_list.entries)
        entry = self._book_list.entries.get(scope[0]) if len(scope) == 1 else None
        return scope[0] if entry is not None and entry.askable else None

    def _request_parts(self, book: str, then: Callable[[list[Part]], object]) -> None:
        from desktop.core.answering.modes.budget import Part

        def on_event(delivery: Delivery) -> None:
            if delivery.event == "done":
                then([decode(Part, part) for part in delivery.data])

        self._librarian.request("parts", {"book": book}, on_event=on_event)

    def _open(self, book: str, parts: list[Part]) -> None:
        from desktop.ui.conversation.parts_dialog import PartsDialog

        part = self._session.conversation.part
        title = self._book_list.entries[book].name if book in self._book_list.entries else ""
        dialog = PartsDialog(
            title,
            parts,
            chosen=part.sections if part else (),
            estimate=lambda sections, say: self._request_estimate(book, sections, say),
            parent=self._pane.window(),
        )
        dialog.chosen.connect(lambda found: self._set_part(book, found))
        dialog.open()

    def _set_part(self, book: str, found: Sequence[Part]) -> None:
        self._session.set_part(chosen_part(book, found) if found else None)
        self._pane.composer.focus()

    def _update_estimate(self) -> None:
        """Ask for an estimate of the long context, unless it is for the same part as the last."""
        conversation, book = self._session.conversation, self._book()
        part, model = conversation.part, self._session.model()
        wanted = (book, part, model) if conversation.mode is Mode.LONG_CONTEXT else None
        if wanted == self._estimated_for:
            return
        self._estimated_for = wanted
        self._pane.composer.show_estimate("")
        if self._estimate_job is not None:
            self._estimate_job.drop()
        if wanted is not None and book is not None and model is not None:
            sections = part.sections if part else None
            self._estimate_job = self._request_estimate(
                book, sections, self._pane.composer.show_estimate
            )

    def _request_estimate(
        self, book: str, sections: Sequence[str] | None, say: Callable[[str], object]
    ) -> JobHandle:
        # Not before it is needed: the window is to be there at once.
        from desktop.core.answering.modes.budget import Estimate
        from desktop.core.library.search_filter import SearchFilter

        def on_event(delivery: Delivery) -> None:
            if delivery.event == "done":
                say(context_estimate(decode(Estimate, delivery.data)))
            elif delivery.event == "failed":
                say(f"{delivery.data['what']}. {delivery.data['remedy']}.")

        where = SearchFilter((book,), sections=None if sections is None else tuple(sections))
        args: dict[str, Any] = {"where": encode(where), "model": self._session.model()}
        return self._answerer.request("estimate", args, on_event=on_event)

    def _on_busy(self, busy: bool) -> None:
        if not busy:  # what was just read is there at once from now on
            self._estimated_for = None
            self._update_estimate()

    def _read_chapter(self, message: Message) -> None:
        """Ask a question again of the chapter that its answer comes from."""
        answer = message.answer
        assert answer is not None
        first = answer.citations[0] if answer.citations else answer.context[0]
        places = [
            item for item in answer.context if (item.book, item.page) == (first.book, first.page)
        ]
        section = (places or answer.context)[0].section

        def ask_chapter(parts: list[Part]) -> None:
            chapter = next((p for p in parts if p.chapter and section in p.sections), None)
            if chapter is not None:
                self._session.set_part(chosen_part(first.book, [chapter]))
            else:
                self._session.set_scope((first.book,))
            self._session.ask_in(Mode.LONG_CONTEXT, message.question)

        self._request_parts(first.book, ask_chapter)


def chosen_part(book: str, found: Sequence[Part]) -> ChosenPart:
    """Return some parts of a book as one."""
    names = [part.label for part in found[:MOST_NAMED]]
    more = len(found) - len(names)
    label = ", ".join(names)
    if more:
        label = tr("{names} and {more} more").format(names=label, more=more)
    sections = dict.fromkeys(section for part in found for section in part.sections)
    return ChosenPart(book, label, tuple(sections))
