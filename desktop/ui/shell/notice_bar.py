"""The bar at the foot of the window that shows one notice after the other, with at most one button.

In the place of modal message boxes: a notice can be read, acted on or ignored.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from desktop.ui.buttons import label, push_button, tool_button
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.ui.icons import Icons

SHOWN_MS = 8000


@dataclass(frozen=True)
class Notice:
    """A text for the user, with at most one button.

    Attributes:
        action: What the button says; empty for none.
        act: What the button does.
        stays: Whether it stays until it is closed.
    """

    text: str
    action: str = ""
    act: Callable[[], object] | None = None
    stays: bool = False


class NoticeBar(QFrame):
    """The bar, with a queue of notices that wait."""

    visibility_changed = Signal(bool)

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.current: Notice | None = None
        self._queue: deque[Notice] = deque()
        self.text = label(wrap=True)
        self.button = push_button("", clicked=self._act)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 6, 6)
        row.addWidget(self.text, 1)
        row.addWidget(self.button)
        row.addWidget(tool_button(icons, "close", tr("Close this notice"), clicked=self.dismiss))
        self._clock = QTimer(self, interval=SHOWN_MS, singleShot=True)
        self._clock.timeout.connect(self.dismiss)

    def show_notice(self, notice: Notice) -> None:
        """Show a notice, after those that wait; the same text is not shown twice."""
        texts = [waiting.text for waiting in self._queue]
        if self.current is not None and self.current.text == notice.text:
            self._clock.start()
        elif notice.text not in texts:
            self._queue.append(notice)
            if self.current is None or not self.current.stays:
                self._next()

    def withdraw(self, action: str) -> None:
        """Remove the notices whose button says `action`, which is not possible any more."""
        self._queue = deque(waiting for waiting in self._queue if waiting.action != action)
        if self.current is not None and self.current.action == action:
            self._next()

    def dismiss(self) -> None:
        """Close the notice that is shown."""
        self._next()

    def _act(self) -> None:
        act = self.current.act if self.current else None
        self._next()
        if act is not None:
            act()

    def _next(self) -> None:
        self._clock.stop()
        self.current = self._queue.popleft() if self._queue else None
        self.visibility_changed.emit(self.current is not None)
        if self.current is None:
            return
        self.text.setText(self.current.text)
        self.setAccessibleName(self.current.text)
        self.button.setText(self.current.action)
        self.button.setVisible(bool(self.current.action))
        if not self.current.stays:
            self._clock.start()
