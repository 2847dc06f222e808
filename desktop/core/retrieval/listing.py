"""The lists that a book's structure gives: its contents, figures, tables and definitions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.documents import matter
from desktop.core.documents.outline import SEPARATOR, own_title
from desktop.core.retrieval import scope
from desktop.core.text import folding, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.library.where import Where
    from desktop.core.records import Book, Passage
    from desktop.core.retrieval.scope import Outline, Section
    from desktop.core.retrieval.structure import Plan

MOST = 200
"""Longest list."""
_CAPTION_CHARACTERS = 300


@dataclass(frozen=True)
class Entry:
    """An entry of a list.

    Attributes:
        text: As it stands in the book.
        start: Offset in the page's text; equal to `end` where it was not found there.
        end: Offset after its last character.
        level: Depth in the list, from 1.
    """

    text: str
    book: str
    page: int
    page_label: str
    start: int
    end: int
    section: str
    level: int = 1


def entries(catalog: Catalog, plan: Plan, books: Sequence[Book]) -> list[Entry]:
    """Return the entries of the list that a plan asks for, in reading order."""
    chosen = [book for book in books if plan.where.books is None or book.id in plan.where.books]
    if plan.listing == "contents":
        found = (entry for book in chosen for entry in _contents(catalog, book, plan.where))
        return list(found)[:MOST]
    spans = _SPANS[plan.listing]
    wanted = set(folding.content_words(plan.query))
    result = []
    for passage in _passages(catalog, chosen, plan.where):
        for start, end in spans(passage):
            text = passage.text[start:end]
            if not wanted or wanted & set(folding.content_words(text)):
                place = (passage.start + start, passage.start + end)
                result.append(
                    Entry(
                        text,
                        passage.book,
                        passage.page,
                        passage.page_label,
                        *place,
                        passage.section,
                    )
                )
    return result[:MOST]


def _contents(catalog: Catalog, book: Book, where: Where) -> Iterator[Entry]:
    outline = scope.outline(catalog, book.id)
    for section, level in _shown(outline, where):
        page = catalog.page(book.id, section.first)
        start, end = _find(section.title, page.text) if page else (0, 0)
        path = SEPARATOR.join(section.path)
        label = page.label if page else str(section.first)
        yield Entry(section.title, book.id, section.first, label, start, end, path, level)


def _shown(outline: Outline, where: Where) -> Iterator[tuple[Section, int]]:
    """Yield the chapters, below their parts; or a chapter with the sections in it."""
    if where.sections is not None:
        paths = [tuple(path.split(SEPARATOR)) for path in where.sections]
        top = min((len(path) for path in paths), default=0)
        inside = [s for s in outline.sections if s.path in paths]
        depth = min((len(s.path) for s in inside), default=top)
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


def _passages(catalog: Catalog, books: Iterable[Book], where: Where) -> Iterator[Passage]:
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
    if matter.is_glossary(passage.section):
        title = own_title(passage.section)
        for start, end in sentences.spans(passage.text):
            if passage.text[start:end].strip() != title:
                yield start, end
        return
    for start, end in sentences.spans(passage.text):
        if matter.DEFINITION.search(passage.text[start:end]):
            yield start, end


_SPANS = {
    "figures": lambda passage: _captions(matter.FIGURE, passage),
    "tables": lambda passage: _captions(matter.TABLE, passage),
    "definitions": _definitions,
}
