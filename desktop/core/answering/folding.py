"""Comparable forms of text: what stays equal when a sentence is quoted a little differently."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SUFFIXES = ("ations", "ation", "ments", "ment", "ingly", "edly", "ings", "ing", "ies", "ed",
             "es", "ly", "s")  # fmt: skip
STOP_WORDS = frozenset(
    "a an the of to in on at by for with from as is are was were be been being do does did can "
    "could would should will may might must have has had it its this that these those they them "
    "their there which who whom whose what when where why how if then than so and or but not no "
    "also such into about over under more most some any all each other he she his her we our you "
    "your i me my one "
    "le la les l un une des de du d au aux et ou est sont que qui quoi dans par pour avec sur ce "
    "cette ces il elle ils elles on ne pas se s en y".split()
)
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|neither|nor|nobody|nothing|without|cannot|ne|jamais|aucune?|sans)\b"
    r"|n['’]t\b|\bn['’]"
)
_SHORTEST_STEM = 4


def plain(text: str) -> str:
    """Return a text in lower case without accents and with plain digits and dashes."""
    decomposed = unicodedata.normalize("NFKD", text.replace("\u00ad", ""))
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _THOUSANDS.sub("", bare.casefold())


def words(text: str) -> list[str]:
    """Return the words of a text in comparable form, numbers as they are."""
    return [_stem(word) for word in _WORD.findall(plain(text))]


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning."""
    return [_stem(word) for word in _WORD.findall(plain(text)) if word not in STOP_WORDS]


def numbers(text: str) -> set[str]:
    """Return the numbers in a text, without a trailing ".0"."""
    found = re.findall(r"\d+(?:\.\d+)?", plain(text))
    return {n.rstrip("0").rstrip(".") if "." in n else n.lstrip("0") or "0" for n in found}


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    return bool(_DENIAL.search(plain(text)))


def _stem(word: str) -> str:
    """Cut common endings off: enough to match "shortages" with "shortage"."""
    if word[0].isdigit():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word[: -len(suffix)].rstrip("e")
    return word.rstrip("e") if len(word) > _SHORTEST_STEM else word
