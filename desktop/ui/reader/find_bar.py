"""The find bar over the page: the text to find, the number of matches, and the current one.

Owns the list of matches. The page pane asks the reader for them and shows the current one.
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
class Match:
    """One match."""

    page: int
    rects: tuple[Rect, ...]


class FindBar(QWidget):
    """The find bar."""

    wanted = Signal(str)
    """What to look for; empty for nothing any more."""
    moved = Signal(object)
    """The `Match` to be shown."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.matches: list[Match] = []
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
        back = tool_button(icons, "chevron-left", self.tr("Previous"), clicked=self.find_previous)
        row.addWidget(back)
        row.addWidget(tool_button(icons, "chevron-right", self.tr("Next"), clicked=self.find_next))
        row.addWidget(tool_button(icons, "close", self.tr("Close"), clicked=self.dismiss))
        self._pause = QTimer(self, interval=TYPING_MS, singleShot=True)
        self._pause.timeout.connect(self._want)
        self.field.textChanged.connect(lambda _: self._pause.start())
        self.field.returnPressed.connect(self._enter)
        self.hide()

    def open(self, page: int) -> None:
        """Show the bar; the first match on `page` or later becomes the current one."""
        self._from_page = page
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def dismiss(self) -> None:
        """Hide the bar and forget the matches."""
        self.hide()
        self.field.clear()
        self._pause.stop()
        self._want()

    def add(self, match: Match) -> None:
        """Add a match; the first one that isn't before the page shown becomes the current one."""
        self.matches.append(match)
        if self.current < 0 and match.page >= self._from_page:
            self._show(len(self.matches) - 1)
        else:
            self._show_count()

    def finish(self) -> None:
        """Note that there are no more matches."""
        self._finished = True
        if self.current < 0 and self.matches:
            self._show(0)
        self._show_count()

    def on_page(self, page: int) -> list[tuple[Rect, ...]]:
        """Return the matches on a page."""
        return [match.rects for match in self.matches if match.page == page]

    def now(self, page: int) -> tuple[Rect, ...]:
        """Return the current match, if it is on `page`."""
        if 0 <= self.current < len(self.matches) and self.matches[self.current].page == page:
            return self.matches[self.current].rects
        return ()

    def find_next(self) -> None:
        """Show the next match."""
        if self.matches:
            self._show((self.current + 1) % len(self.matches))

    def find_previous(self) -> None:
        """Show the previous match."""
        if self.matches:
            self._show((self.current - 1) % len(self.matches))

    def _enter(self) -> None:
        if self._pause.isActive():
            self._pause.stop()
            self._want()
        else:
            self.find_next()

    def _want(self) -> None:
        self.matches, self.current = [], -1
        text = self.field.text().strip()
        self._finished = not text
        self._show_count()
        self.wanted.emit(text)

    def _show(self, index: int) -> None:
        self.current = index
        self._show_count()
        self.moved.emit(self.matches[index])

    def _show_count(self) -> None:
        found = len(self.matches)
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
            self.dismiss()
        else:
            super().keyPressEvent(event)
