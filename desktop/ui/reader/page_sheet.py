"""One page as a widget: its picture, the marks on it, and the words selected with the mouse.

Owns painting and selecting. Knows nothing of where pictures and marks come from. All coordinates
passed to it are PDF points, scaled to pixels when it paints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.records import Rect, Word
    from desktop.ui.theme import Theme

LETTER = (612.0, 792.0)
PULSE_MS = 1400


@dataclass(frozen=True)
class Picture:
    """A drawn page.

    Attributes:
        points: Its width and height in PDF points.
    """

    image: QImage
    points: tuple[float, float]


@dataclass
class Marks:
    """What is highlighted on a page; each item is the rectangles of one location.

    Attributes:
        cited: Quotes of citations.
        found: Matches of the find bar.
        now: The current one of `found`.
    """

    cited: list[tuple[Rect, ...]] = field(default_factory=list)
    found: list[tuple[Rect, ...]] = field(default_factory=list)
    now: tuple[Rect, ...] = ()


class PageSheet(QWidget):
    """The widget of one page."""

    words_wanted = Signal()
    selection_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.zoom = 1.0
        self.picture: Picture | None = None
        self.marks = Marks()
        self._text = ""
        self._words: Sequence[Word] | None = None
        self._from: QPointF | None = None
        self._to: QPointF | None = None
        self._pulse = QVariantAnimation(self, duration=PULSE_MS)
        self._pulse.setStartValue(1.0)
        self._pulse.setEndValue(0.0)
        self._pulse.valueChanged.connect(lambda _: self.update())
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setAccessibleName(self.tr("Page"))

    @property
    def points(self) -> tuple[float, float]:
        """The page's width and height in points; a usual one where none is shown yet."""
        return self.picture.points if self.picture else LETTER

    def set_zoom(self, zoom: float) -> None:
        """Set logical pixels per point."""
        self.zoom = zoom
        width, height = self.points
        self.setFixedSize(QSize(round(width * zoom), round(height * zoom)))
        self.update()

    def show_picture(self, picture: Picture, *, same_page: bool) -> None:
        """Show a page; a sharper picture of the same page keeps the selection."""
        self.picture = picture
        if not same_page:
            self.clear_selection()
            self._words = None
        self.set_zoom(self.zoom)

    def show_marks(self, marks: Marks) -> None:
        """Lay marks over the page."""
        self.marks = marks
        self.update()

    def emphasise(self) -> None:
        """Draw the eye to the cited places for a moment."""
        self._pulse.stop()
        self._pulse.start()

    def set_words(self, text: str, words: Sequence[Word]) -> None:
        """Take the words of the page, so that they can be selected."""
        self._text, self._words = text, words
        self.update()
        self.selection_changed.emit()

    def clear_selection(self) -> None:
        """Select nothing."""
        self._from = self._to = None
        self.update()

    def selected_text(self) -> str:
        """Return the text that is selected."""
        chosen = self._selected()
        return self._text[chosen[0].start : chosen[-1].end] if chosen else ""

    def place(self, rect: Rect) -> QRectF:
        """Return a rectangle of the page in pixels of the widget."""
        x0, y0, x1, y1 = (value * self.zoom for value in rect)
        return QRectF(x0, y0, x1 - x0, y1 - y0)

    def _selected(self) -> Sequence[Word]:
        if not self._words or self._from is None or self._to is None:
            return ()
        first, last = sorted((self._nearest(self._from), self._nearest(self._to)))
        return self._words[first : last + 1]

    def _nearest(self, point: QPointF) -> int:
        x, y = point.x() / self.zoom, point.y() / self.zoom

        def distance(index: int) -> float:
            x0, y0, x1, y1 = (self._words or ())[index].rect
            across = max(x0 - x, 0.0, x - x1)
            down = max(y0 - y, 0.0, y - y1)
            return across + 4 * down  # the same line before a word above or below

        return min(range(len(self._words or ())), key=distance)

    def _fill(
        self, painter: QPainter, locations: Sequence[Sequence[Rect]], name: str, alpha: int
    ) -> None:
        color = QColor(self._theme.color(name))
        color.setAlpha(alpha)
        for location in locations:
            for rect in location:
                painter.fillRect(self.place(rect).adjusted(-1, 0, 1, 0), color)

    def _paint_pulse(self, painter: QPainter) -> None:
        strength = float(self._pulse.currentValue() or 0.0)
        if self._pulse.state() != QVariantAnimation.State.Running or strength <= 0:
            return
        color = QColor(self._theme.color("mark_now"))
        color.setAlphaF(strength)
        painter.setPen(QPen(color, 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        reach = 2 + 8 * strength
        for location in self.marks.cited:
            for rect in location:
                painter.drawRoundedRect(
                    self.place(rect).adjusted(-reach, -reach, reach, reach), 4, 4
                )

    # Qt overrides

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the page and what is laid over it."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), Qt.GlobalColor.white)
        if self.picture is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(QRectF(self.rect()), self.picture.image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # Multiplied, as a felt pen does: the letters stay black.
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        others = [location for location in self.marks.found if location != self.marks.now]
        self._fill(painter, others, "find", 120)
        self._fill(painter, self.marks.cited, "mark", 190)
        self._fill(painter, [self.marks.now], "mark_now", 190)
        self._fill(painter, [[word.rect for word in self._selected()]], "select", 90)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        self._paint_pulse(painter)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start to select words."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._from, self._to = event.position(), None
            if self._words is None:
                self.words_wanted.emit()
            self.update()
            self.selection_changed.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select up to here."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._to = event.position()
            self.update()
            self.selection_changed.emit()
