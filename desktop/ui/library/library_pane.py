"""The left pane: collections, a card for each book, and which books are in the scope of questions.

Shows the `BookList` and passes the user's commands to it. Knows nothing of workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.buttons import PANE_HEAD_HEIGHT, label, tool_button
from desktop.ui.formatting import tr
from desktop.ui.library.book_card import BookCard
from desktop.ui.library.collection_rows import CollectionRows

if TYPE_CHECKING:
    from desktop.ui.icons import Icons
    from desktop.ui.library.book_list import BookList
    from desktop.ui.library.collection_list import CollectionList


class LibraryPane(QWidget):
    """The library pane."""

    add_wanted = Signal()
    scope_chosen = Signal(tuple)
    """Ids of the books in the scope of questions; none for all."""
    book_opened = Signal(str)
    info_wanted = Signal(str)
    menu_opened = Signal(str, QMenu)
    """See `BookCard`."""

    def __init__(
        self,
        book_list: BookList,
        collections: CollectionList,
        icons: Icons,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._book_list = book_list
        self._icons = icons
        self._scope: tuple[str, ...] = ()
        self.cards: dict[str, BookCard] = {}
        self.setMinimumWidth(170)
        self.all_books = QPushButton(tr("All books"))
        self.all_books.setAutoDefault(False)
        self.all_books.setCheckable(True)
        self.all_books.setChecked(True)
        self.all_books.setToolTip(tr("Ask all books at once; Ctrl+click books to ask several"))
        self.all_books.clicked.connect(lambda: self._choose(()))
        self.collections = CollectionRows(collections, book_list)
        self.collections.chosen.connect(self._choose)
        self._empty = label(tr("No books yet."), name="muted", wrap=True)
        self._build()
        book_list.entry_changed.connect(self._show_entry)
        book_list.entry_removed.connect(self._drop_entry)
        book_list.entry_renamed.connect(self._rename_entry)
        book_list.loaded.connect(self._refresh)
        self._refresh()

    def set_scope(self, scope: tuple[str, ...]) -> None:
        """Show which books are in the scope of questions; none means all."""
        self._scope = scope
        for key, card in self.cards.items():
            card.set_selected(key in scope)
        self.all_books.setChecked(not scope)
        self.collections.show_scope(scope)

    def _build(self) -> None:
        head = QFrame()
        head.setObjectName("pane-head")
        head.setFixedHeight(PANE_HEAD_HEIGHT)
        row = QHBoxLayout(head)
        row.setContentsMargins(14, 0, 8, 0)
        row.addWidget(label(tr("Library"), scale=1.1), 1)
        self.add_button = tool_button(
            self._icons,
            "add",
            tr("Add books (Ctrl+O)"),
            clicked=self.add_wanted.emit,
            text=tr("Add"),
        )
        row.addWidget(self.add_button)
        inside = QWidget()
        inside.setObjectName("plain")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(10, 10, 10, 10)
        self._column.setSpacing(8)
        self._column.addWidget(self.all_books)
        self._column.addWidget(self.collections)
        self._column.addWidget(self._empty)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("plain")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(scroll, 1)

    def _choose(self, scope: tuple[str, ...]) -> None:
        self.set_scope(scope)
        self.scope_chosen.emit(scope)

    def _open(self, key: str) -> None:
        entry = self._book_list.entries.get(key)
        if entry is not None and entry.book is not None:
            self._choose((key,))
            self.book_opened.emit(key)

    def _toggle(self, key: str) -> None:
        """Add a book to the scope of questions, or take it out; with none left, all are asked."""
        entry = self._book_list.entries.get(key)
        if entry is None or entry.book is None:
            return
        others = tuple(book for book in self._scope if book != key)
        self._choose(others if key in self._scope else (*others, key))

    def _show_entry(self, key: str) -> None:
        entry = self._book_list.entries[key]
        card = self.cards.get(key)
        if card is not None:
            card.show_entry(entry)
            return
        card = BookCard(entry, self._icons)
        card.chosen.connect(self._open)
        card.toggled.connect(self._toggle)
        card.pause_wanted.connect(self._book_list.pause)
        card.resume_wanted.connect(self._book_list.resume)
        card.remove_wanted.connect(self._book_list.remove)
        card.info_wanted.connect(self.info_wanted)
        card.password_given.connect(self._book_list.add)
        card.menu_opened.connect(lambda key, menu: self.collections.fill(menu, key))
        card.menu_opened.connect(self.menu_opened)
        card.set_selected(key in self._scope)
        self.cards[key] = card
        self._column.insertWidget(self._column.count() - 1, card)
        self._refresh()

    def _drop_entry(self, key: str) -> None:
        card = self.cards.pop(key, None)
        if card is not None:
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        if key in self._scope:
            self._choose(tuple(book for book in self._scope if book != key))
        self._refresh()

    def _rename_entry(self, old: str, new: str) -> None:
        card = self.cards.pop(old, None)
        if card is not None:
            card.key = new
            card.set_selected(new in self._scope)
            self.cards[new] = card

    def _refresh(self) -> None:
        self.collections.refresh()
        self._empty.setVisible(not self.cards)
        self.all_books.setVisible(len(self.cards) > 1)
        loading = not self._book_list.is_loaded
        self._empty.setText(tr("Opening the library…") if loading else tr("No books yet."))
