"""What the window tells the user in its notice bar, and what the buttons there do.

Turns news of the library, the models and the workers into notices.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from desktop.ui.formatting import pages, tr
from desktop.ui.shell.notice_bar import Notice

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.ui.conversation.session import Session
    from desktop.ui.library.book_list import BookList
    from desktop.ui.library.collection_list import CollectionList
    from desktop.ui.shell.main_window import MainWindow


class Notifications(QObject):
    """The one who tells."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        book_list, store = window.book_list, window.store
        self._undo: Callable[[], None] | None = None
        book_list.noticed.connect(self.say)
        window.collections.noticed.connect(self.say)
        window.library.collections.noticed.connect(self.say)
        self.follow_removals(book_list)
        self.follow_removals(window.collections)
        store.noticed.connect(self.say)
        store.added.connect(self._offer_model)
        store.installed.connect(self._on_installed)
        window.importer.noticed.connect(self.say)
        window.host.noticed.connect(self.say)
        window.library.info_wanted.connect(self._show_info)
        for bridge in window.workers.all():
            bridge.died.connect(self._on_died)

    def say(self, text: str) -> None:
        """Show a notice."""
        self._window.notices.show_notice(Notice(text))

    def follow_removals(self, by: BookList | CollectionList | Session) -> None:
        """Offer to undo what is removed there; of all removals the last can be undone."""
        by.removal_offered.connect(partial(self._offer_undo, by.undo_removal))
        by.removal_settled.connect(partial(self._withdraw_undo, by.undo_removal))

    def undo(self) -> None:
        """Undo the last removal."""
        if self._undo is not None:
            self._undo()

    def _offer_undo(self, undo: Callable[[], None], name: str) -> None:
        self._window.notices.withdraw(tr("Undo"))
        self._undo = undo
        self._window.menus.undo.setEnabled(True)
        text = tr("Removed “{name}”").format(name=name)
        self._window.notices.show_notice(Notice(text, tr("Undo"), self.undo, stays=True))

    def _withdraw_undo(self, undo: Callable[[], None]) -> None:
        if self._undo == undo:
            self._undo = None
            self._window.menus.undo.setEnabled(False)
            self._window.notices.withdraw(tr("Undo"))

    def _offer_model(self, name: str, summary: str) -> None:
        def use() -> None:
            if self._window.session is not None:
                self._window.session.use_model(name)

        self._window.notices.show_notice(Notice(summary or name, tr("Use it"), use, stays=True))

    def _on_installed(self, name: str) -> None:
        self.say(tr("{model} is ready.").format(model=self._window.store.title(name)))

    def _on_died(self, kind: str, news: dict[str, Any]) -> None:
        if news.get("given_up"):
            text = tr("A part of Lutrin keeps stopping. What it had finished is kept.")
            self._window.notices.show_notice(
                Notice(text, tr("Start it again"), lambda: self._start_again(kind), stays=True)
            )
        elif kind == "librarian":
            self.say(
                tr(
                    "The part that looks after the library stopped unexpectedly and was started "
                    "again. Nothing is lost; reading goes on where it was."
                )
            )

    def _start_again(self, kind: str) -> None:
        for bridge in self._window.workers.all():
            if bridge.kind == kind:
                bridge.start()
        if kind == "librarian":
            self._window.book_list.reload()

    def _show_info(self, key: str) -> None:
        book = self._window.book_list.entries[key].book
        if book is not None:
            parts = [book.file, pages(book.pages), *book.warnings]
            text = " · ".join(part for part in parts if part)
            self._window.notices.show_notice(Notice(text, stays=True))
