"""Map-reduce over a part of a book for one question: notes of a few pages each, then an answer.

A note is what the model copies of those pages, word for word, so it can't be wrong, only beside
the point. The answer is then written from the passages that were copied from, together with those
that searching the part finds: a small model copies too little of some pages. Pages on which
something was found come first, so that stopping early costs least.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from desktop.core.answering.modes import long_context, retrieval
from desktop.core.answering.modes.budget import CHARACTERS_A_TOKEN
from desktop.core.answering.prompt.assembly import assemble
from desktop.core.answering.prompt.blocks import segment_of
from desktop.core.answering.prompt.context import FRAME_TOKENS, Context, Source, quotable
from desktop.core.answering.prompt.self_evaluation import self_evaluation
from desktop.core.answering.request import Draft
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.notes import Note
from desktop.core.llm.runtime.constrained_decoding import MARK
from desktop.core.llm.runtime.generation import Generation
from desktop.core.progress import Pace
from desktop.core.records import Timings
from desktop.core.text.tables import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from desktop.core.answering.modes.mode import ModeInput
    from desktop.core.answering.request import Request
    from desktop.core.records import Hit

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


def build_context(given: ModeInput) -> Context:
    """Read a part of one book, and return what the answer is to be written from.

    Where the user stops it, that is what was found so far, and the pages are named that were not
    read. What is found is streamed as it is found.

    Raises:
        UserFacingError: if there is no such part.
    """
    request, catalog = given.request, given.library.catalog
    hits = request.found.hits
    book = hits[0].passage.book if hits else given.books[0]
    hits = tuple(hit for hit in hits if hit.passage.book == book)
    pages = {page.number: page for page in long_context.pages(catalog, book, request.found.where)}
    if not pages:
        raise UserFacingError("The book has no such pages", "Choose another part")
    noted, read = _map(given, book, sorted(pages), hits)
    unread = long_context.left_out(
        book,
        (page for number, page in sorted(pages.items()) if number not in read),
        lambda characters: round(characters / CHARACTERS_A_TOKEN),
    )
    room = min(given.room, MOST_READ_TOKENS)
    found = retrieval.choose(
        hits, count=given.count, room=room, reordered=request.reordered
    ).sources
    there = [piece for piece in noted if any(_within(piece.source, each) for each in found)]
    room -= sum(source.tokens + FRAME_TOKENS for source in found)
    added = _best([piece for piece in noted if piece not in there], room)
    used = sorted([*there, *added], key=_place)
    sources = tuple(piece.source for piece in added)
    return Context(
        (*found, *sources) if request.reordered else (*sources, *found),
        left_out=unread,
        notes=(_told(len(read), len(pages), len(noted), len(used)),),
        noted=tuple(quote for piece in used for quote in piece.quotes),
    )


def _map(
    given: ModeInput, book: str, pages: Sequence[int], hits: Sequence[Hit]
) -> tuple[list[Noted], set[int]]:
    """Return what is noted of some pages of a book, and the pages that were read for it.

    Segments with hits come first, in their order.
    """
    near = [segment_of(hit.passage.page) for hit in hits]
    mapper = _Mapper(given, book)
    pace = Pace(given.listener.stage, "map_reduce", total=len(pages), unit="pages")
    noted: list[Noted] = []
    read: set[int] = set()
    for segment in sorted({segment_of(n) for n in pages}, key=lambda n: (_rank(n, near), n)):
        numbers = [number for number in pages if segment_of(number) == segment]
        blocks = given.blocks.of(book, numbers, given.request.found.where.sections)
        try:
            for group in given.blocks.grouped(blocks):
                noted += mapper.note(group)
        except CancelledError:
            break
        read.update(numbers)
        pace.at(len(read))
    return noted, read


def notes_as_draft(
    context: Context, request: Request, *, model: str, refusal: str, total_s: float, stopped: bool
) -> Draft:
    """Return what was noted as it is: reading was stopped, or nothing was found.

    Raises:
        CancelledError: if it was stopped before anything was noted.
    """
    if stopped and not context.noted:
        raise CancelledError
    return Draft(
        text="\n".join(f"> {quote}" for quote in context.noted) or refusal,
        model=model,
        sources=context.sources,
        timings=Timings(retrieve_s=round(request.found.retrieve_s, 3), total_s=round(total_s, 3)),
        left_out=context.left_out,
        notes=context.notes,
        stopped=stopped,
    )


def _told(read: int, pages: int, noted: int, used: int) -> str:
    """Return what the user is told of the reading."""
    were = "passage was" if noted == 1 else "passages were"
    text = f"Read {read} of {pages} pages through; {noted} {were} noted"
    if used < noted:
        text += f", of which the best {used} were used"
    return f"{text}, beside what searching finds"


class _Mapper:
    """Reads groups of blocks, one prompt each, and takes notes."""

    def __init__(self, given: ModeInput, book: str) -> None:
        self._library = given.library
        self._blocks = given.blocks
        self._engine = given.blocks.engine
        self._count = given.count
        question = given.request.question
        self._question = f"{question} {given.blocks.texts.partial}".strip()
        self._notes = given.library.notes.of(book, given.loaded.identity, question)
        self._fresh = given.request.fresh
        self._listener = given.listener

    def note(self, group: Sequence[Source]) -> list[Noted]:
        """Return what is noted of some blocks, each passage once with all that was copied of it.

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
        cancelled = self._listener.cancelled
        if self._engine.splices and not self._fresh:
            for block in group:
                if not self._blocks.saved(block) and self._library.states.has_room(block.book):
                    self._blocks.read(block, cancelled=cancelled)
        prompt = assemble(self._blocks, self._question, group, recapped=False)
        written = ""
        for piece in self._engine.generate(
            prompt.tokens,
            Generation(),
            most_tokens=MOST_NOTE_TOKENS,
            cancelled=cancelled,
            fresh=self._fresh,
            guide=prompt.guide,
            splices=prompt.splices,
        ):
            written += piece
            if _ended(written):
                break
        if cancelled():
            raise CancelledError
        quotes = tuple(dict.fromkeys(_placed(group, _copied(written))))
        if not quotes:
            return Note()
        odds = self_evaluation(self._engine, self._blocks.texts, prompt, cancelled)
        return Note(quotes, odds or 0.0)

    def _holding(self, group: Sequence[Source], page: int, quote: str) -> Source | None:
        """Return the passage that a sentence stands in; its block, where it stands in none."""
        for block in group:
            if block.page != page:
                continue
            for piece in [*self._passages(block), replace(block, block=False)]:
                if quote in quotable([piece]):
                    return replace(piece, tokens=self._count(piece.shown))
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


def _best(found: Sequence[Noted], room: int) -> list[Noted]:
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
