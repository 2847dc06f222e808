"""Questions about the book itself, answered from its structure and not by likeness.

What a question says of where to look ("in chapter 4", "on page 57", "the figures about …")
becomes a `Where`, by rules over the question and the book's own outline. Nothing of the question's
text gets into a filter: chapters are looked up, pages become numbers. An ordinary question that
merely contains such a word is left whole.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from desktop.core.library.where import EVERYWHERE, Where
from desktop.core.records import Limit
from desktop.core.retrieval import scope
from desktop.core.text import folding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.records import Book

KEYS = BOOK, SECTION, PAGES, MARKS = "book", "section", "pages", "marks"
"""Of the limits that a question may have."""
_NUMBER = rf"\d{{1,3}}(?:\.\d{{1,3}})*|[IVXL]{{1,7}}|[A-Z]\b|{scope.NUMBER_WORDS}"
_IN = (
    r"\b(?:in|from|of|within|throughout|inside|does|dans|du|de la|au|en)\s+(?:the\s+|le\s+|la\s+)?"
)
_SECTION = re.compile(
    rf"(?:{_IN})?\b(?P<kind>{scope.KIND_WORDS})\s+(?:number\s+|n[o°]\s*)?"
    rf"(?P<number>(?-i:{_NUMBER}))(?![\w.-]*\d)\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    rf"{_IN}(?P<number>{scope.NUMBER_WORDS})\s+(?P<kind>{scope.KIND_WORDS})\b", re.IGNORECASE
)
_DASH = r"\s*(?:-|\u2013|\u2014|to|and|through|\u00e0|et)\s*"
_PAGES = re.compile(
    rf"\b(?:on|from|at|in|of|does|sur|\u00e0|aux?|de)\s+(?:the\s+|la\s+|les\s+)?"
    rf"(?:pages?|pp?\.)\s*(?P<first>\d{{1,5}})(?:{_DASH}(?:page\s+)?(?P<last>\d{{1,5}}))?\b(?!\s*%)",
    re.IGNORECASE,
)
_BOOK_PHRASE = re.compile(
    r"\b(?:in|from|according to|dans|selon|d.apr\u00e8s)\s+(?:the\s+|le\s+|la\s+)?"
    r"(?:(?:book|livre)\s+(?P<after>[^,:;?]{2,60}?)|(?P<before>[^,:;?]{2,60}?)\s+"
    r"(?:book|textbook|livre|paper|article))(?:\s+(?:only|seulement|uniquement))?"
    r"(?=\s*[,:;?]|\s*$|\s+(?:what|how|why|who|when|where|which)\b)",
    re.IGNORECASE,
)
_LISTS = {
    "contents": r"(?:(?:main|different|all)\s+)*(?:chapters|sections|topics|contents"
    r"|table of contents|chapitres|sections|table des mati\u00e8res)",
    "figures": r"(?:all\s+)?(?:the\s+)?(?:figures|illustrations|diagrams)",
    "tables": r"(?:all\s+)?(?:the\s+)?(?:tables|tableaux)",
    "definitions": r"(?:all\s+)?(?:the\s+)?(?:definitions|defined terms|d\u00e9finitions)",
}
_ASKS = (
    r"^\W*(?:(?:please\s+)?(?:list|show|give|name|find)(?:\s+(?:me|us))?"
    r"|what\s+are|which\s+are|what\s+is|what['\u2019]s|montre(?:-moi)?|donne(?:-moi)?|liste[rz]?"
    r"|quels\s+sont|quelles\s+sont|quelle\s+est|cite[rz]?)\s+"
    r"(?:all\s+|the\s+|toute?s?\s+|les\s+|la\s+)*"
)
_BARE = r"^\W*(?:all\s+(?:of\s+)?|the\s+|toute?s?\s+|les\s+)+"
_REST = (
    r"(?P<rest>\s*(?:\W*$|(?:about|on|of|for|showing|that show|related to|concerning|in|from|"
    r"contained|are there|there are|sur|de|du|des|dans|qui|concernant|li\u00e9e?s)\b.*))$"
)
_LISTINGS = [
    (name, re.compile(f"(?:{start})(?:{words})\\b{_REST}", re.IGNORECASE | re.DOTALL))
    for name, words in _LISTS.items()
    for start in (_ASKS, _BARE)
]
_SUBJECT = re.compile(
    r"^\W*(?:about|on|of|for|showing|that show|related to|concerning|sur|de|du|des|concernant|"
    r"li\u00e9e?s \u00e0)\s+(?:the\s+|this\s+|le\s+|la\s+|les\s+|l['\u2019])?",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"^\W*(?:(?:the\s+|this\s+|my\s+|whole\s+|entire\s+|ce\s+|le\s+)*"
    r"(?:book|text|textbook|document|paper|pdf|livre|texte)s?)?\W*(?:are there|there are)?\W*$",
    re.IGNORECASE,
)
_WHAT_IS_IN = re.compile(
    r"^\W*(?:what(?:['\u2019]s|\s+is|\s+does)?|summari[sz]e|qu['\u2019]y\s+a[-\s]t[-\s]il|"
    r"de\s+quoi\s+parle|r\u00e9sume[rz]?|que\s+contient)?\s*"
    r"(?:(?:it\s+)?(?:in|about|covered|say|says|contain|contains|discuss|cover|treat|le|la|me)\b\s*)*\W*$",
    re.IGNORECASE,
)
_CONTENTS_OF = re.compile(
    r"^\W*(?:what(?:['\u2019]s|\s+is)|que\s+contient|qu['\u2019]y)", re.IGNORECASE
)
_PLACE_WORD = r"(?:chapters?|sections?|pages?|p\.|appendix|chapitres?|annexes?|kapitel|seiten?)"
_PLACED = rf"(?:\d+|{scope.NUMBER_WORDS}|last|next|previous|final|beginning|end|dernier|dernière)"
_SUSPECT = re.compile(
    rf"\b{_PLACE_WORD}\b.{{0,24}}\b{_PLACED}\b|\b{_PLACED}\b.{{0,12}}\b{_PLACE_WORD}\b|"
    r"^\W*(?:list|show|give|find|name|enumerate|collect|gather|donne[rz]?|montre[rz]?|liste[rz]?)\b"
    r".*\b(?:figures|tables|diagrams|drawings|pictures|definitions|tableaux|d\u00e9finitions)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\b(?:which|what|quel(?:le)?s?|welche[srn]?)\s+(?:chapters?|sections?|pages?|chapitres?)\b",
    re.IGNORECASE,
)
"""Asks for a place; that is found by likeness."""
_MARK_OF = {"figures": "figure", "tables": "table", "definitions": "definition"}
_FIELDS = (
    r'"{\"list\": \"" list "\", \"chapter\": \"" chapter "\", \"first_page\": " page',
    r'", \"last_page\": " page ", \"about\": \"" about "\"}"',
)
GRAMMAR = "\n".join(
    (
        "root ::= " + " ".join(_FIELDS),
        'list ::= "none" | "contents" | "figures" | "tables" | "definitions"',
        "chapter ::= [0-9.]{0,8}",
        'page ::= "0" | [1-9] [0-9]{0,4}',
        r'about ::= [^"\\\x00-\x1f]{0,80}',
    )
)
"""What a language model may answer when it is asked what a question says of where to look, in
llama.cpp's GBNF; 0 is no page."""


@dataclass(frozen=True)
class Plan:
    """What a question says of where to look, and what is left to be searched for.

    Attributes:
        query: The words to search for; "" where the question only says where.
        where: The part of the library.
        limits: What of it came from the question.
        listing: "contents", "figures", "tables" or "definitions" where a list is asked for,
            which needs no model; else "".
    """

    query: str
    where: Where = EVERYWHERE
    limits: tuple[Limit, ...] = ()
    listing: str = ""


def plan(
    question: str,
    catalog: Catalog,
    books: Sequence[Book],
    *,
    where: Where = EVERYWHERE,
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
    state = _Reading(question, catalog, list(books), where, frozenset(without))
    state.take_book()
    state.take_section()
    state.take_pages()
    return state.plan()


def ordinary(asked: Plan, question: str) -> Plan:
    """Return a plan without its list, which the book does not have: the passages are found."""
    limits = tuple(limit for limit in asked.limits if limit.key != MARKS)
    query = "" if asked.listing == "contents" and limits else question
    return Plan(query, replace(asked.where, marks=()), limits)


def without_book(question: str) -> str:
    """Return a question without the words that only say which book is meant."""
    return _BOOK_PHRASE.sub("", question)


class _Reading:
    """A question from which limits are taken one by one."""

    def __init__(
        self,
        question: str,
        catalog: Catalog,
        books: list[Book],
        where: Where,
        without: frozenset[str],
    ) -> None:
        self.rest = question
        self._question = question
        self._catalog = catalog
        self._books = books
        self.where = where
        self._without = without
        self.limits: list[Limit] = []

    def take_book(self) -> None:
        """Keep to the one of several books that is named."""
        if BOOK in self._without or len(self._books) < 2:
            return
        match = _BOOK_PHRASE.search(self.rest)
        if match is None:
            return
        words = set(folding.content_words(match["after"] or match["before"]))
        named = [b for b in self._books if words and words <= set(folding.content_words(b.title))]
        if len(named) == 1:
            self._books = named
            self.where = replace(self.where, books=(named[0].id,))
            self.limits.append(Limit(BOOK, named[0].title))
            self.rest = _cut(self.rest, match)

    def take_section(self) -> None:
        """Keep to the chapter or section that is named by its number."""
        for match in (*_SECTION.finditer(self.rest), *_ORDINAL.finditer(self.rest)):
            kind = scope.kind_of(match["kind"])
            if self.keep_section(match["number"], kind):
                self.rest = _cut(self.rest, match)
                return

    def keep_section(self, number: str, kind: str) -> bool:
        """Keep to a section by its number; return whether there is one book, and it has it."""
        if SECTION in self._without or len(self._books) != 1:
            return False
        outline = scope.outline(self._catalog, self._books[0].id)
        section = outline.numbered(number, kind)
        if section is None:
            return False
        self.where = replace(
            self.where, books=(self._books[0].id,), sections=outline.within(section)
        )
        self.limits.append(Limit(SECTION, outline.label(section)))
        return True

    def take_pages(self) -> None:
        """Keep to the pages that are named."""
        match = _PAGES.search(self.rest)
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
        if listing not in _MARK_OF:
            return listing == "contents"
        if MARKS in self._without:
            return False
        self.where = replace(self.where, marks=(*self.where.marks, _MARK_OF[listing]))
        self.limits.append(Limit(MARKS, listing))
        return True

    def plan(self) -> Plan:
        """Return what came of it."""
        listing, subject = _listing(self.rest, limited=bool(self.limits))
        if listing == "contents" and subject:
            listing = ""  # "the sections about X" are found by likeness
        if listing and MARKS not in self._without:
            self.keep_marks(listing)
            return Plan(subject, self.where, tuple(self.limits), listing)
        if not self.limits:
            return Plan(self._question, self.where)
        if _WHAT_IS_IN.match(self.rest):
            section = any(limit.key == SECTION for limit in self.limits)
            contents = section and _CONTENTS_OF.match(self.rest)
            return Plan("", self.where, tuple(self.limits), "contents" if contents else "")
        return Plan(self.rest.strip(" ,;:"), self.where, tuple(self.limits))


def _cut(text: str, match: re.Match[str]) -> str:
    """Return a text without a match and the punctuation around it."""
    before, after = text[: match.start()].rstrip(" ,:;"), text[match.end() :].lstrip(" ,:;")
    return f"{before} {after}".strip()


def _listing(text: str, *, limited: bool) -> tuple[str, str]:
    """Return which list is asked for, if any, and of what."""
    for name, pattern in _LISTINGS:
        match = pattern.match(text)
        if match is None:
            continue
        rest = match["rest"].strip(" .?!,:")
        if _WHOLE.match(_SUBJECT.sub("", re.sub(r"^(?:in|from|dans)\s+", "", rest))):
            # "What is a definition" asks for one; a list is asked for in the plural.
            return name, ""
        subject = _SUBJECT.match(f"{rest} ")
        if subject is not None and name != "contents":
            return name, rest[subject.end() :].strip()
        if limited and not rest:
            return name, ""
    return "", ""


def suspects(question: str) -> bool:
    """Whether a question speaks of chapters, pages or figures, which `plan` may have missed."""
    return bool(_SUSPECT.search(question)) and not _WHICH.search(question)


def from_model(
    reply: str,
    question: str,
    catalog: Catalog,
    books: Sequence[Book],
    *,
    where: Where = EVERYWHERE,
    without: Sequence[str] = (),
) -> Plan:
    """Return the plan that a model's reply in `GRAMMAR` gives, each value checked.

    The chapter must be in the outline and the pages in the book; "about" only ever becomes words
    to search for. What is malformed, or says nothing, gives the plan of the rules.
    """
    rules = plan(question, catalog, books, where=where, without=without)
    try:
        row: dict[str, Any] = json.loads(reply)
        listing, number = str(row["list"]), str(row["chapter"])
        first, last = int(row["first_page"]), int(row["last_page"])
        about = " ".join(str(row["about"]).split())
    except (ValueError, TypeError, KeyError):
        return rules
    state = _Reading(question, catalog, list(books), where, frozenset(without))
    if number:
        state.keep_section(number, "section" if "." in number else "")
    if first:
        state.keep_pages(first, last)
    if not state.keep_marks(listing):
        listing = ""
    # The question's own words find better than the model's, unless a list is narrowed by them.
    query = about if listing else question
    said = bool(state.limits or listing)
    return Plan(query, state.where, tuple(state.limits), listing) if said else rules
