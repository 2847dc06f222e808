"""A page's text from its words, with the place of each word kept.

Words of a line are joined by a space, lines by a newline, blocks (paragraphs, cells) by an
empty line. A word that was divided at the end of a line is put together again; its two halves
keep a rectangle each.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from desktop.core.records import Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from desktop.core.records import Rect

SOFT_HYPHEN = "\u00ad"
_HIDDEN_HYPHEN = re.compile(SOFT_HYPHEN + "(?=.)")
"""Inside a word it only says where the word might be divided; at its end it divides it."""
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def build(
    words: Sequence[tuple[Any, ...]], *, matrix: Any = None, visible: Any = None
) -> tuple[str, tuple[Word, ...]]:
    """Return the text and the words with their offsets.

    Args:
        words: MuPDF's words: x0, y0, x1, y1, text, block, line, index in the line.
        matrix: Turns the page's own coordinates into those of the displayed page.
        visible: The displayed page; words that lie outside are dropped.
    """
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    rects: list[Rect] = []
    length = 0
    before: tuple[int, int] | None = None  # block and line of the word before
    left, top, right, bottom = _bounds(visible)
    for x0, y0, x1, y1, raw, block, line, _ in words:
        text = raw if raw.isalnum() else _clean(raw)
        rect = (x0, y0, x1, y1) if matrix is None else _displayed((x0, y0, x1, y1), matrix)
        x, y = (rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2
        if not text or not (left <= x <= right and top <= y <= bottom):
            continue
        here = (block, line)
        if here == before:
            pieces.append(" ")
            length += 1
        elif before is not None:
            if _is_divided(pieces[-1], text):
                pieces[-1] = pieces[-1][:-1]
                length -= 1
                ends[-1] -= 1
            else:
                gap = "\n" if before[0] == block else "\n\n"
                pieces.append(gap)
                length += len(gap)
        pieces.append(text)
        starts.append(length)
        length += len(text)
        ends.append(length)
        rects.append(rect)
        before = here
    # Made by the interpreter's own code: a large book has half a million words.
    placed = map(partial(tuple.__new__, Word), zip(starts, ends, rects, strict=True))
    return "".join(pieces), tuple(placed)


def _clean(raw: str) -> str:
    return _HIDDEN_HYPHEN.sub("", _UNSAFE.sub("", raw).strip())


def rects_of(words: Iterable[Word], start: int, end: int) -> tuple[Rect, ...]:
    """Return one rectangle a line that covers the words between two offsets of the text."""
    lines: list[Rect] = []
    for word in words:
        if word.end <= start or word.start >= end:
            continue
        if lines and _same_line(lines[-1], word.rect):
            lines[-1] = around(lines[-1], word.rect)
        else:
            lines.append(word.rect)
    return tuple(lines)


def around(one: Rect, other: Rect) -> Rect:
    """Return the rectangle around two."""
    return (
        min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3]),
    )  # fmt: skip


def _is_divided(before: str, after: str) -> bool:
    """Whether a word at a line's end goes on at the start of the next line."""
    if before.endswith(SOFT_HYPHEN):
        return len(before) > 1
    return (
        len(before) > 2
        and before.endswith(("-", "\u2010"))
        and before[-2].islower()
        and after[0].islower()
    )


def _displayed(rect: Rect, matrix: Any) -> Rect:
    a, b, c, d, e, f = matrix
    xs = [a * x + c * y + e for x in (rect[0], rect[2]) for y in (rect[1], rect[3])]
    ys = [b * x + d * y + f for x in (rect[0], rect[2]) for y in (rect[1], rect[3])]
    return (min(xs), min(ys), max(xs), max(ys))


def _bounds(visible: Any) -> Rect:
    if visible is None:
        return (-math.inf, -math.inf, math.inf, math.inf)
    return (visible.x0, visible.y0, visible.x1, visible.y1)


def _same_line(line: Rect, word: Rect) -> bool:
    """Whether a word goes on a line: to the right, or, on a turned page, below or above.

    Or close by to the left, where the script runs so or the page stands on its head.
    """
    height = min(line[3] - line[1], word[3] - word[1])
    across = min(line[3], word[3]) - max(line[1], word[1])
    on_line = word[0] >= line[0] or line[0] - word[2] < 2 * height
    if height > 0 and across > 0.5 * height and on_line:
        return True
    width = min(line[2] - line[0], word[2] - word[0])
    along = min(line[2], word[2]) - max(line[0], word[0])
    tall = line[3] - line[1] > 1.5 * (line[2] - line[0])
    return tall and width > 0 and along > 0.9 * width
