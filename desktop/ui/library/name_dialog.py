"""The dialog that asks for the name of a collection, and says why one can't be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop.ui.buttons import label, push_button
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    Answered = Callable[[str], None]

WIDTH = 380
MOST_CHARACTERS = 80


class NameDialog(QDialog):
    """The dialog, open until the name is accepted or the user cancels.

    Args:
        title: What is named.
        about: A line about it.
        name: The name that it has.
        action: What the button says.
        give: Called with a name, and with what is to be called with what is wrong with it, or
            with nothing where it is taken; then the dialog closes.
    """

    def __init__(
        self,
        title: str,
        about: str,
        *,
        action: str,
        give: Callable[[str, Answered], None],
        parent: QWidget,
        name: str = "",
    ) -> None:
        super().__init__(parent)
        self._give = give
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setMinimumWidth(WIDTH)
        self.field = QLineEdit(name)
        self.field.setMaxLength(MOST_CHARACTERS)
        self.field.setAccessibleName(tr("Name"))
        self.field.selectAll()
        self.about = label(about, wrap=True)
        self.wrong = label(name="bad", wrap=True)
        self.wrong.hide()
        self.button = push_button(action, clicked=self._send, primary=True)
        self.button.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(10)
        column.addWidget(self.about)
        column.addWidget(self.field)
        column.addWidget(self.wrong)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(push_button(tr("Cancel"), clicked=self.reject))
        row.addWidget(self.button)
        column.addLayout(row)

    def _send(self) -> None:
        self.button.setEnabled(False)
        self._give(self.field.text(), self._answered)

    def _answered(self, wrong: str) -> None:
        if not shiboken6.isValid(self):  # cancelled meanwhile
            return
        if not wrong:
            self.accept()
            return
        self.button.setEnabled(True)
        self.wrong.setText(wrong)
        self.wrong.show()
        self.adjustSize()
        self.field.setFocus()
        self.field.setAccessibleDescription(wrong)
