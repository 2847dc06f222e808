"""Which notices the notice bar shows, and what their buttons do.

Turns signals of the library, the models and the workers into notices, and keeps the last removal
that can be undone.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.ui.formatting import pages, tr
from desktop.ui.shell.notice_bar import Notice

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.ui.bridge import Workers
    from desktop.ui.conversation.session import Session
    from desktop.ui.library.book_list import BookList
    from desktop.ui.library.collection_list import CollectionList
    from desktop.ui.models.model_list import ModelList
    from desktop.ui.shell.notice_bar import NoticeBar


class Notifications(QObject):
    """Shows notices in the notice bar of a window."""

    undo_available = Signal(bool)
    """Whether there is a removal to undo."""
    model_chosen = Signal(str)
    """The name of a model just added that is to answer from now on."""

    def __init__(
        self,
        notice_bar: NoticeBar,
        *,
        book_list: BookList,
        model_list: ModelList,
        workers: Workers,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._notice_bar = notice_bar
        self._book_list = book_list
        self._model_list = model_list
        self._workers = workers
        self._undo: Callable[[], None] | None = None
        model_list.added.connect(self._offer_model)
        model_list.installed.connect(self._on_installed)
        for bridge in workers.all():
            bridge.died.connect(self._on_died)

    def notify(self, text: str) -> None:
        """Show a notice."""
        self._notice_bar.show_notice(Notice(text))

    def follow_removals(self, by: BookList | CollectionList | Session) -> None:
        """Offer to undo the removals of a list; only the last removal of all can be undone."""
        by.removal_offered.connect(partial(self._offer_undo, by.undo_removal))
        by.removal_settled.connect(partial(self._withdraw_undo, by.undo_removal))

    def undo(self) -> None:
        """Undo the last removal."""
        if self._undo is not None:
            self._undo()

    def show_book_info(self, key: str) -> None:
        """Show a book's file, its pages and what went wrong when it was read."""
        book = self._book_list.entries[key].book
        if book is not None:
            parts = [book.file, pages(book.pages), *book.warnings]
            text = " · ".join(part for part in parts if part)
            self._notice_bar.show_notice(Notice(text, stays=True))

    def _offer_undo(self, undo: Callable[[], None], name: str) -> None:
        self._notice_bar.withdraw(tr("Undo"))
        self._undo = undo
        self.undo_available.emit(True)
        text = tr("Removed “{name}”").format(name=name)
        self._notice_bar.show_notice(Notice(text, tr("Undo"), self.undo, stays=True))

    def _withdraw_undo(self, undo: Callable[[], None]) -> None:
        if self._undo == undo:
            self._undo = None
            self.undo_available.emit(False)
            self._notice_bar.withdraw(tr("Undo"))

    def _offer_model(self, name: str, summary: str) -> None:
        use = partial(self.model_chosen.emit, name)
        self._notice_bar.show_notice(Notice(summary or name, tr("Use it"), use, stays=True))

    def _on_installed(self, name: str) -> None:
        self.notify(tr("{model} is ready.").format(model=self._model_list.title(name)))

    def _on_died(self, kind: str, news: dict[str, Any]) -> None:
        if news.get("given_up"):
            text = tr("A part of Lutrin keeps stopping. What it had finished is kept.")
            self._notice_bar.show_notice(
                Notice(text, tr("Start it again"), lambda: self._start_again(kind), stays=True)
            )
        elif kind == "librarian":
            self.notify(
                tr(
                    "The part that looks after the library stopped unexpectedly and was started "
                    "again. Nothing is lost; reading goes on where it was."
                )
            )

    def _start_again(self, kind: str) -> None:
        for bridge in self._workers.all():
            if bridge.kind == kind:
                bridge.start()
        if kind == "librarian":
            self._book_list.reload()
