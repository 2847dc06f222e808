"""Comparable forms of text: what stays equal when a sentence is quoted a little differently.

And the terms under which full text is indexed and looked up, one rule for both sides (what Lucene
calls an analyzer): words are normalised and stemmed; a hyphenated word counts whole and in its
parts; a run of Chinese or Japanese, which has no spaces, counts by characters and by pairs of them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SUFFIXES = ("ation", "ment", "ingly", "edly", "ing", "ed", "ly")
_SIBILANT_PLURAL = re.compile(r"(?:x|ch|sh|ss|zz)es$")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
STOP_WORDS = frozenset(
    "a an the of to in on at by for with from as is are was were be been being do does did can "
    "could would should will may might must have has had it its this that these those they them "
    "their there which who whom whose what when where why how if then than so and or but not no "
    "also such into about over under more most some any all each other he she his her we our you "
    "your i me my one "
    "le la les l un une des de du d au aux et ou est sont que qui quoi dans par pour avec sur ce "
    "cette ces il elle ils elles on ne pas se s en y".split()
)
_SHORTEST_STEM = 4
_LOOSE_ACCENT = re.compile(
    "(?<=[^\\W\\d_])[`\u00b4\u00a8\u00b8\u02d9\u02d8\u02da\u02c6\u02dc](?=[^\\W\\d_])"
)
"""An accent beside its letter ("Trait\u00b4e"), as some typesetters leave it in a PDF."""

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TERM = re.compile(
    rf"[{_CJK}]+|\d+(?:[.,]\d+)*|[^\W\d_{_CJK}]+(?:[-\u2010\u2011]\s?[^\W\d_{_CJK}]+)*"
)
_HYPHEN = re.compile(r"[-\u2010\u2011]\s?")
_IDEOGRAPHS = re.compile(rf"[{_CJK}]")


def plain(text: str) -> str:
    """Return a text in lower case without accents and with plain digits and dashes."""
    if not text.isascii():
        bare = _LOOSE_ACCENT.sub("", text.replace("\u00ad", ""))
        decomposed = unicodedata.normalize("NFKD", bare)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _THOUSANDS.sub("", text.casefold())


def words(text: str) -> list[str]:
    """Return the words of a text in comparable form, numbers as they are."""
    return [stem(word) for word in _WORD.findall(plain(text))]


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning."""
    return [stem(word) for word in _WORD.findall(plain(text)) if word not in STOP_WORDS]


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return a plain word without its common endings, in one spelling.

    Enough to match "taxes" with "tax", "running" with "runs" and "analyse" with "analyze".
    """
    if word[0].isdigit() or len(word) < _SHORTEST_STEM:
        return word
    word = _singular(word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM - (suffix == "ing"):
            word = _DOUBLED.sub(r"\1", word[: -len(suffix)])
            break
    return _spelling(word.rstrip("e")) if len(word) > _SHORTEST_STEM else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST_STEM:
        return word[:-3] + "y"
    if _SIBILANT_PLURAL.search(word):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _spelling(stemmed: str) -> str:
    """Return one form for what British and American English write differently."""
    for british, american in (("is", "iz"), ("ys", "yz"), ("our", "or")):
        if stemmed.endswith(british) and len(stemmed) > len(british) + 2:
            return stemmed[: -len(british)] + american
    return stemmed


def index_terms(text: str) -> list[str]:
    """Return the terms of a text, in its order."""
    return [term for word in _TERM.findall(plain(text)) for term in _terms_of_word(word)]


def query_terms(query: str) -> list[str]:
    """Return the terms to look a query up by: without stop words, unless it has no others."""
    found = []
    for word in _TERM.findall(plain(query)):
        if word not in STOP_WORDS:
            # A pair says more than its characters, which would only add noise.
            found += _terms_of_word(word)[
                len(word) if _IDEOGRAPHS.match(word) and word[1:] else 0 :
            ]
    return list(dict.fromkeys(found)) or list(dict.fromkeys(index_terms(query)))


def _terms_of_word(word: str) -> list[str]:
    if _IDEOGRAPHS.match(word):
        return [*word, *(word[i : i + 2] for i in range(len(word) - 1))]
    parts = _HYPHEN.split(word)
    terms = [stem(part) for part in parts]
    return terms if len(parts) == 1 else [*terms, stem("".join(parts))]
