"""Long context: the whole book where it fits, else the pages around the best finds that do.

What does not fit is said, page range by page range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.answering.prompt.context import FRAME_TOKENS, Context, Source
from desktop.core.errors import UserFacingError
from desktop.core.records import LeftOut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from desktop.core.answering.modes.mode import ModeInput
    from desktop.core.library.catalog import Catalog
    from desktop.core.library.search_filter import SearchFilter
    from desktop.core.records import Hit, Page


def build_context(given: ModeInput) -> Context:
    """Return the whole text where some window holds it, else what the default window holds.

    What fits whole is read once and then kept, so it may take long; a part may not.
    """
    request, catalog = given.request, given.library.catalog

    def chosen(room: int) -> Context:
        return choose(
            catalog,
            request.found.hits,
            books=given.books,
            where=request.found.where,
            count=given.count,
            room=room,
        )

    whole = chosen(given.widest_room)
    return whole if whole.left_out is None else chosen(given.room)


def choose(
    catalog: Catalog,
    hits: Sequence[Hit],
    *,
    books: Sequence[str],
    where: SearchFilter,
    count: Callable[[str], int],
    room: int,
) -> Context:
    """Return the pages of one book that fit: the one with the best find, or the only one.

    Args:
        catalog: Where the pages are.
        hits: What was found, best first.
        books: Ids of the books that are asked.
        where: The part of the library to keep to.
        count: Tokens of a text.
        room: Most tokens of all sources together.

    Raises:
        UserFacingError: if there is no such book or page, or not one page fits.
    """
    book = hits[0].passage.book if hits else books[0]
    entry = catalog.find(book)
    if entry is None:
        raise UserFacingError("The book is no longer in the library", "Choose another book")
    texts = {page.number: page for page in pages(catalog, book, where)}
    if not texts:
        raise UserFacingError("The book has no such pages", f"It has {entry.pages} pages")
    found = [hit for hit in hits if hit.passage.book == book and hit.passage.page in texts]
    seeds = [hit.passage.page for hit in found] or [min(texts)]
    scores = {hit.passage.page: hit.score for hit in reversed(found)}
    # Not those of the finds: a page is to read alike whatever is asked.
    sections = {page: section for section, page in reversed(catalog.section_pages(book))}
    chosen: dict[int, Source] = {}
    left = room
    for number in _outward(seeds, texts):
        page = texts[number]
        if not page.text:
            continue
        source = Source(
            book=book,
            title=entry.title,
            page=number,
            page_label=page.label,
            section=sections.get(number, ""),
            start=0,
            text=page.text,
            score=scores.get(number, 0.0),
            tokens=count(page.text),
        )
        left -= source.tokens + FRAME_TOKENS
        if left < 0:
            break
        chosen[number] = source
    if not chosen:
        raise UserFacingError(
            f"Not even page {seeds[0]} fits the model's window", "Ask in retrieval mode"
        )
    missing = left_out(
        book,
        (page for n, page in sorted(texts.items()) if n not in chosen and page.text),
        lambda characters: _estimate(characters, chosen.values()),
    )
    notes = [] if not missing else [_read_note(sorted(chosen), len(texts))]
    others = len(books) - 1
    if others:
        notes.append(f"Only “{entry.title}” was read; {others} more in the library")
    return Context(
        tuple(source for _, source in sorted(chosen.items())),
        left_out=missing,
        notes=tuple(notes),
    )


def pages(catalog: Catalog, book: str, where: SearchFilter) -> list[Page]:
    """Return the pages of a book in a part of the library; a section's pages count whole."""
    found = catalog.pages(book, *(where.pages or ()))
    if where.sections is None:
        return found
    wanted = set(where.sections)
    numbers = {page for section, page in catalog.section_pages(book) if section in wanted}
    return [page for page in found if page.number in numbers]


def _read_note(read: list[int], total: int) -> str:
    return (
        f"Read {len(read)} of {total} pages: those around the best finds, as many as fit the "
        "model's window"
    )


def _outward(seeds: Sequence[int], known: dict[int, Page]) -> Iterable[int]:
    """Yield page numbers: the finds first, best first, then their neighbours, ever further."""
    seen = set()
    for distance in range(max(known) + 1):
        for seed in dict.fromkeys(seeds):
            for number in (seed + distance, seed - distance):
                if number in known and number not in seen:
                    seen.add(number)
                    yield number


def left_out(
    book: str, pages: Iterable[Page], tokens: Callable[[int], int]
) -> tuple[LeftOut, ...] | None:
    """Return what was not read of a book, a run of pages each; None where all was.

    Args:
        book: Its id.
        pages: Those that were not read, in order.
        tokens: From a number of characters to one of tokens.
    """
    return (
        tuple(
            LeftOut(
                book,
                (part[0].number, part[-1].number),
                tokens(sum(len(page.text) for page in part)),
            )
            for part in _ranges(pages)
        )
        or None
    )


def _ranges(pages: Iterable[Page]) -> list[list[Page]]:
    parts: list[list[Page]] = []
    for page in pages:
        if parts and page.number == parts[-1][-1].number + 1:
            parts[-1].append(page)
        else:
            parts.append([page])
    return parts


def _estimate(length: int, known: Iterable[Source]) -> int:
    """Return the tokens of so many characters, from those a token has in what was counted."""
    counted = list(known)
    characters = sum(len(source.text) for source in counted)
    tokens = sum(source.tokens for source in counted)
    return round(length * tokens / max(1, characters))
