"""What an answer says, sentence by sentence: quotations, claims, and what is neither."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.text import normalisation, sentences

if TYPE_CHECKING:
    from collections.abc import Set

_MARKER = r"\[[1-9]\d*(?:\s*[,;–-]\s*\d+)*\]"
_INVENTED = re.compile(
    r"(?:\s+|^|(?<=[.!?”\"])|(?<=[^\W\d_]{3}))" + _MARKER + r"(?:\s*" + _MARKER + r")*(?!\()"
    r"|\s*\((?:passages?|source)\s*\[?\d+\]?\)",
    re.IGNORECASE,
)
"""Markers that the model wrote; an index such as x[1] or word[0], or a link, is none."""
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_LIST_SPLIT = re.compile(r"\n(?=\s*(?:[-*•]|\d+[.)])\s+)|\n")
_QUOTE_MARK = re.compile(r"^\s*>\s*")
_CELLS = re.compile(r"\s*\|[\s|:-]*")
"""What stands between the cells of a table's row, or draws the line under its heading."""
_DOUBLED = 0.85
"""A quotation of whose words the answer has so large a share adds nothing to it."""


@dataclass(frozen=True)
class Written:
    """A model's text, parted.

    Attributes:
        quotes: Lines that it copied from the passages, to show on what it relies.
        text: Its answer, without them and without markers that it invented.
        claims: Spans of `text`: its sentences and list entries that state something.
        adds: For each quotation, whether it says something that `text` does not say already.
    """

    quotes: tuple[str, ...]
    text: str
    claims: tuple[tuple[int, int], ...]
    adds: tuple[bool, ...]

    def sentences(self) -> list[str]:
        """Return the claims' texts."""
        return [self.text[start:end] for start, end in self.claims]


def part(text: str) -> Written:
    """Part a model's text into its quotations and its answer."""
    quotes, rest = [], []
    for line in _INVENTED.sub("", text).strip().split("\n"):
        mark = _QUOTE_MARK.match(line)
        if mark and line[mark.end() :].strip(" |:-"):
            quotes.append(_CELLS.sub(" \u00b7 ", line[mark.end() :]).strip(" \u00b7"))
        elif not mark:
            rest.append(line)
    own = list(dict.fromkeys(quotes))
    answer = "\n".join(rest).strip()
    if not answer:  # the quotations are all it says
        own, answer = [], "\n".join(own)
    words = set(normalisation.content_words(answer))
    return Written(
        tuple(own),
        answer,
        tuple(span for span in _spans(answer) if normalisation.content_words(answer[slice(*span)])),
        tuple(_adds(quote, words) for quote in own),
    )


def _adds(quote: str, said: Set[str]) -> bool:
    words = normalisation.content_words(quote)
    return sum(word in said for word in words) < _DOUBLED * len(words)


def _spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of an answer's sentences and list entries."""
    result = []
    position = 0
    for line in _LIST_SPLIT.split(text):
        offset = text.index(line, position)
        position = offset + len(line)
        mark = _LIST_MARK.match(line)
        skip = mark.end() if mark else 0
        result += [(offset + skip + a, offset + skip + b) for a, b in sentences.spans(line[skip:])]
    return result
