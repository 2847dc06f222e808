"""The state of one book of the library, or of one file that is being added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.records import Book, BookStatus, Progress
from desktop.ui.formatting import book_name

if TYPE_CHECKING:
    from desktop.core.library.prefill_progress import PrefillProgress
    from desktop.ui.bridge import JobHandle


@dataclass
class BookEntry:
    """What a card of the library shows.

    Attributes:
        key: The book's id, or the path of a file that has no book yet.
        book: None while it is not known.
        progress: The last progress of its indexing; None where there is none.
        error: What is wrong and what to do; empty for nothing.
        locked: Whether a password is needed; `error` then says what was wrong with the last one.
        job: The request that works on it, such as indexing.
        prefill: How much of its prefill is stored; None for nothing.
        prefilling: The progress of its prefill, while that runs.
    """

    key: str
    file: str
    book: Book | None = None
    progress: Progress | None = None
    error: str = ""
    locked: bool = False
    job: JobHandle | None = None
    prefill: PrefillProgress | None = None
    prefilling: Progress | None = None

    @property
    def name(self) -> str:
        """What the card is called."""
        return book_name(self.book, self.file)

    @property
    def running(self) -> bool:
        """Whether it is being worked on."""
        return self.job is not None and self.job.running

    @property
    def askable(self) -> bool:
        """Whether a question finds something in it."""
        book = self.book
        if book is None:
            return False
        done = book.status in (BookStatus.ASKABLE, BookStatus.INDEXED)
        return done or (book.status == BookStatus.PAUSED and 0 < book.pages <= book.pages_read)
