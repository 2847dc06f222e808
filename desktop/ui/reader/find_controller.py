"""Looks for what stands in the find field, in the book that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.ui.reader.find_bar import FindBar, Place

if TYPE_CHECKING:
    from desktop.ui.latest_request import LatestRequest
    from desktop.worker.process import Delivery


class FindController(QObject):
    """Asks the reader and fills the find field's list."""

    changed = Signal()
    """There is more to mark on the page, or nothing any more."""

    def __init__(self, bar: FindBar, latest: LatestRequest, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bar = bar
        self._latest = latest
        self.book = ""
        bar.wanted.connect(self._find)

    def _find(self, text: str) -> None:
        self._latest.drop("find")
        if text and self.book:
            self._latest.ask("find", {"book": self.book, "text": text}, self._on_found)
        else:
            self.changed.emit()

    def _on_found(self, delivery: Delivery) -> None:
        if delivery.event == "found":
            for rects in delivery.data["rects"]:
                self._bar.add(Place(delivery.data["page"], tuple(map(tuple, rects))))
        else:
            self._bar.finish()
            self.changed.emit()
