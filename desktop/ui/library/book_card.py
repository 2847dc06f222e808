"""The card of one book: title, pages, state of indexing and prefill, and a menu of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import formatting
from desktop.ui.buttons import label, push_button, restyle, tool_button
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent

    from desktop.ui.icons import Icons
    from desktop.ui.library.book_entry import BookEntry


ACTIONS = {"pause": "Pause", "play": "Go on", "close": "Don't add it"}
"""What the button of a card does, by the name of its icon."""


class PasswordRow(QWidget):
    """Asks for the password of a locked book, in its place."""

    given = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText(tr("Password"))
        self.field.setAccessibleName(tr("Password of the book"))
        self.field.returnPressed.connect(self._give)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.field, 1)
        row.addWidget(push_button(tr("Open"), clicked=self._give))

    def _give(self) -> None:
        if self.field.text():
            self.given.emit(self.field.text())
            self.field.clear()


class BookCard(QFrame):
    """The card. Click or Enter opens the book; the menu key or a right click shows the rest."""

    chosen = Signal(str)
    toggled = Signal(str)
    """The book is to be added to the scope of questions, or taken out of it."""
    pause_wanted = Signal(str)
    resume_wanted = Signal(str)
    remove_wanted = Signal(str)
    info_wanted = Signal(str)
    menu_opened = Signal(str, QMenu)
    """The menu of a book, before it is shown; more can be added to it."""
    password_given = Signal(str, str)

    def __init__(self, entry: BookEntry, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = entry.key
        self._icons = icons
        self._entry = entry
        self._password: PasswordRow | None = None
        self._selected = False
        self.setObjectName("card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.title = label(wrap=True)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.pages = label(name="muted", scale=0.92)
        self.state = label(name="muted", wrap=True, scale=0.92)
        self.prefill = label(name="muted", wrap=True, scale=0.92)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.button = tool_button(icons, "pause", tr("Pause"), clicked=self._press)
        self._shown_icon = ""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 8, 8, 8)
        self._column.setSpacing(3)
        self._column.addWidget(self.title)
        self._column.addWidget(self.pages)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(4)
        grid.addWidget(self.state, 0, 0)
        grid.addWidget(self.bar, 1, 0)
        grid.addWidget(self.button, 0, 1, 2, 1, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(0, 1)
        self._column.addLayout(grid)
        self._column.addWidget(self.prefill)
        self.show_entry(entry)

    def show_entry(self, entry: BookEntry) -> None:
        """Show the state of the book."""
        self._entry = entry
        self.title.setText(entry.name)
        pages = formatting.pages(entry.book.pages) if entry.book and entry.book.pages else ""
        self.pages.setText(pages)
        self.pages.setVisible(bool(pages))
        text, bad = self._state_text()
        self.state.setText(text)
        if self.state.objectName() != ("bad" if bad else "muted"):
            self.state.setObjectName("bad" if bad else "muted")
            self.state.style().polish(self.state)
        prefill = formatting.prefill_state(entry.prefill, entry.prefilling)
        self.prefill.setText(prefill)
        self.prefill.setVisible(bool(prefill))
        self._show_bar()
        self._show_button()
        self._show_password()
        self.setToolTip(entry.file)
        self.setAccessibleName(". ".join(part for part in (entry.name, text, prefill) if part))

    def set_selected(self, selected: bool) -> None:
        """Show whether the book is in the scope of questions."""
        self._selected = selected
        restyle(self, "selected", selected)

    def _state_text(self) -> tuple[str, bool]:
        entry = self._entry
        if entry.error:
            return entry.error, not entry.locked
        if entry.book is not None:
            text = formatting.book_state(entry.book, entry.progress, running=entry.running)
            return text, entry.book.status == "failed"
        progress = entry.progress
        if progress is not None and progress.unit == "pages":
            return formatting.reading_state(
                progress.done, progress.total, progress.seconds_left
            ), False
        return (tr("Waiting for its turn") if progress is None else tr("Copying…")), False

    def _show_bar(self) -> None:
        entry = self._entry
        share = formatting.percent(entry.progress) if entry.progress else None
        finished = entry.book is not None and entry.book.status == "indexed"
        self.bar.setVisible(entry.running and share is not None and not finished)
        self.bar.setValue(share or 0)

    def _can(self) -> str:
        """Return what the button does: "pause", "play", "close" or nothing."""
        entry = self._entry
        if entry.locked:
            return "close"
        if entry.running:
            if entry.book is None:
                return "close"
            return "" if entry.book.status == "indexed" else "pause"
        unfinished = entry.book is None or entry.book.status in ("paused", "failed", "askable")
        return "play" if entry.error or unfinished else ""

    def _show_button(self) -> None:
        can = self._can()
        self.button.setVisible(bool(can))
        if can and can != self._shown_icon:
            self._shown_icon = can
            tip = ACTIONS[can]
            self._icons.put(self.button, can)
            self.button.setToolTip(tr(tip))
            self.button.setAccessibleName(tr(tip))

    def _show_password(self) -> None:
        if self._entry.locked and self._password is None:
            self._password = PasswordRow()
            self._password.given.connect(lambda text: self.password_given.emit(self.key, text))
            self._column.addWidget(self._password)
            self._password.field.setFocus()
        if self._password is not None:
            self._password.setVisible(self._entry.locked)

    def _press(self) -> None:
        signals = {
            "pause": self.pause_wanted,
            "play": self.resume_wanted,
            "close": self.remove_wanted,
        }
        signals[self._can()].emit(self.key)

    def _menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        can = self._can()
        if can:
            menu.addAction(tr(ACTIONS[can])).triggered.connect(self._press)
        if self._entry.book is not None:
            text = tr("Do not ask this book") if self._selected else tr("Ask this book too")
            text = f"{text}\t{tr('Ctrl+Click')}"
            menu.addAction(text).triggered.connect(lambda: self.toggled.emit(self.key))
            info = menu.addAction(tr("About this file"))
            info.triggered.connect(lambda: self.info_wanted.emit(self.key))
            self.menu_opened.emit(self.key, menu)
        remove = menu.addAction(tr("Remove from the library"))
        remove.triggered.connect(lambda: self.remove_wanted.emit(self.key))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def _choose(self, modifiers: Qt.KeyboardModifier) -> None:
        along = modifiers & Qt.KeyboardModifier.ControlModifier
        (self.toggled if along else self.chosen).emit(self.key)

    # Qt overrides

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the book; with Ctrl, along with others."""
        inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and inside:
            self._choose(event.modifiers())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose on Enter or Space, with Ctrl along with others; remove on Delete."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose(event.modifiers())
        elif event.key() == Qt.Key.Key_Delete:
            self.remove_wanted.emit(self.key)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the book."""
        self._menu(event.globalPos())
