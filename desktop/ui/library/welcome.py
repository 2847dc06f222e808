"""The page of an empty library: drop a book here, choose a file, or try the handbook."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from desktop.ui.buttons import label, push_button
from desktop.ui.formatting import tr


class Welcome(QWidget):
    """The page, with a frame to drop files on and two buttons."""

    add_wanted = Signal()
    handbook_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.addStretch(2)
        area = QFrame()
        area.setObjectName("drop")
        area.setMaximumWidth(560)
        inner = QVBoxLayout(area)
        inner.setContentsMargins(28, 36, 28, 36)
        inner.setSpacing(12)
        centre = Qt.AlignmentFlag.AlignHCenter
        title = label(tr("Drop a PDF here"), scale=1.7)
        title.setAlignment(centre)
        inner.addWidget(title)
        text = label(
            tr(
                "Then ask about it. Every claim of an answer is tied to the sentence it came "
                "from, and highlighted on the page. Everything stays on this computer."
            ),
            name="muted",
            wrap=True,
        )
        text.setAlignment(centre)
        inner.addWidget(text)
        row = QHBoxLayout()
        row.setContentsMargins(0, 12, 0, 0)
        row.addStretch(1)
        self.add = push_button(tr("Add books…"), clicked=self.add_wanted.emit, primary=True)
        self.try_it = push_button(tr("Try it with the handbook"), clicked=self.handbook_wanted.emit)
        row.addWidget(self.add)
        row.addWidget(self.try_it)
        row.addStretch(1)
        inner.addLayout(row)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(area, 100)
        middle.addStretch(1)
        column.addLayout(middle)
        column.addStretch(3)
