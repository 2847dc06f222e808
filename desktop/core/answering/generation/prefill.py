"""Prefilling a book: the state of each block is saved, so that questions about it start at once.

Stands back for answers, here and in any other process on the library, and for whatever else wants
the model. What is done is kept at every moment; another run goes on from there.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.answering.modes import long_context
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.blocks import PromptBlocks, block_count, segment_of
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.prefill_progress import PrefillProgress
from desktop.core.progress import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.answering.generation.model_manager import ModelManager
    from desktop.core.answering.prompt.context import Source
    from desktop.core.answering.request import Listener
    from desktop.core.library.library import Library
    from desktop.core.library.search_filter import SearchFilter


WAIT_S = 2.0
"""How often is looked whether a reason to wait is over."""


@dataclass(frozen=True)
class Prefilled:
    """How far a part of a book is read ahead.

    Attributes:
        book: Its id.
        model: The model that has read it.
        passages: How many passages the part has.
        done: How many of them are read.
        bytes: What the states of the whole book take on the disk.
        tokens_per_s: Speed of reading; 0 where nothing was left to read.
        full: Whether it ended because the states may take no more of the disk.
    """

    book: str
    model: str
    passages: int
    done: int
    bytes: int
    tokens_per_s: float
    full: bool = False


def prefill_progress(library: Library) -> list[PrefillProgress]:
    """Return how much of each book is read ahead; of those of which nothing is, nothing."""
    found = []
    for book in library.catalog.books():
        usage = library.states.usage(book.id)
        if usage.states:
            count = max(1, block_count(library.catalog, book.id))
            share = min(1.0, library.states.most(book.id) / count)
            found.append(PrefillProgress(book.id, share, usage.bytes))
    return found


def prefill(
    library: Library,
    models: ModelManager,
    where: SearchFilter,
    model: str | None,
    listener: Listener,
    *,
    near: Sequence[int] = (),
    waits: Callable[[], bool] = lambda: False,
) -> Prefilled:
    """Read a part of one book ahead.

    Args:
        library: Where the book is.
        models: Lends the model that reads.
        where: The part, of one book.
        model: Name of the model; None for the default.
        listener: Told of progress, in passages.
        near: Pages around which to begin, in whole segments.
        waits: Asked before each page whether to wait.

    Raises:
        UserFacingError: if the model has a memory that can't be put together from parts, or can't
            be loaded, or there is no such part.
        CancelledError: if stopped; what was read is kept.
    """
    (book,) = where.books or ()
    numbers = [page.number for page in long_context.pages(library.catalog, book, where)]
    if not numbers:
        raise UserFacingError("The book has no such pages", "Choose another part")
    counts = {number: len(library.catalog.passages_on(book, number)) for number in numbers}
    # By segments, each from its first page: a block is read behind those before it.
    at = {segment_of(page) for page in near}
    numbers.sort(key=lambda n: (min((abs(segment_of(n) - m) for m in at), default=0), n))
    reader = _Prefiller(library, models, model, listener, waits)
    pace = Pace(listener.stage, "studying", total=sum(counts.values()), unit="passages")
    done = 0
    for number in numbers:
        if not reader.read(book, number):
            break
        done += counts[number]
        pace.at(done)
    return Prefilled(
        book=book,
        model=reader.name,
        passages=sum(counts.values()),
        done=done,
        bytes=library.states.usage(book).bytes,
        tokens_per_s=round(reader.tokens / reader.seconds, 1) if reader.seconds else 0.0,
        full=reader.full,
    )


class _Prefiller:
    """Reads page after page while nobody else wants the model."""

    def __init__(
        self,
        library: Library,
        models: ModelManager,
        model: str | None,
        listener: Listener,
        waits: Callable[[], bool],
    ) -> None:
        self._library = library
        self._models = models
        self._model = model
        self._listener = listener
        self._waits = waits
        self._texts = prompts.load()
        self.name = ""
        self.tokens = 0
        self.seconds = 0.0
        self.full = False

    def read(self, book: str, page: int) -> bool:
        """Read a page; return False where its states can't be kept."""
        while True:
            self._library.turns.stand_back(self._listener.cancelled)
            if self._waits():
                time.sleep(WAIT_S)
                continue
            with self._models.background(self._model, self._listener) as loaded:
                self.name = loaded.model.name
                if not loaded.engine.splices:
                    raise UserFacingError(
                        f"{self.name} can't read ahead: what it keeps of a text can't be put "
                        "together from parts",
                        "Choose another model; answers of this one start as before",
                    )
                blocks = PromptBlocks(self._library, loaded, self._texts)
                with suppress(CancelledError):
                    return self._read(blocks, blocks.of(book, [page]))

    def _read(self, blocks: PromptBlocks, found: Sequence[Source]) -> bool:
        """Read blocks; raises CancelledError where someone else wants the model, too."""
        for block in found:
            if blocks.saved(block):
                continue
            if not self._library.states.has_room(block.book):
                self.full = True
                return False
            start = time.monotonic()
            try:
                self.tokens += blocks.read(block, cancelled=self._disturbed)
            finally:
                self.seconds += time.monotonic() - start
            self.full = self._library.states.full
            if self.full:
                return False
        return True

    def _disturbed(self) -> bool:
        return self._listener.cancelled() or self._models.wanted
