"""Reading books ahead: by the user's wish at once, or by itself while the window is left alone.

Asks the answerer to read and the librarian how much is there. Knows no widgets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QCursor

from desktop.core.codec import decode
from desktop.core.library.prefill_progress import PrefillProgress
from desktop.core.records import BookStatus, Progress
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.ui.bridge import JobHandle, Workers
    from desktop.ui.library.book_list import BookList
    from desktop.ui.preferences import Preferences
    from desktop.worker.process import Delivery

LOOK_MS = 3000
IDLE_S = 45.0
"""So long nobody has moved the pointer, typed or turned a page when reading ahead begins."""


@dataclass
class _Running:
    book: str
    job: JobHandle
    background: bool


class BackgroundPrefill(QObject):
    """What is read ahead of the books on the shelf.

    Args:
        workers: The answerer reads, the librarian counts.
        book_list: Where the books are; each entry's `ahead` is kept up to date.
        preferences: Whether it may begin by itself.
        model: Returns the name of the model to read with; None for the usual one.
        books_in_use: Returns the books in use, most urgent first, each with the pages around which
            to begin.
        activity: Returns a value that changes whenever the user does something.
    """

    noticed = Signal(str)

    def __init__(
        self,
        workers: Workers,
        book_list: BookList,
        preferences: Preferences,
        *,
        model: Callable[[], str | None],
        books_in_use: Callable[[], Sequence[tuple[str, Sequence[int]]]],
        activity: Callable[[], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._answerer = workers.answerer
        self._librarian = workers.librarian
        self._book_list = book_list
        self._preferences = preferences
        self._model = model
        self._books_in_use = books_in_use
        self._activity = activity
        self._running: _Running | None = None
        self._done: set[str] = set()
        self._seen: object = None
        self._since = time.monotonic()
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        book_list.loaded.connect(self._count)
        book_list.entry_removed.connect(self.stop)

    @property
    def book(self) -> str | None:
        """The book that is being read."""
        return self._running.book if self._running else None

    def start(self, book: str, near: Sequence[int] = (), *, background: bool = False) -> None:
        """Read a book ahead, in the place of one that is being read."""
        self.stop()
        args = {
            "book": book, "model": self._model(), "near": list(near), "background": background,
        }  # fmt: skip
        job = self._answerer.request(
            "prefill", args, on_event=lambda delivery: self._on_event(book, delivery)
        )
        self._running = _Running(book, job, background)
        self._show(book, Progress("studying", 0, 0, "passages"))

    def stop(self, book: str | None = None) -> None:
        """Stop reading a book, or whichever is being read; what is done is kept."""
        running = self._running
        if running is not None and book in (None, running.book):
            running.job.drop()
            self._end(running.book)

    def forget(self, book: str) -> None:
        """Delete what was read ahead of a book."""
        self.stop(book)
        self._done.add(book)  # or it would begin again by itself
        self._librarian.request("forget_prefill", {"book": book}, on_event=self._on_counted)

    def look(self) -> None:
        """Begin where the window was left alone for long enough; end where it is not any more."""
        now = (QCursor.pos(), self._activity())
        if now != self._seen:
            self._seen, self._since = now, time.monotonic()
            if self._running is not None and self._running.background:
                self.stop()
        elif self._running is None and self._may() and time.monotonic() - self._since > IDLE_S:
            for book, near in self._books_in_use():
                if self._is_left(book):
                    self.start(book, near, background=True)
                    break

    def _may(self) -> bool:
        """Whether it may begin by itself: no model is loaded for that alone."""
        indexing = any(entry.running for entry in self._book_list.entries.values())
        return (
            self._preferences.settings.reads_ahead
            and self._answerer.pid is not None
            and not indexing
        )

    def _is_left(self, book: str) -> bool:
        entry = self._book_list.entries.get(book)
        if entry is None or entry.book is None or book in self._done:
            return False
        complete = entry.ahead is not None and entry.ahead.complete
        return entry.book.status == BookStatus.INDEXED and not complete

    def _on_event(self, book: str, delivery: Delivery) -> None:
        if delivery.event == "stage":
            progress = decode(Progress, delivery.data)
            if progress.stage == "studying":
                self._show(book, progress)
            return
        background = self._running is not None and self._running.background
        if delivery.event == "done":
            self._done.add(book)
            if delivery.data["full"]:
                self.noticed.emit(self._full(book))
        elif delivery.event == "failed":
            self._done.add(book)
            if not background or delivery.data["kind"] == "user":
                self.noticed.emit(f"{delivery.data['what']}. {delivery.data['remedy']}.")
        if delivery.event in ("done", "failed", "cancelled", "died"):
            self._end(book)

    def _full(self, book: str) -> str:
        text = tr(
            "“{title}” is not read ahead any further: what is kept may take no more of the disk. "
            "Allow more under Tools › Reading ahead."
        )
        return text.format(title=self._book_list.title(book))

    def _end(self, book: str) -> None:
        self._running = None
        self._show(book, None)
        self._count()

    def _show(self, book: str, progress: Progress | None) -> None:
        entry = self._book_list.entries.get(book)
        if entry is not None:
            entry.studying = progress
            self._book_list.entry_changed.emit(book)

    def _count(self) -> None:
        self._librarian.request("prefill_progress", on_event=self._on_counted)

    def _on_counted(self, delivery: Delivery) -> None:
        if delivery.event != "done":
            return
        found = {row["book"]: decode(PrefillProgress, row) for row in delivery.data}
        for key, entry in list(self._book_list.entries.items()):
            if entry.ahead != found.get(key):
                entry.ahead = found.get(key)
                self._book_list.entry_changed.emit(key)
