"""The find field over the page: what to look for, how many there are, and which is shown.

Owns the list of places found. The pane asks the reader and shows the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QWidget

from desktop.ui.buttons import label, tool_button

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from desktop.core.records import Rect
    from desktop.ui.icons import Icons

TYPING_MS = 250
"""How long a pause in typing starts the search."""


@dataclass(frozen=True)
class Place:
    """One find."""

    page: int
    rects: tuple[Rect, ...]


class FindBar(QWidget):
    """The find field."""

    wanted = Signal(str)
    """What to look for; empty for nothing any more."""
    moved = Signal(object)
    """The `Place` to be shown."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.places: list[Place] = []
        self.current = -1
        self._finished = True
        self._from_page = 1
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Find in this book"))
        self.field.setAccessibleName(self.tr("Find in this book"))
        self.count: QLabel = label(name="muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        row.addWidget(self.count)
        back = tool_button(icons, "chevron-left", self.tr("Previous"), clicked=self.go_back)
        row.addWidget(back)
        row.addWidget(tool_button(icons, "chevron-right", self.tr("Next"), clicked=self.go_on))
        row.addWidget(tool_button(icons, "close", self.tr("Close"), clicked=self.shut))
        self._pause = QTimer(self, interval=TYPING_MS, singleShot=True)
        self._pause.timeout.connect(self._want)
        self.field.textChanged.connect(lambda _: self._pause.start())
        self.field.returnPressed.connect(self._enter)
        self.hide()

    def open(self, page: int) -> None:
        """Show the field; finds from `page` on come first."""
        self._from_page = page
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def shut(self) -> None:
        """Hide the field and its finds."""
        self.hide()
        self.field.clear()
        self._pause.stop()
        self._want()

    def add(self, place: Place) -> None:
        """Take a find; the first one that isn't before the page shown is gone to."""
        self.places.append(place)
        if self.current < 0 and place.page >= self._from_page:
            self._show(len(self.places) - 1)
        else:
            self._tell()

    def finish(self) -> None:
        """There are no more finds."""
        self._finished = True
        if self.current < 0 and self.places:
            self._show(0)
        self._tell()

    def on_page(self, page: int) -> list[tuple[Rect, ...]]:
        """Return the finds on a page."""
        return [place.rects for place in self.places if place.page == page]

    def now(self, page: int) -> tuple[Rect, ...]:
        """Return the current find, if it is on `page`."""
        if 0 <= self.current < len(self.places) and self.places[self.current].page == page:
            return self.places[self.current].rects
        return ()

    def go_on(self) -> None:
        """Show the next find."""
        if self.places:
            self._show((self.current + 1) % len(self.places))

    def go_back(self) -> None:
        """Show the previous find."""
        if self.places:
            self._show((self.current - 1) % len(self.places))

    def _enter(self) -> None:
        if self._pause.isActive():
            self._pause.stop()
            self._want()
        else:
            self.go_on()

    def _want(self) -> None:
        self.places, self.current = [], -1
        text = self.field.text().strip()
        self._finished = not text
        self._tell()
        self.wanted.emit(text)

    def _show(self, index: int) -> None:
        self.current = index
        self._tell()
        self.moved.emit(self.places[index])

    def _tell(self) -> None:
        found = len(self.places)
        if not self.field.text().strip():
            text = ""
        elif not found:
            text = self.tr("not found") if self._finished else self.tr("looking…")
        else:
            more = "" if self._finished else "…"
            text = self.tr("{n} of {all}{more}").format(n=self.current + 1, all=found, more=more)
        self.count.setText(text)

    # Qt overrides

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.shut()
        else:
            super().keyPressEvent(event)
