"""Sentences of a text, as spans. Used to cut long paragraphs and to tie claims to sentences."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs etc e.g i.e cf fig figs eq eqs no nos vol pp p ch chap sec al inc ltd "
    "co jr sr approx ca u.s u.k ph.d b.c a.d resp viz ibid op ed eds trans dept est".split()
)
_END = re.compile(r"(?<![.!?…])[.!?…]++(?:[\"'”’)\]]|\s?»)*(?=\s)(?!\s?»)|\n{2,}|[。！？]+[」』”]*")
_LAST_WORD = re.compile(r"[\w.]+$")


def spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, without the white space around it.

    A sentence ends at a full stop, a question or exclamation mark before white space, at an
    empty line, and nowhere else; the usual abbreviations, initials ("J. Smith") and numbers
    before a lower-case word do not end one.
    """
    result: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match.group().startswith(".") and not _ends(text, match):
            continue
        _append(result, text, start, match.end())
        start = match.end()
    _append(result, text, start, len(text))
    return result


def _ends(text: str, match: re.Match[str]) -> bool:
    before = _LAST_WORD.search(text, max(0, match.start() - 24), match.start())
    word = before.group().lower() if before else ""
    if word in _ABBREVIATIONS or (
        len(word) == 1 and word.isalpha() and text[match.start() - 1].isupper()
    ):
        return False
    after = text[match.end() :].lstrip(" \n")[:1]
    return not after.islower()


def _append(result: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        begin = start + piece.index(stripped)
        result.append((begin, begin + len(stripped)))
