"""The right pane: a book's page, its toolbar, finding in the book, and the marks of a citation.

Talks to the reader. Knows nothing of answers: it is given a `PageLocation`, which names a book, a
page and what to mark there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QImage, QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from desktop.core.codec import decode
from desktop.core.records import Rect, Word
from desktop.ui.bridge import LatestRequest
from desktop.ui.buttons import label
from desktop.ui.reader.find_bar import FindBar, Match
from desktop.ui.reader.page_location import PageLocation
from desktop.ui.reader.page_sheet import Marks, PageSheet, Picture
from desktop.ui.reader.page_toolbar import PageToolbar

if TYPE_CHECKING:
    from desktop.ui.bridge import Bridge
    from desktop.ui.icons import Icons
    from desktop.ui.theme import Theme
    from desktop.worker.process import Delivery

ZOOM_STEP = 1.2
ZOOM_RANGE = (0.3, 5.0)
RESIZE_MS = 120
MARGIN = 12


class PagePane(QWidget):
    """The page of a book, under a toolbar and a find bar."""

    page_shown = Signal(str, int)

    def __init__(
        self, reader: Bridge, theme: Theme, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.location: PageLocation | None = None
        self.pages = 0
        self._labels: list[str] = []
        self._fit = True
        self._latest = LatestRequest(reader)
        self._drawn: tuple[str, int] | None = None
        self._tried: PageLocation | None = None
        self._settle = QTimer(self, interval=RESIZE_MS, singleShot=True)
        self._settle.timeout.connect(self._draw)
        self.setMinimumWidth(300)
        self.sheet = PageSheet(theme)
        self.find_bar = FindBar(icons)
        self.toolbar = PageToolbar(icons)
        self._build()
        self._connect()
        reader.died.connect(self._on_died)

    def open(self, location: PageLocation, *, pages: int = 0) -> None:
        """Show a location in a book."""
        if self.location is None or self.location.book != location.book:
            self._labels, self.pages = [], pages
            self.find_bar.dismiss()
            self._latest.ask("outline", {"book": location.book}, self._on_outline)
        self.location = location
        self.sheet.show_marks(Marks(cited=[location.rects] if location.rects else []))
        self._draw()

    def close_book(self, book: str) -> None:
        """Show nothing of a book that was removed."""
        if self.location is not None and self.location.book == book:
            self.location = self._drawn = None
            self._explain(self._nothing)
            self.find_bar.dismiss()
            self.toolbar.show_nothing()

    def go_to(self, page: int) -> None:
        """Show another page of the same book."""
        if self.location is None:
            return
        wanted = max(1, min(page, self.pages or page))
        if wanted != self.location.page:
            self.location = PageLocation(self.location.book, wanted)
            self._draw()

    def turn(self, pages: int) -> None:
        """Go some pages forward or back."""
        if self.location is not None:
            self.go_to(self.location.page + pages)

    def zoom_by(self, factor: float) -> None:
        """Make the page larger or smaller."""
        self._fit = False
        low, high = ZOOM_RANGE
        self.sheet.set_zoom(max(low, min(self.sheet.zoom * factor, high)))
        self._settle.start()

    def fit_width(self) -> None:
        """Make the page as wide as the pane, and keep it so."""
        self._fit = True
        self._fit_now()
        self._settle.start()

    def open_find(self) -> None:
        """Show the find field."""
        if self.location is not None:
            self.find_bar.open(self.location.page)

    def copy(self) -> bool:
        """Copy the selected words; return whether there were any."""
        text = self.sheet.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)
        return bool(text)

    def _build(self) -> None:
        self.scroller = QScrollArea()
        self.scroller.setObjectName("page-back")
        self.scroller.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.scroller.setWidget(self.sheet)
        self.scroller.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.scroller.setAccessibleName(self.tr("Page of the book"))
        self._nothing = self.tr(
            "Choose a book on the left, or a source under an answer, to see its page."
        )
        self.message = label(self._nothing, name="muted", wrap=True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setMargin(32)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.message)
        self._stack.addWidget(self.scroller)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addWidget(self.find_bar)
        column.addWidget(self._stack, 1)
        self.toolbar.show_nothing()

    def _connect(self) -> None:
        self.toolbar.turned.connect(self.turn)
        self.toolbar.page_wanted.connect(self._go_to_text)
        self.toolbar.zoomed.connect(lambda sign: self.zoom_by(ZOOM_STEP**sign))
        self.toolbar.fitted.connect(self.fit_width)
        self.toolbar.find_wanted.connect(self.open_find)
        self.find_bar.wanted.connect(self._find)
        self.find_bar.moved.connect(self._show_match)
        self.sheet.words_wanted.connect(self._want_words)
        self.scroller.viewport().installEventFilter(self)

    def _fit_now(self) -> None:
        if self._fit:
            room = self.scroller.viewport().width() - 2 * MARGIN
            self.sheet.set_zoom(max(0.1, room / self.sheet.points[0]))

    def _draw(self) -> None:
        location = self.location
        if location is None:
            return
        self._fit_now()
        scale = self.sheet.zoom * self.devicePixelRatioF()
        args = {
            "book": location.book,
            "page": location.page,
            "scale": scale,
            "highlights": [list(location.span)] if location.span else [],
        }
        self._latest.ask("page", args, lambda delivery: self._on_page(location, scale, delivery))

    def _on_page(self, location: PageLocation, scale: float, delivery: Delivery) -> None:
        if delivery.event == "failed":
            self._explain(f"{delivery.data['what']}. {delivery.data['remedy']}.")
        if delivery.event != "done" or location != self.location:
            return
        data = delivery.data
        width, height = data["width"], data["height"]
        image = QImage(delivery.blob, width, height, 3 * width, QImage.Format.Format_RGB888)
        points = (float(data["points"][0]), float(data["points"][1]))
        self._tried = None
        fresh = self._drawn != (location.book, location.page)
        self._drawn = (location.book, location.page)
        # copy(): the image would else point into bytes that Python may free
        self.sheet.show_picture(Picture(image.copy(), points), same_page=not fresh)
        self._stack.setCurrentIndex(1)
        self.toolbar.show_page(location.page, self.pages, data.get("label") or "")
        self._fit_now()
        rects = [tuple(tuple(rect) for rect in one) for one in data.get("rects", []) if one]
        self._mark(rects or ([location.rects] if location.rects else []), reveal=fresh)
        if self._fit and abs(self.sheet.zoom * self.devicePixelRatioF() / scale - 1) > 0.02:
            self._settle.start()
        self.page_shown.emit(location.book, location.page)

    def _mark(self, cited: list[Any], *, reveal: bool) -> None:
        page = self.location.page if self.location else 0
        same = cited == self.sheet.marks.cited
        now = self.find_bar.now(page)
        self.sheet.show_marks(Marks(cited, self.find_bar.on_page(page), now))
        if cited and (reveal or not same):
            self.sheet.emphasise()
            self._reveal(cited[0][0])
        elif now:
            self._reveal(now[0])
        elif reveal:
            self.scroller.verticalScrollBar().setValue(0)

    def _reveal(self, rect: Rect) -> None:
        place = self.sheet.place(rect)
        view = self.scroller.viewport()
        bar, across = self.scroller.verticalScrollBar(), self.scroller.horizontalScrollBar()
        QApplication.sendPostedEvents(self.scroller.widget(), QEvent.Type.LayoutRequest)
        bar.setValue(round(place.center().y() - view.height() / 3))
        if not across.value() < place.left() < across.value() + view.width() - 40:
            across.setValue(round(place.left() - 40))

    def _explain(self, text: str) -> None:
        self.message.setText(text)
        self._stack.setCurrentIndex(0)

    def _label(self, page: int) -> str:
        return self._labels[page - 1] if page <= len(self._labels) else ""

    def _on_outline(self, delivery: Delivery) -> None:
        if delivery.event == "done":
            self.pages = delivery.data["pages"]
            self._labels = delivery.data.get("labels", [])
            if self.location is not None and self._drawn is not None:
                self.toolbar.show_page(
                    self.location.page, self.pages, self._label(self.location.page)
                )

    def _go_to_text(self, text: str) -> None:
        if text.isdigit() and (not self.pages or 1 <= int(text) <= self.pages):
            self.go_to(int(text))
        elif text in self._labels:
            self.go_to(self._labels.index(text) + 1)
        elif self.location is not None:
            self.toolbar.show_page(self.location.page, self.pages, self._label(self.location.page))

    def _want_words(self) -> None:
        location = self.location
        if location is None:
            return

        def on_words(delivery: Delivery) -> None:
            if delivery.event == "done" and self._drawn == (location.book, location.page):
                words = tuple(decode(Word, word) for word in delivery.data["words"])
                self.sheet.set_words(delivery.data["text"], words)

        self._latest.ask("words", {"book": location.book, "page": location.page}, on_words)

    def _find(self, text: str) -> None:
        self._latest.drop("find")
        if text and self.location is not None:
            self._latest.ask("find", {"book": self.location.book, "text": text}, self._on_found)
        else:
            self._refresh_marks()

    def _on_found(self, delivery: Delivery) -> None:
        if delivery.event == "found":
            for rects in delivery.data["rects"]:
                self.find_bar.add(Match(delivery.data["page"], tuple(map(tuple, rects))))
        else:
            self.find_bar.finish()
            self._refresh_marks()

    def _refresh_marks(self) -> None:
        if self._drawn is not None:
            self._mark(self.sheet.marks.cited, reveal=False)

    def _show_match(self, match: Match) -> None:
        if self.location is not None and match.page != self.location.page:
            self.go_to(match.page)
        else:
            self._refresh_marks()

    def _on_died(self, _kind: str, news: dict[str, Any]) -> None:
        if self.location is None or news.get("given_up"):
            return
        if self.location == self._tried:
            self._explain(
                self.tr("This page can't be drawn; the part that draws pages stops at it.")
            )
            return
        self._tried = self.location
        self._explain(
            self.tr("The part that draws pages stopped unexpectedly and was started again.")
        )
        self._settle.start()

    # Qt overrides

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Turn the page where the wheel goes on at its end."""
        if event.type() == QEvent.Type.Wheel:
            bar = self.scroller.verticalScrollBar()
            step = event.angleDelta().y()  # type: ignore[attr-defined]
            at_end = bar.value() == (bar.maximum() if step < 0 else bar.minimum())
            if at_end and step and self.location is not None:
                self.turn(1 if step < 0 else -1)
                return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the page as wide as the pane."""
        super().resizeEvent(event)
        if self.location is not None and self._fit:
            self._fit_now()
            self._settle.start()
