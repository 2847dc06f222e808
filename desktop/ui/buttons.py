"""Buttons, labels and sizes that are the same everywhere in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.ui.icons import Icons

ICON_SIZE = QSize(18, 18)
PANE_HEAD_HEIGHT = 44
"""Pixels; the heads of the panes stand in one line."""


def tool_button(
    icons: Icons,
    icon: str,
    tip: str,
    *,
    clicked: Callable[[], object] | None = None,
    text: str = "",
) -> QToolButton:
    """Return a flat button with an icon, reachable by Tab and named for screen readers."""
    button = QToolButton()
    button.setIconSize(ICON_SIZE)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setAutoRaise(True)
    if text:
        button.setText(text)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    icons.put(button, icon)
    if clicked is not None:
        button.clicked.connect(lambda: clicked())
    return button


def push_button(
    text: str, *, clicked: Callable[[], object] | None = None, primary: bool = False
) -> QPushButton:
    """Return an ordinary button; `primary` for the one that is meant to be pressed."""
    button = QPushButton(text)
    button.setAutoDefault(False)
    if primary:
        button.setProperty("primary", True)
    if clicked is not None:
        button.clicked.connect(lambda: clicked())
    return button


def label(text: str = "", *, name: str = "", wrap: bool = False, scale: float = 1.0) -> QLabel:
    """Return a plain-text label; `name` picks its style ("muted", "bad")."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if name:
        made.setObjectName(name)
    if scale != 1.0:
        font = made.font()
        font.setPointSizeF(font.pointSizeF() * scale)
        font.setBold(scale > 1.0)
        made.setFont(font)
    return made


def restyle(widget: QWidget, name: str, value: bool) -> None:
    """Set a property that the style sheet looks at, and let it look again."""
    if bool(widget.property(name)) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
