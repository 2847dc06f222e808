"""The list of books behind the library pane: books, files being added, and the last removal.

Talks to the librarian. Knows no widgets; emits a signal for each change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.core.codec import decode
from desktop.core.records import Added, Book, BookStatus, Progress
from desktop.ui.formatting import tr
from desktop.ui.library.book_entry import BookEntry

if TYPE_CHECKING:
    from desktop.ui.bridge import Bridge, JobHandle
    from desktop.worker.process import Delivery

UNFINISHED = (BookStatus.READING, BookStatus.ASKABLE)
UNDO_MS = 10_000
REPAINT_MS = 80
"""Milliseconds between two signals on the progress of a book, however fast it comes."""


class BookList(QObject):
    """The books of the library."""

    loaded = Signal()
    entry_changed = Signal(str)
    entry_removed = Signal(str)
    entry_renamed = Signal(str, str)
    """A file has become a book: the old key and the new one."""
    noticed = Signal(str)
    removal_offered = Signal(str)
    """The name of a book that was removed and can be had back."""
    removal_settled = Signal()

    def __init__(self, librarian: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self.entries: dict[str, BookEntry] = {}
        self.is_loaded = False
        self._resume_job: JobHandle | None = None
        self._resume_after_load = False
        self._removed: BookEntry | None = None
        self._dirty: dict[str, None] = {}  # in the order of the books
        self._repaint = QTimer(self, interval=REPAINT_MS, singleShot=True)
        self._repaint.timeout.connect(self._emit_changes)
        self._offer = QTimer(self, interval=UNDO_MS, singleShot=True)
        self._offer.timeout.connect(self.settle_removal)
        librarian.died.connect(lambda _kind, news: self._recover(news))

    def load(self) -> None:
        """Ask for the books, and resume the indexing of unfinished ones."""
        self._librarian.request("books", on_event=self._on_books)
        self._resume_job = self._librarian.request("resume", on_event=self._on_resumed)

    def add(self, path: str, password: str | None = None) -> None:
        """Add a file."""
        entry = self.entries.get(path) or BookEntry(key=path, file=path)
        if entry.running:
            return
        entry.error, entry.locked, entry.progress = "", False, None
        self.entries[entry.key] = entry
        entry.job = self._librarian.request(
            "add",
            {"path": path, "password": password},
            on_event=lambda delivery: self._on_added(entry, delivery),
        )
        self.entry_changed.emit(entry.key)

    def resume(self, key: str) -> None:
        """Resume a paused or failed book, or try a file again."""
        entry = self.entries[key]
        if entry.book is None:
            self.add(entry.file)
            return
        entry.error = ""
        entry.job = self._librarian.request(
            "index", {"book": key}, on_event=lambda delivery: self._on_added(entry, delivery)
        )
        self.entry_changed.emit(key)

    def pause(self, key: str) -> None:
        """Stop working on a book for now; what is done stays done."""
        job = self.entries[key].job
        if job:
            job.cancel()

    def remove(self, key: str) -> None:
        """Remove a book, with an offer to undo it; there is none for a file that is no book yet."""
        entry = self.entries.pop(key)
        shared = entry.job is self._resume_job
        if entry.job and shared:
            entry.job.cancel()
        elif entry.job:
            entry.job.drop()
        self.entry_removed.emit(key)
        if entry.book is None:
            return
        self.settle_removal()
        self._removed = entry
        self._librarian.request("remove", {"book": key}, on_event=self._on_removed)
        self._offer.start()
        self.removal_offered.emit(entry.name)

    def undo_removal(self) -> None:
        """Bring the book back that was removed last."""
        entry, self._removed = self._removed, None
        self._offer.stop()
        self.removal_settled.emit()
        if entry is None:
            return
        unfinished = entry.book is not None and entry.book.status in UNFINISHED

        def on_restored(delivery: Delivery) -> None:
            self._on_removed(delivery)
            if delivery.event == "done" and not delivery.data:
                self._forget(entry)
                self.noticed.emit(
                    tr("“{title}” could not be brought back.").format(title=entry.name)
                )
            elif delivery.event == "done" and unfinished:
                self.resume(entry.key)

        self.entries[entry.key] = entry
        self._librarian.request("restore", {"book": entry.key}, on_event=on_restored)
        self.entry_changed.emit(entry.key)

    def settle_removal(self) -> None:
        """End the offer to undo: the files are really deleted."""
        entry, self._removed = self._removed, None
        self._offer.stop()
        if entry is not None:
            self._librarian.request("purge", {"book": entry.key}, on_event=lambda _: None)
            self.removal_settled.emit()

    def books(self) -> list[Book]:
        """Return the books that are known, in the order of the cards."""
        return [entry.book for entry in self.entries.values() if entry.book]

    def title(self, book: str) -> str:
        """Return a book's title."""
        entry = self.entries.get(book)
        return entry.name if entry else tr("a book that is not in the library any more")

    def any_askable(self, scope: tuple[str, ...]) -> bool:
        """Whether one of the books asked can answer; no ids mean all."""
        chosen = [self.entries[key] for key in scope if key in self.entries]
        return any(entry.askable for entry in (chosen if scope else self.entries.values()))

    def _on_books(self, delivery: Delivery) -> None:
        if delivery.event == "done":
            for data in delivery.data:
                self._take_book(decode(Book, data))
            self.is_loaded = True
            self.loaded.emit()
            if self._resume_after_load:
                self._resume_all()
        elif delivery.event == "failed":
            self.noticed.emit(f"{delivery.data['what']}. {delivery.data['remedy']}.")

    def _take_book(self, book: Book, job: JobHandle | None = None) -> BookEntry | None:
        if self._removed is not None and self._removed.key == book.id:
            return None
        entry = self.entries.get(book.id)
        if entry is None:
            entry = self.entries[book.id] = BookEntry(key=book.id, file=book.file)
        if entry.book is not None and entry.book.status != book.status:
            entry.progress = None
        entry.book = book
        entry.job = job or entry.job
        self._mark(entry.key)
        return entry

    def _on_resumed(self, delivery: Delivery) -> None:
        if delivery.event == "book":
            self._take_book(decode(Book, delivery.data), self._resume_job)
        elif delivery.event == "progress":
            entry = self.entries.get(delivery.data.get("book") or "")
            if entry is not None:
                entry.job = self._resume_job
                entry.progress = decode(Progress, delivery.data)
                self._mark(entry.key)
        elif delivery.event == "cancelled":
            # One book was paused or removed; the others go on. Not by the librarian's verb
            # `resume`, which deletes removed books for good.
            self.reload()
        elif delivery.event in ("done", "failed"):
            for entry in self.entries.values():
                if entry.job is self._resume_job:
                    entry.progress = None
                    self._mark(entry.key)

    def _on_added(self, entry: BookEntry, delivery: Delivery) -> None:
        data = delivery.data
        match delivery.event:
            case "progress":
                entry.progress = decode(Progress, data)
                self._rekey(entry, data.get("book"))
                self._mark(entry.key)
            case "book":
                self._rekey(entry, data["id"])
                self._take_book(decode(Book, data))
            case "done":
                self._finish(entry, data)
            case "failed":
                entry.locked = data["kind"] == "password"
                entry.error = f"{data['what']}. {data['remedy']}."
                entry.progress = None
                self._mark(entry.key)
            case "cancelled" if entry.book is None:
                self._forget(entry)
            case "died" if entry.book is None:
                entry.error = tr(
                    "The part that reads books stopped unexpectedly at this file. Try again."
                )
                self._mark(entry.key)
            case _:
                self._mark(entry.key)

    def _finish(self, entry: BookEntry, data: dict[str, Any]) -> None:
        entry.progress = None
        if "timings" not in data:  # of `index`, which returns the book
            self._take_book(decode(Book, data))
            return
        added = decode(Added, data)
        if added.book is not None:
            self._rekey(entry, added.book.id)
            self._take_book(added.book)
            if added.status == "already":
                text = tr("“{title}” is already in the library")
                self.noticed.emit(text.format(title=added.book.title))
        if added.status == "failed":
            entry.error = added.error
        self._mark(entry.key)

    def _rekey(self, entry: BookEntry, book: str | None) -> None:
        if not book or entry.key == book:
            return
        known = self.entries.get(book)
        if known is not None:  # the same file again
            self._forget(entry)
            entry.book = entry.book or known.book
            self.entries[book] = entry
        else:
            keys = {entry.key: book}
            self.entries = {keys.get(k, k): e for k, e in self.entries.items()}
            self.entry_renamed.emit(entry.key, book)
        entry.key = book

    def _forget(self, entry: BookEntry) -> None:
        if self.entries.get(entry.key) is entry:
            del self.entries[entry.key]
            self.entry_removed.emit(entry.key)

    def _on_removed(self, delivery: Delivery) -> None:
        if delivery.event == "failed":
            self.noticed.emit(f"{delivery.data['what']}. {delivery.data['remedy']}.")
            self._librarian.request("books", on_event=self._on_books)

    def _recover(self, news: dict[str, Any]) -> None:
        if not news.get("given_up"):
            self.reload()

    def reload(self) -> None:
        """Ask for the books again and resume unfinished ones, after the worker has died."""
        self._resume_job = None
        self._resume_after_load = True
        self._librarian.request("books", on_event=self._on_books)

    def _resume_all(self) -> None:
        self._resume_after_load = False
        for entry in list(self.entries.values()):
            book = entry.book
            unfinished = book is not None and book.status in UNFINISHED
            if unfinished and not entry.running and not entry.error:
                self.resume(entry.key)

    def _mark(self, key: str) -> None:
        self._dirty[key] = None
        if not self._repaint.isActive():
            self._repaint.start()

    def _emit_changes(self) -> None:
        dirty, self._dirty = self._dirty, {}
        for key in dirty:
            if key in self.entries:
                self.entry_changed.emit(key)
