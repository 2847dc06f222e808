"""The lists that a book's structure gives: its contents, figures, tables and definitions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from desktop.core.documents import section_kind
from desktop.core.documents.outline import SEPARATOR, own_title
from desktop.core.retrieval import table_of_contents
from desktop.core.text import normalisation, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.library.search_filter import SearchFilter
    from desktop.core.records import Book, Passage
    from desktop.core.retrieval.plan import Plan
    from desktop.core.retrieval.table_of_contents import Outline, Section

MOST = 200
"""Longest list."""
_CAPTION_CHARACTERS = 300
_NUMBER = re.compile(r"^\W*[^\W\d_]+\.?\s*([\w.-]*\w)")
"""Of a figure or table, in its caption."""


@dataclass(frozen=True)
class Entry:
    """An entry of a list.

    Attributes:
        text: As it stands in the book.
        start: Offset in the page's text; equal to `end` where it was not found there.
        end: Offset after its last character.
        level: Depth in the list, from 1.
        more: Entries that come after it but are not in the list, which is too long.
    """

    text: str
    book: str
    page: int
    page_label: str
    start: int
    end: int
    section: str
    level: int = 1
    more: int = 0


def entries(catalog: Catalog, plan: Plan, books: Sequence[Book]) -> list[Entry]:
    """Return the entries of the list that a plan asks for, in reading order."""
    chosen = [book for book in books if plan.where.books is None or book.id in plan.where.books]
    if plan.listing == "contents":
        return _first([e for book in chosen for e in _contents(catalog, book, plan.where)])
    found = [
        Entry(
            passage.text[start:end],
            passage.book,
            passage.page,
            passage.page_label,
            passage.start + start,
            passage.start + end,
            passage.section,
        )
        for passage in _passages(catalog, chosen, plan.where)
        for start, end in _SPANS[plan.listing](passage)
    ]
    found = _without_repeats(found, numbered=plan.listing != "definitions")
    wanted = set(normalisation.content_words(plan.query))
    return _first(
        [e for e in found if not wanted or wanted & set(normalisation.content_words(e.text))]
    )


def _first(found: list[Entry]) -> list[Entry]:
    """Return the longest list that is shown; its last entry says how many more there are."""
    if len(found) <= MOST:
        return found
    return [*found[: MOST - 1], replace(found[MOST - 1], more=len(found) - MOST)]


def _without_repeats(found: Sequence[Entry], *, numbered: bool) -> list[Entry]:
    """Return entries without those that a book's own lists or exercises only repeat.

    A figure or table that stands nowhere but among exercises is kept; a definition is not.
    """
    side = [any(map(section_kind.is_side, entry.section.split(SEPARATOR))) for entry in found]
    keys = [(entry.book, *_NUMBER.findall(entry.text)[:1]) for entry in found]
    proper = {key for key, aside in zip(keys, side, strict=True) if not aside}
    return [
        entry
        for entry, key, aside in zip(found, keys, side, strict=True)
        if not aside or (numbered and key not in proper)
    ]


def _contents(catalog: Catalog, book: Book, where: SearchFilter) -> Iterator[Entry]:
    outline = table_of_contents.outline(catalog, book.id)
    for section, level in _shown(outline, where):
        page = catalog.page(book.id, section.first)
        start, end = _find(section.title, page.text) if page else (0, 0)
        path = SEPARATOR.join(section.path)
        label = page.label if page else str(section.first)
        yield Entry(section.title, book.id, section.first, label, start, end, path, level)


def _shown(outline: Outline, where: SearchFilter) -> Iterator[tuple[Section, int]]:
    """Yield the chapters, below their parts; or a chapter with the sections in it."""
    if where.sections is not None:
        # A part is not shown for its only chapter.
        alone = {part.path for part in outline.parts if len(outline.children(part.path)) == 1}
        inside = [s for s in outline.inside(where.sections) if s.path not in alone]
        depth = min((len(s.path) for s in inside), default=0)
        for section in inside:
            if len(section.path) <= depth + 1:
                yield section, len(section.path) - depth + 1
        return
    parts = {part.path for part in outline.parts}
    inside_parts = {chapter.path for chapter in outline.chapters}
    for section in outline.sections:
        if section.path in parts:
            yield section, 1
        elif section.path in inside_parts:
            yield section, 1 + any(section.path[:n] in parts for n in range(1, len(section.path)))


def _find(title: str, text: str) -> tuple[int, int]:
    """Return where a title's words stand in a page's text; (0, 0) where they do not."""
    words = re.findall(r"\w+", title)
    if not words:
        return 0, 0
    match = re.search(r"\W+".join(map(re.escape, words)), text, re.IGNORECASE)
    return match.span() if match else (0, 0)


def _passages(catalog: Catalog, books: Iterable[Book], where: SearchFilter) -> Iterator[Passage]:
    sections = None if where.sections is None else set(where.sections)
    for book in books:
        for passage in catalog.passages(book.id):
            if sections is not None and passage.section not in sections:
                continue
            if where.pages and not where.pages[0] <= passage.page <= where.pages[1]:
                continue
            yield passage


def _captions(pattern: re.Pattern[str], passage: Passage) -> Iterator[tuple[int, int]]:
    """Yield the spans of captions: from "Figure 3" to the end of its sentence or block."""
    for match in pattern.finditer(passage.text):
        rest = passage.text[match.start() : match.start() + _CAPTION_CHARACTERS]
        spans = sentences.spans(rest)
        # "Fig. 3." is no sentence of its own.
        ends = [end for start, end in spans if end > len(match.group()) + 2]
        yield match.start(), match.start() + (ends[0] if ends else len(rest.rstrip()))


def _definitions(passage: Passage) -> Iterator[tuple[int, int]]:
    if section_kind.is_glossary(passage.section):
        title = own_title(passage.section)
        for start, end in sentences.spans(passage.text):
            if passage.text[start:end].strip() != title:
                yield start, end
        return
    for start, end in sentences.spans(passage.text):
        if section_kind.DEFINITION.search(passage.text[start:end]):
            yield start, end


_SPANS = {
    "figures": lambda passage: _captions(section_kind.FIGURE, passage),
    "tables": lambda passage: _captions(section_kind.TABLE, passage),
    "definitions": _definitions,
}
