"""Prefill of whole books: on demand, or in the background while the user is idle.

The answerer runs the model over a book's passages and stores the states, so that later answers
start at once. The librarian knows how much of each book is stored. Knows no widgets.
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

POLL_MS = 3000
IDLE_S = 45.0
"""Seconds without pointer, typing or turned pages before prefill starts by itself."""


@dataclass
class _Running:
    book: str
    job: JobHandle
    background: bool


class BackgroundPrefill(QObject):
    """Starts and stops the prefill of one book at a time.

    Args:
        workers: The answerer prefills, the librarian knows what is stored.
        book_list: The books; `prefill` and `prefilling` of each entry are kept up to date.
        preferences: Whether it may start by itself.
        model: Returns the name of the model to prefill for; None for the default.
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
        self._finished: set[str] = set()
        self._seen: object = None
        self._since = time.monotonic()
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self.poll)
        self._timer.start()
        book_list.loaded.connect(self._refresh)
        book_list.entry_removed.connect(self.stop)

    @property
    def book(self) -> str | None:
        """The book that is being prefilled."""
        return self._running.book if self._running else None

    def start(self, book: str, near: Sequence[int] = (), *, background: bool = False) -> None:
        """Prefill a book, in the place of one that is being prefilled."""
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
        """Stop the prefill of a book, or of whichever is running; what is done is kept."""
        running = self._running
        if running is not None and book in (None, running.book):
            running.job.drop()
            self._end(running.book)

    def forget(self, book: str) -> None:
        """Delete the stored prefill of a book."""
        self.stop(book)
        self._finished.add(book)  # or it would start again by itself
        self._librarian.request("forget_prefill", {"book": book}, on_event=self._on_stored)

    def poll(self) -> None:
        """Start once the user has been idle for long enough; stop when they are back."""
        now = (QCursor.pos(), self._activity())
        if now != self._seen:
            self._seen, self._since = now, time.monotonic()
            if self._running is not None and self._running.background:
                self.stop()
        elif (
            self._running is None and self._is_allowed() and time.monotonic() - self._since > IDLE_S
        ):
            for book, near in self._books_in_use():
                if self._is_pending(book):
                    self.start(book, near, background=True)
                    break

    def _is_allowed(self) -> bool:
        """Whether it may start by itself: no model is loaded for that alone."""
        indexing = any(entry.running for entry in self._book_list.entries.values())
        return (
            self._preferences.settings.reads_ahead
            and self._answerer.pid is not None
            and not indexing
        )

    def _is_pending(self, book: str) -> bool:
        entry = self._book_list.entries.get(book)
        if entry is None or entry.book is None or book in self._finished:
            return False
        complete = entry.prefill is not None and entry.prefill.complete
        return entry.book.status == BookStatus.INDEXED and not complete

    def _on_event(self, book: str, delivery: Delivery) -> None:
        if delivery.event == "stage":
            progress = decode(Progress, delivery.data)
            if progress.stage == "studying":
                self._show(book, progress)
            return
        background = self._running is not None and self._running.background
        if delivery.event == "done":
            self._finished.add(book)
            if delivery.data["full"]:
                self.noticed.emit(self._full(book))
        elif delivery.event == "failed":
            self._finished.add(book)
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
        self._refresh()

    def _show(self, book: str, progress: Progress | None) -> None:
        entry = self._book_list.entries.get(book)
        if entry is not None:
            entry.prefilling = progress
            self._book_list.entry_changed.emit(book)

    def _refresh(self) -> None:
        self._librarian.request("prefill_progress", on_event=self._on_stored)

    def _on_stored(self, delivery: Delivery) -> None:
        if delivery.event != "done":
            return
        found = {row["book"]: decode(PrefillProgress, row) for row in delivery.data}
        for key, entry in list(self._book_list.entries.items()):
            if entry.prefill != found.get(key):
                entry.prefill = found.get(key)
                self._book_list.entry_changed.emit(key)
