"""The light and the dark theme: reads a palette file and applies it with one small style sheet.

Owns which theme is shown, and emits a signal when it changes. Knows no widgets.
"""

from __future__ import annotations

import json
from string import Template
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QPalette

from desktop.paths import resource

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

THEMES = ("system", "light", "dark")


class Theme(QObject):
    """The theme that is shown, and its colours.

    Args:
        app: The application whose palette and style sheet it sets.
        choice: One of `THEMES`.
    """

    changed = Signal()

    def __init__(self, app: QApplication, choice: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self.choice = choice if choice in THEMES else "system"
        self.name = ""
        self._colors: dict[str, str] = {}
        self._has_style_sheet = False
        self._apply()
        app.styleHints().colorSchemeChanged.connect(self._follow)

    def choose(self, choice: str) -> None:
        """Switch to one of `THEMES`."""
        self.choice = choice
        self._apply()

    def color(self, name: str) -> QColor:
        """Return a colour of the `[colors]` table."""
        return QColor(self._colors[name])

    def css(self, name: str) -> str:
        """Return a colour of the `[colors]` table as HTML wants it."""
        return self._colors[name]

    def _wanted(self) -> str:
        if self.choice != "system":
            return self.choice
        scheme = self._app.styleHints().colorScheme()
        return "dark" if scheme == Qt.ColorScheme.Dark else "light"

    def _follow(self) -> None:
        if self.choice == "system":
            self._apply()

    def _apply(self) -> None:
        name = self._wanted()
        if name == self.name:
            return
        self.name = name
        data = json.loads(resource(f"themes/{name}.json").read_text("utf-8"))
        self._colors = data["colors"]
        palette = QPalette()
        for role, color in data["palette"].items():
            palette.setColor(QPalette.ColorRole[role], QColor(color))
        for role, color in data["disabled"].items():
            palette.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole[role], QColor(color))
        self._app.setPalette(palette)
        if self._has_style_sheet:
            self._set_sheet()
        self.changed.emit()

    def apply_style_sheet(self) -> None:
        """Set the style sheet, once the widgets are built.

        Under a sheet, each widget is polished anew whenever it or a parent of it gets another
        parent: 50 of the 90 ms that building the window would take.
        """
        self._has_style_sheet = True
        self._set_sheet()

    def _set_sheet(self) -> None:
        sheet = Template(resource("themes/window.qss").read_text("utf-8"))
        self._app.setStyleSheet(sheet.substitute(self._colors))
