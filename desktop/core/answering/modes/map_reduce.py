"""Reading a part of a book through for one question, a few pages at a time, taking notes.

A note is what the model copies of those pages, word for word, so it can't be wrong, only beside
the point. The answer is then written from the passages that were copied from, together with those
that searching the part finds: a small model copies too little of some pages. Pages on which
something was found come first, so that stopping early costs least.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from desktop.core.answering.attribution.abstention import self_evaluation
from desktop.core.answering.modes import long_context, retrieval
from desktop.core.answering.modes.budget import CHARACTERS_A_TOKEN
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.blocks import segment_of
from desktop.core.answering.prompt.context import (
    FRAME_TOKENS,
    Context,
    Source,
    quotable,
    quoting_guide,
)
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.notes import Note
from desktop.core.llm.runtime.constrained_decoding import MARK
from desktop.core.llm.runtime.generation import Generation
from desktop.core.progress import Pace
from desktop.core.text.tables import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from desktop.core.answering.generation.loaded_model import LoadedModel
    from desktop.core.answering.prompt.blocks import PromptBlocks
    from desktop.core.answering.request import Listener, Request
    from desktop.core.library.library import Library

MOST_NOTE_TOKENS = 160
"""Of one note: three sentences, copied."""
MOST_READ_TOKENS = 2000
"""Of the passages that the answer is written from: a search brings half of it."""


@dataclass(frozen=True)
class Noted:
    """A passage that was noted.

    Attributes:
        source: The passage; its score is the odds of the `Note`.
        quotes: What was copied of it.
    """

    source: Source
    quotes: tuple[str, ...]


def map_reduce(
    library: Library,
    loaded: LoadedModel,
    blocks: PromptBlocks,
    request: Request,
    listener: Listener,
    *,
    room: int,
) -> Context:
    """Read a part of one book, and return what the answer is to be written from.

    Where the user stops it, that is what was found so far, and the pages are named that were not
    read. What is found is streamed as it is found.

    Args:
        library: Where the book and the notes are.
        loaded: The model that reads.
        blocks: Those of that model.
        request: What is asked, and of which part.
        listener: Told of progress, in pages.
        room: Most tokens of the passages.

    Raises:
        UserFacingError: if there is no such part.
    """
    hits = request.found.hits
    book = hits[0].passage.book if hits else request.found.books[0][0]
    where = request.found.where
    pages = {page.number: page for page in long_context.pages(library.catalog, book, where)}
    if not pages:
        raise UserFacingError("The book has no such pages", "Choose another part")
    near = [segment_of(hit.passage.page) for hit in hits if hit.passage.book == book]
    reader = _Reader(library, loaded, blocks, request, book, listener)
    pace = Pace(listener.stage, "map_reduce", total=len(pages), unit="pages")
    found: list[Noted] = []
    read: set[int] = set()
    for segment in sorted({segment_of(n) for n in pages}, key=lambda n: (_rank(n, near), n)):
        numbers = [number for number in pages if segment_of(number) == segment]
        try:
            for group in blocks.grouped(blocks.of(book, numbers, where.sections)):
                found += reader.note(group)
        except CancelledError:
            break
        read.update(numbers)
        pace.at(len(read))
    searched = retrieval.choose(
        library.catalog,
        [hit for hit in hits if hit.passage.book == book],
        books=[book],
        where=where,
        count=lambda text: len(loaded.engine.tokenize(text)),
        room=min(room, MOST_READ_TOKENS),
        reordered=request.reordered,
    ).sources
    there = [piece for piece in found if any(_within(piece.source, each) for each in searched)]
    taken = sum(source.tokens + FRAME_TOKENS for source in searched)
    added = _chosen(
        [piece for piece in found if piece not in there], min(room, MOST_READ_TOKENS) - taken
    )
    used = [*there, *added]
    noted = tuple(piece.source for piece in added)
    return Context(
        (*searched, *noted) if request.reordered else (*noted, *searched),
        left_out=long_context.left_out(
            book,
            (page for number, page in sorted(pages.items()) if number not in read),
            lambda characters: round(characters / CHARACTERS_A_TOKEN),
        ),
        notes=(_said(len(read), len(pages), len(found), len(used)),),
        noted=tuple(quote for piece in sorted(used, key=_place) for quote in piece.quotes),
    )


def _said(read: int, pages: int, noted: int, used: int) -> str:
    """Return what the user is told of the reading."""
    were = "passage was" if noted == 1 else "passages were"
    text = f"Read {read} of {pages} pages through; {noted} {were} noted"
    if used < noted:
        text += f", of which the best {used} were used"
    return f"{text}, beside what searching finds"


class _Reader:
    """Reads groups of leaves and takes notes."""

    def __init__(
        self,
        library: Library,
        loaded: LoadedModel,
        blocks: PromptBlocks,
        request: Request,
        book: str,
        listener: Listener,
    ) -> None:
        self._library = library
        self._loaded = loaded
        self._leaves = blocks
        self._texts = prompts.load()
        self._question = f"{request.question} {self._texts.partial}".strip()
        self._notes = library.notes.of(book, loaded.identity, request.question)
        self._fresh = request.fresh
        self._listener = listener

    def note(self, group: Sequence[Source]) -> list[Noted]:
        """Return what is noted of some leaves, each passage once with all that was copied of it.

        Raises:
            CancelledError: if stopped.
        """
        if self._listener.cancelled():
            raise CancelledError
        text = "\n".join(block.shown for block in group)
        note = None if self._fresh else self._notes.load(text)
        if note is None:
            note = self._taken(group)
            self._notes.save(text, note)
        found: dict[tuple[int, int], Noted] = {}
        for page, quote in note.quotes:
            source = self._holding(group, page, quote)
            if source is None:
                continue
            self._listener.token(f"“{quote}” (page {source.page_label})\n\n")
            place = source.page, source.start
            before = found[place].quotes if place in found else ()
            found[place] = Noted(replace(source, score=note.odds), (*before, quote))
        return list(found.values())

    def _taken(self, group: Sequence[Source]) -> Note:
        engine = self._loaded.engine
        if engine.splices and not self._fresh:
            for block in group:
                if not self._leaves.saved(block) and self._library.states.has_room(block.book):
                    self._leaves.read(block, cancelled=self._listener.cancelled)
        messages = self._texts.messages(self._question, group, ())
        prompt, places = engine.chat_in_parts(messages)
        splices = self._leaves.splices(group, places)
        written = ""
        for piece in engine.generate(
            prompt,
            Generation(),
            most_tokens=MOST_NOTE_TOKENS,
            cancelled=self._listener.cancelled,
            fresh=self._fresh,
            guide=quoting_guide(group, engine.tokenize),
            splices=splices,
        ):
            written += piece
            if _ended(written):
                break
        if self._listener.cancelled():
            raise CancelledError
        quotes = tuple(dict.fromkeys(_placed(group, _copied(written))))
        if not quotes:
            return Note()
        odds = self_evaluation(engine, self._texts, messages, splices, self._listener.cancelled)
        return Note(quotes, odds or 0.0)

    def _holding(self, group: Sequence[Source], page: int, quote: str) -> Source | None:
        """Return the passage that a sentence stands in; its leaf, where it stands in none."""
        for block in group:
            if block.page != page:
                continue
            for piece in [*self._passages(block), replace(block, block=False)]:
                if quote in quotable([piece]):
                    tokens = len(self._loaded.engine.tokenize(piece.shown))
                    return replace(piece, tokens=tokens)
        return None

    def _passages(self, block: Source) -> Iterator[Source]:
        end = block.start + len(block.text)
        for passage in self._library.catalog.passages_on(block.book, block.page):
            if block.start <= passage.start and passage.end <= end:
                start = passage.start - block.start
                yield replace(
                    block,
                    section=passage.section,
                    start=passage.start,
                    text=passage.text,
                    tables=within(block.tables, start, start + len(passage.text)),
                    block=False,
                )


def _ended(written: str) -> bool:
    """Whether the quotations of a text are over, or it does not begin with one."""
    *whole, last = written.lstrip().split("\n")
    return not all(line.startswith(MARK) for line in (*whole, last or MARK))


def _copied(written: str) -> list[str]:
    lines = written.strip().split("\n")
    return [line.removeprefix(MARK).strip() for line in lines if line.startswith(MARK)]


def _placed(group: Sequence[Source], copied: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield page and whole sentence of quotations, which may begin inside one.

    One that was cut off is the end of none.
    """
    for quote in copied:
        for block in group:
            whole = next((line for line in quotable([block]) if line.endswith(quote)), None)
            if quote and whole is not None:
                yield block.page, whole
                break


def _chosen(found: Sequence[Noted], room: int) -> list[Noted]:
    """Return the passages that answer best and fit, in the order of the book."""
    chosen = []
    for piece in sorted(found, key=lambda piece: -piece.source.score):
        tokens = piece.source.tokens + FRAME_TOKENS
        if tokens <= room:
            room -= tokens
            chosen.append(piece)
    return sorted(chosen, key=_place)


def _place(piece: Noted) -> tuple[int, int]:
    return piece.source.page, piece.source.start


def _within(one: Source, other: Source) -> bool:
    """Whether a passage is part of another source of its book."""
    end = one.start + len(one.text)
    here = one.page == other.page and other.start <= one.start
    return here and end <= other.start + len(other.text)


def _rank(segment: int, near: Sequence[int]) -> int:
    return near.index(segment) if segment in near else len(near)
