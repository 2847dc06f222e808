"""The terms under which full text is indexed and looked up: one rule for both sides.

Words are folded and stemmed; a hyphenated word counts whole and in its parts; a run of Chinese
or Japanese, which has no spaces, counts by characters and by pairs of them.
"""

from __future__ import annotations

import re

from desktop.core.text import normalisation

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TERM = re.compile(
    rf"[{_CJK}]+|\d+(?:[.,]\d+)*|[^\W\d_{_CJK}]+(?:[-\u2010\u2011]\s?[^\W\d_{_CJK}]+)*"
)
_HYPHEN = re.compile(r"[-\u2010\u2011]\s?")
_IDEOGRAPHS = re.compile(rf"[{_CJK}]")


def of_text(text: str) -> list[str]:
    """Return the terms of a text, in its order."""
    return [term for word in _TERM.findall(normalisation.plain(text)) for term in _of_word(word)]


def of_query(query: str) -> list[str]:
    """Return the terms to look a query up by: without stop words, unless it has no others."""
    found = []
    for word in _TERM.findall(normalisation.plain(query)):
        if word not in normalisation.STOP_WORDS:
            # A pair says more than its characters, which would only add noise.
            found += _of_word(word)[len(word) if _IDEOGRAPHS.match(word) and word[1:] else 0 :]
    return list(dict.fromkeys(found)) or list(dict.fromkeys(of_text(query)))


def _of_word(word: str) -> list[str]:
    if _IDEOGRAPHS.match(word):
        return [*word, *(word[i : i + 2] for i in range(len(word) - 1))]
    parts = _HYPHEN.split(word)
    terms = [normalisation.stem(part) for part in parts]
    return terms if len(parts) == 1 else [*terms, normalisation.stem("".join(parts))]
