"""How questions name parts of a book, its pages and its lists: rules over their words alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from desktop.core.retrieval import table_of_contents

if TYPE_CHECKING:
    from collections.abc import Iterator

_THE = r"(?:(?:the|this|my|our|your|whole|entire|ce|cet|cette|le|la|les)\s+|l['\u2019])"
_BOOKS = (
    r"(?:book|textbook|text|document|paper|pdf|manual|course|livre|manuel|texte|ouvrage|cours)s?"
)
_OWN = (
    rf"(?:\s+(?:(?:of|in|from|de|dans|\u00e0)\s+{_THE}+|(?:du|au|des)\s+){_BOOKS}\b"
    r"(?!['\u2019]s\b)|\s+(?:of|in|de)\s+(?:this|ce|cette)\s+(?:chapter|section|chapitre)\b)?"
)
"""Follows a place: "of the book"."""
_IN = (
    r"\b(?:in|from|of|within|throughout|inside|between|does|do|dans|du|des|de|aux?|en|entre)\s+"
    rf"{_THE}?"
)
_WORD = rf"(?:{table_of_contents.NUMBER_WORDS})\b"
_NUMBER = rf"(?:(?-i:\d{{1,3}}(?:\.\d{{1,3}})*|[IVXL]{{1,7}}\b|[A-Z]\b)|{_WORD})"
_AND = r"(?:\s*,?\s+(?:and|et|or|ou|to|through|\u00e0)\s+|\s*[&\u2013\u2014-]\s*)"
_SECTION = re.compile(
    rf"(?:{_IN}|\b{_THE})?\b(?P<kind>{table_of_contents.KIND_WORDS})(?P<several>s|(?<=appendices))?\.?"
    r"\s+(?:number\s+|n[o°]\s*)?"
    rf"(?P<number>{_NUMBER}|(?<=appendix )[b-z]\b|(?<=annexe )[b-z]\b)"
    rf"(?P<more>(?(several)(?:(?:\s*,\s*{_NUMBER})*{_AND}{_NUMBER})?"
    rf"|(?:\s+(?:and|et|to|\u00e0)\s+\d{{1,3}}(?:\.\d{{1,3}})*)?))(?![\w.-]*\d)\b{_OWN}",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    rf"(?:{_IN}|\b(?:comparer?|and|et|with|avec)\s+{_THE}?)(?P<number>{_WORD})"
    rf"(?P<more>\s+(?:and|et)\s+{_THE}?{_WORD})?\s+(?P<kind>{table_of_contents.KIND_WORDS})(?(more)s?)\b{_OWN}",
    re.IGNORECASE,
)
_NESTED = re.compile(
    r"\bsection\s+(?P<section>\d+)\s+(?:of|in|du|dans le)\s+(?:chapter|chapitre)\s+"
    r"(?P<in>\d+)\b(?!\.\d)"
    r"|\b(?:chapter|chapitre)\s+(?P<chapter>\d+),?\s+section\s+(?P<below>\d+)\b(?!\.\d)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(rf"\b(?:{_NUMBER}|[b-z]\b)", re.IGNORECASE)
_SAID = re.compile(
    rf"\d{{1,5}}(?:\.\d{{1,3}})*|\b(?:(?!I\b)[IVXL]+\b|(?i:(?<=chapter )[ivxl]+\b|{_WORD}))"
)
"""The pronoun "I" is no number."""
_RANGE = re.compile(r"\s*(?:to|through|\u00e0|[\u2013\u2014-])\s*", re.IGNORECASE)
_LONGEST_RANGE = 100
_DASH = r"\s*(?:-|\u2013|\u2014|to|and|through|\u00e0|et)\s*"
_PAGES = re.compile(
    r"(?:\b(?:on|from|at|in|of|does|between|sur|\u00e0|aux?|des?|dans|entre)\s+"
    rf"{_THE}?(?:pages?|pp?\.)|\b(?:pages?|pp\.))\s*"
    rf"(?P<first>\d{{1,5}})(?:{_DASH}{_THE}?(?:page\s+)?(?P<last>\d{{1,5}}))?\b(?!\s*%){_OWN}",
    re.IGNORECASE,
)
_PLACE = rf"(?:{table_of_contents.KIND_WORDS}|page)s?\b"
_OF_ANOTHER = re.compile(
    rf"\s+(?:(?:of|de|du|des)\s++|d['\u2019])"
    rf"(?!{_THE}*(?:same\s+)?(?:{_WORD}\s+)?(?:{_PLACE}|\d|it\b))"
    r"|\s+(?:bankruptc|filing|petition|debtor|creditor|protection|proceeding|reorgani[sz]|"
    r"liquidation|case|housing|voucher|tariff|immunity|claim|investigation|violation)",
    re.IGNORECASE,
)
"""Follows a place in something else: "section 2 of the Sherman Act", "Chapter 11 bankruptcy"."""
_OF_A_LAW = re.compile(r"\b(?:under|fil(?:e|es|ed|ing)(?:\s+for)?|declare[sd]?)\s*$", re.IGNORECASE)

_BOOK_PHRASE = (
    r"(?:{start})(?:the\s+|le\s+|la\s+)?"
    r"(?:(?:book|livre)\s+(?P<after>[^,:;?]{{2,60}}?)"
    r"|(?P<before>(?:(?!\b(?:in|from|dans|selon)\b)[^,:;?]){{2,60}}?)\s+"
    r"(?:book|textbook|livre|paper|article))(?:\s+(?:only|seulement|uniquement))?"
    r"(?=\s*[,.:;?]|\s*$"
    r"|\s+(?:what|how|why|who|when|where|which|about|says?|explains?|covers?|sur)\b)"
)
_FROM = r"in|from|according to|dans|selon|d.apr\u00e8s"
_IN_BOOK = re.compile(_BOOK_PHRASE.format(start=rf"\b(?:{_FROM})\s+"), re.IGNORECASE)
_OF_BOOK = re.compile(
    _BOOK_PHRASE.format(start=rf"^\W*(?=(?:book|livre)\b)|\b(?:{_FROM}|of|du|de|does|dit)\s+"),
    re.IGNORECASE,
)
_ARTICLE = re.compile(rf"^\W*(?:an?\s+|{_THE})", re.IGNORECASE)

_LISTS = {
    "contents": r"(?:(?:main|different|all)\s+)*(?:chapters|sections|topics|contents"
    r"|table of contents|chapitres|table des mati\u00e8res|sommaire)",
    "figures": r"(?:figures|illustrations|diagrams)",
    "tables": r"(?:tables|tableaux)",
    "definitions": r"(?:definitions|defined terms|d\u00e9finitions)",
}
_ALL = r"(?:(?:all|of|the|toute?s?|tous|les|la|des)\s+)*"
_ORDER = (
    r"^\W*(?:(?:please|can|could|you)\s+)*(?:(?:list|show|give|name|find|montre[rz]?|donne[rz]?"
    rf"|liste[rz]?|cite[rz]?)(?:\s+(?:me|us)|-moi)?\s+)?"
    rf"(?:(?:(?:a|the|la)\s+)?liste?\s+(?:of|des)\s+)?{_ALL}"
)
_QUESTION = (
    r"^\W*(?:what['\u2019]s|(?:what|which|quel(?:le)?s?)(?:\s+(?:are|is|sont|est))?|how\s+many"
    rf"|combien)\s+(?:de\s+)?{_ALL}"
)
_WHOLE = (
    rf"(?:(?:of|in|from|for|de|dans)\s+)?{_THE}+{_BOOKS}|(?:du|au)\s+{_BOOKS}|"
    r"(?:does|has)\s+it(?:\s+have)?|y\s+a[-\s]t[-\s]il|are|is|there|does|do|has|have|contains?|"
    r"covers?|covered|discussed|contained|in|for\s+me|sont|contient|compte|a|il|please"
)
"""Words after the name of a list that ask for all of it."""
_ABOUT = "about|showing|that show|related to|concerning|concernant|li\u00e9e?s \u00e0"
_LISTINGS = [
    (
        name,
        re.compile(
            rf"{start}(?:{words})\b(?:\W*\b(?:{_WHOLE})\b)*\W*"
            rf"(?:$|(?P<subject>(?:{about})\s+{_THE}?(?P<of>.*)$))",
            re.IGNORECASE | re.DOTALL,
        ),
    )
    for name, words in _LISTS.items()
    # "What are the figures on unemployment" asks for numbers.
    for start, about in ((_ORDER, f"{_ABOUT}|on|sur"), (_QUESTION, _ABOUT))
]
_NOTHING_LEFT = re.compile(
    r"\W*(?:(?:what|what['\u2019]s|how|is|are|does|do|in|it|about|covered|says?|contains?|"
    r"discuss|covers?|treats?|summari[sz]e|summary|overview|give|tell|me|us|a|an|short|brief|the|of|"
    r"explain|please|can|could|you|compare|contrast|differs?|differences?|different|similarit(?:y|ies)|between|"
    r"from|with|to|and|qu['\u2019]y|a[-\s]t[-\s]il|de|quoi|parle(?:nt)?|traite(?:nt)?|"
    r"r\u00e9sume[rz]?|r\u00e9sum\u00e9|que|contien(?:nen)?t|di(?:t|sent)|le|la|les|un|et|entre|compare[rz]?|"
    r"quelles?|sont|est|diff\u00e9rences?|diff\u00e8re(?:nt)?)\b\W*)*",
    re.IGNORECASE,
)
_CONTENTS_OF = re.compile(
    r"\W*(?:what(?:['\u2019]s|\s+is|\s+are)(?:\s+(?:in|covered))*|what\s+contains?|"
    r"que\s+contien(?:nen)?t|qu['\u2019]y\s+a[-\s]t[-\s]il)(?:\s+(?:le|la|les))?\W*",
    re.IGNORECASE,
)
_POLITE = r"please|s['\u2019]il (?:te|vous) pla\u00eet|svp"
_LEADING = re.compile(
    rf"^(?:[\s,;:]|(?:{_POLITE}|and|et)\b"
    r"|(?:in|from|of|on|at|dans|de|du)\b(?=\s*(?:[,;:.?!]|$)))+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    rf"(?:[\s,;:]|(?<![-\w])(?:{_POLITE}|in|from|of|on|at|and|dans|de|du|des|et)\b|{_OWN})+"
    r"(?=[.?!\s]*$)",
    re.IGNORECASE,
)


def sections(text: str) -> list[re.Match[str]]:
    """Return where a text names chapters or sections of the book by number, in order.

    A match has "kind", and "number" with "more" for `numbers`.
    """
    found: list[re.Match[str]] = []
    for match in sorted(
        (*_SECTION.finditer(text), *_ORDINAL.finditer(text)), key=lambda match: match.start()
    ):
        if _is_own(match) and (not found or match.start() >= found[-1].end()):
            found.append(match)
    return found


def numbers(match: re.Match[str]) -> list[str]:
    """Return the numbers in a match of `sections`; "2 to 4" are three."""
    text = match["number"] + (match["more"] or "")
    named = [found.group() for found in _NUMBERS.finditer(text)]
    parsed = [table_of_contents.parse_number(name) for name in named]
    between = text.removeprefix(named[0]).removesuffix(named[-1]) if len(named) == 2 else ""
    if not _RANGE.fullmatch(between) or not all(parsed) or parsed[0][:-1] != parsed[1][:-1]:
        return named
    above, first, last = parsed[0][:-1], int(parsed[0][-1]), int(parsed[1][-1])
    values = range(first, min(last, first + _LONGEST_RANGE) + 1)
    return [".".join(map(str, (*above, value))) for value in values] or named


def pages(text: str) -> re.Match[str] | None:
    """Return where a text names pages of the book: "first", and "last" where it is a range."""
    return next(filter(_is_own, _PAGES.finditer(text)), None)


def whole_numbers(text: str) -> str:
    """Return a text in which "section 2 of chapter 3" is "section 3.2"."""
    return _NESTED.sub(
        lambda m: f"section {m['in'] or m['chapter']}.{m['section'] or m['below']}", text
    )


def said_numbers(text: str) -> set[table_of_contents.Number]:
    """Return the numbers in a text, in digits, Roman numerals or words.

    Those of places that are in something else than the book do not count.
    """
    for pattern in (_SECTION, _ORDINAL, _PAGES):
        text = pattern.sub(lambda match: match.group() if _is_own(match) else "", text)
    return {table_of_contents.parse_number(name) for name in _SAID.findall(text)} - {()}


def _is_own(match: re.Match[str]) -> bool:
    """Whether a place is in the book, not in an act or a treaty."""
    before = match.string[: match.start()]
    return not (_OF_ANOTHER.match(match.string, match.end()) or _OF_A_LAW.search(before))


def books(text: str) -> Iterator[re.Match[str]]:
    """Yield where a text may name a book: in "after", or in "before"."""
    start = 0
    while match := _OF_BOOK.search(text, start):
        yield match
        start = match.start() + 1


def title(text: str, book: str) -> re.Match[str] | None:
    """Return where a text names a book by its title, or by a part of it at a colon.

    The edition at the end of a title may be left out; a title of one word is too little.
    """
    for part in book.split(":"):
        words = re.findall(r"\w+", _ARTICLE.sub("", part))
        edition = rf"(?:\W+{words.pop()}\b)?" if words and words[-1][0].isdigit() else ""
        named = r"\W+".join(words)
        pattern = rf"\b(?:{_FROM}|of|du|de)\s+(?:an?\s+)?{_THE}?{named}\b{edition}"
        match = re.search(pattern, text, re.IGNORECASE) if len(words) > 1 else None
        if match:
            return match
    return None


def without_book(question: str) -> str:
    """Return a question without the words that only say which book is meant."""
    return _IN_BOOK.sub("", question)


def listing(text: str) -> tuple[str, str]:
    """Return which list a text asks for, "" where none, and of what, "" where all of it."""
    for name, pattern in _LISTINGS:
        match = pattern.match(text)
        # The sections on a subject are found by likeness.
        if match and not (match["subject"] and name == "contents"):
            return name, trimmed(match["of"] or "").rstrip(" .?!")
    return "", ""


def nothing_left(text: str) -> bool:
    """Whether a question from which its places were cut says nothing more to search for."""
    return bool(_NOTHING_LEFT.fullmatch(text))


def asks_contents(text: str) -> bool:
    """Whether a question from which its places were cut asks what stands there."""
    return bool(_CONTENTS_OF.fullmatch(text))


def cut(text: str, match: re.Match[str]) -> str:
    """Return a text without a match and the punctuation around it."""
    before, after = text[: match.start()].rstrip(" ,:;"), text[match.end() :].lstrip(" ,:;")
    return f"{before} {after}".strip()


def trimmed(text: str) -> str:
    """Return a text without what dangles at its ends after a place was cut out."""
    return _TRAILING.sub("", _LEADING.sub("", text)).strip()
