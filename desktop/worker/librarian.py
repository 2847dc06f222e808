"""The librarian: adds, indexes and removes books, and finds passages. Loads torch and LanceDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.core.answering.generation.prefill import prefill_progress
from desktop.core.answering.modes.budget import parts
from desktop.core.answering.pipeline.executor import execute_in_library
from desktop.core.answering.pipeline.steps import Retrieve, Verify
from desktop.core.codec import decode, encode
from desktop.core.errors import CancelledError
from desktop.core.library.indexing import Indexer
from desktop.core.library.library import Library
from desktop.core.records import Book, BookStatus
from desktop.worker.host import EACH

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.answering.modes.budget import Part
    from desktop.core.library.prefill_progress import PrefillProgress
    from desktop.core.records import Added, Progress
    from desktop.paths import Paths
    from desktop.worker.host import Job


class Librarian:
    """Serves the library pane and every search."""

    def __init__(self, paths: Paths) -> None:
        self._library = Library(paths)

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        """See `host.Service`. Nothing waits for a book's vectors but other books' vectors."""
        return {
            "add": (EACH, self.add),
            "index": (EACH, self.index),
            "resume": (EACH, self.resume),
            "books": ("library", self.books),
            "remove": ("library", self.remove),
            "restore": ("library", self.restore),
            "purge": ("purge", self.purge),
            "collections": ("library", self.collections),
            "create_collection": ("library", self.create_collection),
            "collect": ("library", self.collect),
            "take_out": ("library", self.take_out),
            "rename_collection": ("library", self.rename_collection),
            "delete_collection": ("library", self.delete_collection),
            "parts": ("library", self.parts),
            "prefill_progress": ("prefill", self.prefill_progress),
            "forget_prefill": ("prefill", self.forget_prefill),
            "retrieve": ("search", self.retrieve),
            "verify": ("search", self.verify),
        }

    def leave(self) -> None:
        """The window closes in the middle of work; that is not the fault of a book."""
        self._library.catalog.forget_attempts()

    def _indexer(self, job: Job, file: str = "") -> Indexer:
        def progress(book: str, step: Progress) -> None:
            job.emit("progress", {**encode(step), "book": book or None, "file": file})

        return Indexer(
            self._library,
            progress=progress,
            book_changed=lambda book: job.emit("book", book),
            cancelled=job.cancelled,
        )

    def add(self, job: Job) -> Added:
        """Add a file and index it to the end."""
        path = job.args["path"]
        return self._indexer(job, path).add(Path(path), password=job.args.get("password"))

    def index(self, job: Job) -> Book:
        """Go on with a book from its checkpoint."""
        book, _ = self._indexer(job).index(job.args["book"])
        return book

    def resume(self, job: Job) -> dict[str, int]:
        """Go on with every unfinished book, and delete those whose undo is over."""
        for removed in self._library.catalog.removed():
            self._library.purge(removed)
        return {"resumed": self._indexer(job).index_all()}

    def books(self, _job: Job) -> list[Book]:
        """Return the books."""
        return self._library.catalog.books()

    def remove(self, job: Job) -> None:
        """Take a book out; indexing it stops."""
        self._library.remove(job.args["book"])

    def restore(self, job: Job) -> Book | None:
        """Bring a removed book back; an unfinished one comes back as paused."""
        book = self._library.restore(job.args["book"])
        if book and book.status in (BookStatus.READING, BookStatus.ASKABLE):
            return self._library.catalog.update(book.id, status=BookStatus.PAUSED)
        return book

    def purge(self, job: Job) -> None:
        """Delete a removed book for good."""
        self._library.purge(job.args["book"])

    def collections(self, _job: Job) -> dict[str, tuple[str, ...]]:
        """Return the collections, as each verb that changes one does; see `Collections.all`."""
        return self._library.collections.all()

    def create_collection(self, job: Job) -> dict[str, tuple[str, ...]]:
        """Make a collection, whose name is not taken yet."""
        self._library.collections.create(job.args["name"], job.args["books"])
        return self.collections(job)

    def collect(self, job: Job) -> dict[str, tuple[str, ...]]:
        """Put books into a collection, which is made where it is not there."""
        self._library.collections.add(job.args["name"], job.args["books"])
        return self.collections(job)

    def take_out(self, job: Job) -> dict[str, tuple[str, ...]]:
        """Take books out of a collection."""
        self._library.collections.take_out(job.args["name"], job.args["books"])
        return self.collections(job)

    def rename_collection(self, job: Job) -> dict[str, tuple[str, ...]]:
        """Give a collection another name."""
        self._library.collections.rename(job.args["name"], job.args["to"])
        return self.collections(job)

    def delete_collection(self, job: Job) -> dict[str, tuple[str, ...]]:
        """Delete a collection; its books stay."""
        self._library.collections.delete(job.args["name"])
        return self.collections(job)

    def parts(self, job: Job) -> list[Part]:
        """Return what of a book can be chosen to be read."""
        return parts(self._library.catalog, job.args["book"])

    def prefill_progress(self, _job: Job) -> list[PrefillProgress]:
        """Return how much of each book is prefilled."""
        return prefill_progress(self._library)

    def forget_prefill(self, job: Job) -> list[PrefillProgress]:
        """Delete the saved KV states of a book."""
        self._library.states.forget(job.args["book"])
        return prefill_progress(self._library)

    def retrieve(self, job: Job) -> Any:
        """Find the passages for a question; see `steps.Retrieve`."""
        return self._execute(job, Retrieve)

    def verify(self, job: Job) -> Any:
        """Prove what was written; see `steps.Verify`."""
        return self._execute(job, Verify)

    def _execute(self, job: Job, kind: type[Retrieve | Verify]) -> Any:
        result = execute_in_library(self._library, decode(kind, job.args))
        if job.cancelled():
            raise CancelledError
        return result
