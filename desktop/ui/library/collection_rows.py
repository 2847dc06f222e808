"""The rows of collections above the books; a click limits questions to the collection's books.

Shows the `CollectionList` and passes the user's commands to it. Knows nothing of workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from desktop.ui.formatting import listed, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent

    from desktop.ui.library.book_list import BookList
    from desktop.ui.library.collection_list import CollectionList

TEXT_MARGIN = 30
"""Pixels of a row that its text can't have: padding and border of the style sheet."""


class CollectionRow(QPushButton):
    """One collection. Click or Enter limits questions to its books; F2 renames, Delete deletes."""

    rename_wanted = Signal(str)
    remove_wanted = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self.books: tuple[str, ...] = ()
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_books(self, books: tuple[str, ...], titles: list[str]) -> None:
        """Show how many books there are, and which."""
        self.books = books
        self.setToolTip("\n".join([self.name, *titles]))
        count = tr("1 book") if len(books) == 1 else tr("{n} books").format(n=len(books))
        self.setAccessibleName(tr("Collection {name}, {count}").format(name=self.name, count=count))
        self._fit()

    def _fit(self) -> None:
        count = f" · {len(self.books)}"
        metrics = self.fontMetrics()
        room = self.width() - TEXT_MARGIN - metrics.horizontalAdvance(count)
        name = metrics.elidedText(self.name, Qt.TextElideMode.ElideRight, room)
        self.setText(_plain(name) + count)

    def _menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        rename = menu.addAction(f"{tr('Rename the collection…')}\tF2")
        rename.triggered.connect(lambda: self.rename_wanted.emit(self.name))
        remove = menu.addAction(f"{tr('Delete the collection')}\t{tr('Del')}")
        remove.triggered.connect(lambda: self.remove_wanted.emit(self.name))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    # Qt overrides

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the name to the width."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ask on Enter too; rename on F2, delete on Delete."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() == Qt.Key.Key_F2:
            self.rename_wanted.emit(self.name)
        elif event.key() == Qt.Key.Key_Delete:
            self.remove_wanted.emit(self.name)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the collection."""
        self._menu(event.globalPos())


class CollectionRows(QWidget):
    """The rows of all collections."""

    chosen = Signal(tuple)
    """Ids of the books to ask."""
    noticed = Signal(str)

    def __init__(
        self, collections: CollectionList, book_list: BookList, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._collections = collections
        self._book_list = book_list
        self._scope: tuple[str, ...] = ()
        self.rows: dict[str, CollectionRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self.hide()
        collections.changed.connect(self.refresh)

    def show_scope(self, scope: tuple[str, ...]) -> None:
        """Check the collections whose books are exactly the scope of questions."""
        self._scope = scope
        for row in self.rows.values():
            row.setChecked(bool(scope) and set(row.books) == set(scope))

    def refresh(self) -> None:
        """Show the collections as they are; the scope follows a change of a checked one."""
        found = self._collections.all()
        asked = [row for row in self.rows.values() if row.isChecked()]
        if list(self.rows) != list(found):
            self._set_rows(found)
        for name, books in found.items():
            self.rows[name].show_books(books, [self._book_list.title(book) for book in books])
        self.setVisible(bool(found))
        self.show_scope(self._scope)
        for row in asked:
            if row.name in found and not row.isChecked():
                self.chosen.emit(row.books)
                break

    def fill(self, menu: QMenu, key: str) -> None:
        """Add the commands on collections to a book's menu."""
        if self.rows:
            within = menu.addMenu(tr("In collections"))
            for name, row in self.rows.items():
                action = within.addAction(_plain(name))
                action.setCheckable(True)
                action.setChecked(key in row.books)
                action.triggered.connect(lambda on, name=name: self._put(key, name, on))
        if key in self._scope:
            new = menu.addAction(tr("New collection from selection…"))
            new.triggered.connect(self.create_from_selection)
        else:
            new = menu.addAction(tr("New collection with this book…"))
            new.triggered.connect(lambda: self._create((key,)))

    def create_from_selection(self) -> None:
        """Ask for a name, and make a collection of the books in the scope of questions."""
        books = tuple(book for book in self._scope if book in self._book_list.entries)
        if books:
            self._create(books)
        else:
            self.noticed.emit(
                tr("Choose the books of the collection first: Ctrl+click them in the library.")
            )

    def _set_rows(self, names: Iterable[str]) -> None:
        old, self.rows = self.rows, {}
        for name in names:
            row = old.pop(name, None) or self._make(name)
            self.rows[name] = row
            self._column.addWidget(row)
        for row in old.values():
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()

    def _make(self, name: str) -> CollectionRow:
        row = CollectionRow(name)
        row.clicked.connect(lambda: self._choose(row))
        row.rename_wanted.connect(self._rename)
        row.remove_wanted.connect(self._collections.remove)
        return row

    def _choose(self, row: CollectionRow) -> None:
        if row.books:
            self.chosen.emit(row.books)
        else:
            text = tr("“{name}” has no books yet. The menu of a book puts it there.")
            self.noticed.emit(text.format(name=row.name))
        self.show_scope(self._scope)

    def _put(self, key: str, name: str, on: bool) -> None:
        (self._collections.add if on else self._collections.take_out)(name, key)

    def _create(self, books: tuple[str, ...]) -> None:
        names = listed([f"“{self._book_list.title(book)}”" for book in books])
        self._ask(
            tr("New collection"),
            tr("A collection of {names}").format(names=names),
            tr("Create"),
            lambda name, answered: self._collections.create(name, books, answered),
        )

    def _rename(self, name: str) -> None:
        self._ask(
            tr("Rename the collection"),
            tr("Another name for “{name}”").format(name=name),
            tr("Rename"),
            lambda to, answered: self._collections.rename(name, to, answered),
            name=name,
        )

    def _ask(
        self,
        title: str,
        about: str,
        action: str,
        give: Callable[[str, Callable[[str], object]], None],
        *,
        name: str = "",
    ) -> None:
        from desktop.ui.library.name_dialog import NameDialog  # most starts never show it

        window = self.window()
        NameDialog(title, about, action=action, give=give, name=name, parent=window).open()


def _plain(text: str) -> str:
    """Return a text for a button or a menu, where & would underline the next letter."""
    return text.replace("&", "&&")
