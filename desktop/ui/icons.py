"""Icons drawn from resources/icons/*.svg in a colour of the theme, after the first paint.

The files are drawn in black, which is replaced by the colour. Knows nothing of what a button does.
Where a file is missing, the button keeps its text or tooltip.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import shiboken6
from PySide6.QtCore import QByteArray, QObject, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from desktop.paths import resource

if TYPE_CHECKING:
    from desktop.ui.theme import Theme

logger = logging.getLogger(__name__)

DRAWN_PX = 64
"""Side of the picture that an icon is scaled down from; enough for 20 px at a ratio of 3."""


def draw(name: str, color: str | None) -> QIcon:
    """Return icon `name` in a colour, None for its own; an empty icon where there is no file."""
    from PySide6.QtSvg import QSvgRenderer  # not before the first icon is drawn

    try:
        text = resource(f"icons/{name}.svg").read_text("utf-8")
    except OSError:
        logger.info("icon %s is missing", name)
        return QIcon()
    if color:
        text = text.replace("#000000", color).replace("currentColor", color)
    picture = QPixmap(DRAWN_PX, DRAWN_PX)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(0, 0, DRAWN_PX, DRAWN_PX))
    painter.end()
    return QIcon(picture)


class Icons(QObject):
    """Gives buttons their icons and draws them again when the theme changes."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._drawn: dict[tuple[str, str], QIcon] = {}
        self._targets: WeakKeyDictionary[QObject, tuple[str, str]] = WeakKeyDictionary()
        self._ready = False
        theme.changed.connect(self.refresh)

    def put(self, target: QObject, name: str, *, color: str = "text") -> None:
        """Give `target` (anything with setIcon) an icon in a colour of the theme."""
        self._targets[target] = (name, color)
        if self._ready:
            self._set_icon(target, name, color)

    def refresh(self) -> None:
        """Draw all icons; called after the first paint and when the theme changes."""
        self._ready = True
        self._drawn.clear()
        for target, (name, color) in list(self._targets.items()):
            if shiboken6.isValid(target):
                self._set_icon(target, name, color)

    def _set_icon(self, target: QObject, name: str, color: str) -> None:
        css = self._theme.css(color)
        if (name, css) not in self._drawn:
            self._drawn[name, css] = draw(name, css)
        target.setIcon(self._drawn[name, css])  # type: ignore[attr-defined]
