"""Questions about the book itself, answered from its structure and not by likeness.

What a question says of where to look ("in chapter 4", "on page 57", "the figures about …")
becomes a `Where`, by rules over the question and the book's own outline. Nothing of the question's
text gets into a filter: chapters are looked up, pages become numbers. An ordinary question that
merely contains such a word is left whole.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from desktop.core.library.search_filter import EVERYWHERE, SearchFilter
from desktop.core.records import Limit
from desktop.core.retrieval import query_patterns as patterns
from desktop.core.retrieval import table_of_contents
from desktop.core.retrieval.plan import BOOK, MARKS, PAGES, SECTION, Plan
from desktop.core.text import normalisation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.records import Book
    from desktop.core.retrieval.table_of_contents import Outline, Section

MOST_NAMED = 3
"""Of more sections a limit names the first and the last."""
SHORTEST_ALIKE = 5
"""Letters with which words of two languages begin alike."""


LONGEST = 2000
"""Characters of a question in which a place is looked for; a longer one is a pasted text."""


def plan(
    question: str,
    catalog: Catalog,
    books: Sequence[Book],
    *,
    where: SearchFilter = EVERYWHERE,
    without: Sequence[str] = (),
) -> Plan:
    """Return what a question says of where to look.

    A chapter or page that the book does not have gives no limit.

    Args:
        question: What the user asked.
        catalog: Where the outlines are.
        books: The books that are asked.
        where: What the user chose; the question's limits narrow it.
        without: Keys of limits that are not to be taken from the question.
    """
    if len(question) > LONGEST:
        return Plan(question, where)
    state = _Parser(question, catalog, list(books), where, frozenset(without))
    state.take_book()
    state.take_sections()
    state.take_pages()
    return state.plan()


class _Parser:
    """A question from which limits are taken one by one."""

    def __init__(
        self,
        question: str,
        catalog: Catalog,
        books: list[Book],
        where: SearchFilter,
        without: frozenset[str],
    ) -> None:
        self.rest = _with_whole_numbers(question.strip())
        self._question = question
        self._catalog = catalog
        self._books = books
        self.where = where
        self._without = without
        self._titles: list[str] = []
        self.limits: list[Limit] = []

    def take_book(self) -> None:
        """Keep to the one of the books that is named."""
        named = self._named_book()
        if named is None:
            return
        match, book = named
        self.rest = _cut(self.rest, match)
        if len(self._books) > 1 and BOOK not in self._without:
            self._books = [book]
            self.where = replace(self.where, books=(book.id,))
            self.limits.append(Limit(BOOK, book.title))

    def _named_book(self) -> tuple[re.Match[str], Book] | None:
        titled = [(m, book) for book in self._books if (m := _title_mention(self.rest, book.title))]
        if len(titled) == 1:
            return titled[0]
        for match in _book_mentions(self.rest):
            named = _named(match["after"] or match["before"], self._books)
            if len(named) == 1:
                return match, named[0]
        return None

    def take_sections(self) -> None:
        """Keep to the chapters or sections that are named by number."""
        matches = _section_mentions(self.rest)
        if SECTION in self._without or len(self._books) != 1 or not matches:
            return
        outline = table_of_contents.outline(self._catalog, self._books[0].id)
        named: list[Section] = []
        rest = self.rest
        for match in reversed(matches):
            kind = table_of_contents.kind_of(match["kind"])
            found = [outline.numbered(number, kind) for number in _numbers_in(match)]
            if any(found):
                named = [section for section in found if section] + named
                rest = _cut(rest, match)
        if self._keep(outline, named):
            self.rest = rest

    def keep_section(self, number: str) -> None:
        """Keep to the section that has a number, if there is one book, and it has it."""
        if SECTION in self._without or len(self._books) != 1:
            return
        outline = table_of_contents.outline(self._catalog, self._books[0].id)
        section = outline.numbered(number, "section" if "." in number else "")
        self._keep(outline, [section] if section else [])

    def _keep(self, outline: Outline, named: Sequence[Section]) -> bool:
        """Keep to some sections; return whether any text of them is in what the user chose."""
        # "Section 1.1 in chapter 1" is the section.
        within = {section.path[:depth] for section in named for depth in range(len(section.path))}
        kept = list({s.path: s for s in named if s.path not in within}.values())
        paths = dict.fromkeys(path for section in kept for path in outline.within(section))
        chosen = self.where.sections
        both = tuple(path for path in paths if chosen is None or path in chosen)
        if not both:
            return False
        self.where = replace(self.where, books=(self._books[0].id,), sections=both)
        self._titles = [section.rest or section.title for section in kept]
        labels = [outline.label(section) for section in kept]
        between = ", " if len(labels) <= MOST_NAMED else " \u2026 "
        shown = labels if len(labels) <= MOST_NAMED else [labels[0], labels[-1]]
        self.limits.append(Limit(SECTION, between.join(shown)))
        return True

    def take_pages(self) -> None:
        """Keep to the pages that are named."""
        match = _pages_mention(self.rest)
        if match is not None and self.keep_pages(int(match["first"]), int(match["last"] or 0)):
            self.rest = _cut(self.rest, match)

    def keep_pages(self, first: int, last: int) -> bool:
        """Keep to some pages; return whether a book has them."""
        last = last or first
        if PAGES in self._without:
            return False
        if not 1 <= first <= last <= max((book.pages for book in self._books), default=0):
            return False
        chosen = self.where.pages or (first, last)
        if chosen[0] > last or chosen[1] < first:
            return False
        self.where = replace(self.where, pages=(max(first, chosen[0]), min(last, chosen[1])))
        label = f"page {first}" if first == last else f"pages {first}\u2013{last}"
        self.limits.append(Limit(PAGES, label))
        return True

    def keep_marks(self, listing: str) -> bool:
        """Keep to the passages that a list is made of; return whether there is such a list."""
        if listing not in patterns.MARK_OF:
            return listing == "contents"
        if MARKS in self._without:
            return False
        self.where = replace(self.where, marks=(*self.where.marks, patterns.MARK_OF[listing]))
        self.limits.append(Limit(MARKS, listing))
        return True

    def plan(self) -> Plan:
        """Return what came of it."""
        listing, subject = _list_asked(self.rest)
        if listing and MARKS not in self._without:
            self.keep_marks(listing)
            return Plan(subject, self.where, tuple(self.limits), listing)
        if not self.limits:
            return Plan(self._question, self.where)
        if not _says_nothing_more(self.rest):
            return Plan(_trimmed(self.rest), self.where, tuple(self.limits))
        if self._titles and _asks_contents(self.rest):
            return Plan("", self.where, tuple(self.limits), "contents")
        # The start of several chapters is the start of the first; their subjects find all.
        query = ", ".join(self._titles) if len(self._titles) > 1 else ""
        return Plan(query, self.where, tuple(self.limits))


def _named(name: str, books: Sequence[Book]) -> list[Book]:
    """Return the books that have all words of a name in the title, else nearly all of them.

    Words of two languages are near: "\u00e9conomie" and "economics".
    """
    words = set(normalisation.content_words(name))
    titles = [(book, set(normalisation.content_words(book.title))) for book in books]
    exact = [book for book, title in titles if words and words <= title]
    return exact or [
        book
        for book, title in titles
        if words and all(any(_near(word, other) for other in title) for word in words)
    ]


def _near(word: str, other: str) -> bool:
    """Whether two words begin alike and differ only in their last letters."""
    alike = max(SHORTEST_ALIKE, len(word) - 3, len(other) - 3)
    return word == other or word[:alike] == other[:alike]


def suspects(question: str) -> bool:
    """Whether a question speaks of chapters, pages or figures, which `plan` may have missed."""
    return bool(patterns.SUSPECT.search(question)) and not patterns.ASKS_FOR_A_PLACE.search(
        question
    )


def from_model(
    reply: str,
    question: str,
    catalog: Catalog,
    books: Sequence[Book],
    *,
    where: SearchFilter = EVERYWHERE,
    without: Sequence[str] = (),
) -> Plan:
    """Return the plan that a model's reply in `query_patterns.GRAMMAR` gives, each value checked.

    The chapter must be in the outline and the pages in the book, and the question must have their
    numbers; "about" only ever becomes words to search for. What is malformed, or says nothing,
    gives the plan of the rules.
    """
    rules = plan(question, catalog, books, where=where, without=without)
    try:
        row: dict[str, Any] = json.loads(reply)
        listing, number = str(row["list"]), str(row["chapter"])
        first, last = int(row["first_page"]), int(row["last_page"])
        about = " ".join(str(row["about"]).split())
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return rules
    state = _Parser(question, catalog, list(books), where, frozenset(without))
    said = _numbers_said(question)
    if table_of_contents.parse_number(number) in said:
        state.keep_section(number)
    if {(first,), (last or first,)} <= said:
        state.keep_pages(first, last)
    if not state.keep_marks(listing):
        listing = ""
    # The question's own words find better than the model's, unless a list is narrowed by them.
    query = about if listing else question
    found = bool(state.limits or listing)
    return Plan(query, state.where, tuple(state.limits), listing) if found else rules


def _section_mentions(text: str) -> list[re.Match[str]]:
    """Return where a text names chapters or sections of the book by number, in order.

    A match has "kind", and "number" with "more" for `_numbers_in`.
    """
    found: list[re.Match[str]] = []
    for match in sorted(
        (*patterns.SECTION.finditer(text), *patterns.ORDINAL.finditer(text)),
        key=lambda match: match.start(),
    ):
        if _is_own(match) and (not found or match.start() >= found[-1].end()):
            found.append(match)
    return found


def _numbers_in(match: re.Match[str]) -> list[str]:
    """Return the numbers in a match of `_section_mentions`; "2 to 4" are three."""
    text = match["number"] + (match["more"] or "")
    named = [found.group() for found in patterns.NUMBERS.finditer(text)]
    parsed = [table_of_contents.parse_number(name) for name in named]
    between = text.removeprefix(named[0]).removesuffix(named[-1]) if len(named) == 2 else ""
    if not patterns.RANGE.fullmatch(between) or not all(parsed) or parsed[0][:-1] != parsed[1][:-1]:
        return named
    above, first, last = parsed[0][:-1], int(parsed[0][-1]), int(parsed[1][-1])
    values = range(first, min(last, first + patterns.LONGEST_RANGE) + 1)
    return [".".join(map(str, (*above, value))) for value in values] or named


def _pages_mention(text: str) -> re.Match[str] | None:
    """Return where a text names pages of the book: "first", and "last" where it is a range."""
    return next(filter(_is_own, patterns.PAGES.finditer(text)), None)


def _with_whole_numbers(text: str) -> str:
    """Return a text in which "section 2 of chapter 3" is "section 3.2"."""
    return patterns.NESTED.sub(
        lambda m: f"section {m['in'] or m['chapter']}.{m['section'] or m['below']}", text
    )


def _numbers_said(text: str) -> set[table_of_contents.Number]:
    """Return the numbers in a text, in digits, Roman numerals or words.

    Those of places that are in something else than the book do not count.
    """
    for pattern in (patterns.SECTION, patterns.ORDINAL, patterns.PAGES):
        text = pattern.sub(lambda match: match.group() if _is_own(match) else "", text)
    return {table_of_contents.parse_number(name) for name in patterns.SAID.findall(text)} - {()}


def _is_own(match: re.Match[str]) -> bool:
    """Whether a place is in the book, not in an act or a treaty."""
    before = match.string[: match.start()]
    return not (
        patterns.OF_ANOTHER.match(match.string, match.end()) or patterns.OF_A_LAW.search(before)
    )


def _book_mentions(text: str) -> Iterator[re.Match[str]]:
    """Yield where a text may name a book: in "after", or in "before"."""
    start = 0
    while match := patterns.OF_BOOK.search(text, start):
        yield match
        start = match.start() + 1


def _title_mention(text: str, book: str) -> re.Match[str] | None:
    """Return where a text names a book by its title, or by a part of it at a colon.

    The edition at the end of a title may be left out; a title of one word is too little.
    """
    for part in book.split(":"):
        words = re.findall(r"\w+", patterns.ARTICLE.sub("", part))
        edition = rf"(?:\W+{words.pop()}\b)?" if words and words[-1][0].isdigit() else ""
        named = r"\W+".join(words)
        pattern = rf"\b(?:{patterns.FROM}|of|du|de)\s+(?:an?\s+)?{patterns.THE}?{named}\b{edition}"
        match = re.search(pattern, text, re.IGNORECASE) if len(words) > 1 else None
        if match:
            return match
    return None


def without_book(question: str) -> str:
    """Return a question without the words that only say which book is meant."""
    return patterns.IN_BOOK.sub("", question)


def _list_asked(text: str) -> tuple[str, str]:
    """Return which list a text asks for, "" where none, and of what, "" where all of it."""
    for name, pattern in patterns.LISTINGS:
        match = pattern.match(text)
        # The sections on a subject are found by likeness.
        if match and not (match["subject"] and name == "contents"):
            return name, _trimmed(match["of"] or "").rstrip(" .?!")
    return "", ""


def _says_nothing_more(text: str) -> bool:
    """Whether a question from which its places were cut says nothing more to search for."""
    return bool(patterns.NOTHING_LEFT.fullmatch(text))


def _asks_contents(text: str) -> bool:
    """Whether a question from which its places were cut asks what stands there."""
    return bool(patterns.CONTENTS_OF.fullmatch(text))


def _cut(text: str, match: re.Match[str]) -> str:
    """Return a text without a match and the punctuation around it."""
    before, after = text[: match.start()].rstrip(" ,:;"), text[match.end() :].lstrip(" ,:;")
    return f"{before} {after}".strip()


def _trimmed(text: str) -> str:
    """Return a text without what dangles at its ends after a place was cut out."""
    return patterns.TRAILING.sub("", patterns.LEADING.sub("", text)).strip()
