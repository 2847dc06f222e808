"""The page pane's toolbar: turning pages, going to one by number, zoom, find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from desktop.ui.buttons import PANE_HEAD_HEIGHT, label, tool_button

if TYPE_CHECKING:
    from desktop.ui.icons import Icons


class PageToolbar(QFrame):
    """The toolbar, which emits a signal for each command."""

    turned = Signal(int)
    page_wanted = Signal(str)
    zoomed = Signal(int)
    """1 for larger, -1 for smaller."""
    fitted = Signal()
    find_wanted = Signal()

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pane-head")
        self.setFixedHeight(PANE_HEAD_HEIGHT)
        self.number = QLineEdit()
        self.number.setFixedWidth(56)
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.number.setAccessibleName(self.tr("Page number"))
        self.number.setToolTip(self.tr("Page number, or what is printed on the page; Enter goes"))
        self.number.returnPressed.connect(self._enter)
        self.total = label(name="muted")
        self.total.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(2)

        def add(icon: str, tip: str, clicked: object) -> None:
            row.addWidget(tool_button(icons, icon, tip, clicked=clicked))  # type: ignore[arg-type]

        add("chevron-left", self.tr("Previous page"), lambda: self.turned.emit(-1))
        add("chevron-right", self.tr("Next page"), lambda: self.turned.emit(1))
        row.addSpacing(4)
        row.addWidget(self.number)
        row.addSpacing(4)
        row.addWidget(self.total, 1)
        add("zoom-out", self.tr("Smaller"), lambda: self.zoomed.emit(-1))
        add("zoom-in", self.tr("Larger"), lambda: self.zoomed.emit(1))
        fit = tool_button(icons, "", self.tr("Fit the page to the width"), clicked=self.fitted.emit)
        fit.setText(self.tr("Fit"))
        row.addWidget(fit)
        add("search", self.tr("Find in this book (Ctrl+F)"), self.find_wanted.emit)

    def show_page(self, page: int, pages: int, printed: str) -> None:
        """Show where we are: "57 / 1,087 (37)"."""
        self.setEnabled(True)
        self.number.setText(str(page))
        text = f"/ {pages:,}" if pages else ""
        if printed and printed != str(page):
            text += self.tr(" (printed {label})").format(label=printed)
        self.total.setText(text.strip())
        self.total.setToolTip(text.strip())

    def show_nothing(self) -> None:
        """Show that no page is there."""
        self.setEnabled(False)
        self.number.clear()
        self.total.clear()

    def _enter(self) -> None:
        self.page_wanted.emit(self.number.text().strip())
