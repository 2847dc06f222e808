"""Cutting a passage into windows of whole sentences to embed, small enough to mean one thing."""

from __future__ import annotations

from desktop.core.text import sentences

WINDOW_WORDS = 45
"""Most words of a window, unless one sentence is longer. On the test books the best window of a
passage finds it better than the passage as a whole: an embedding of 150 words blurs what each
sentence says (docs/figures.md)."""


def spans(text: str, words: int = WINDOW_WORDS) -> list[tuple[int, int]]:
    """Return start and end of each window; together they cover all sentences of the text."""
    result: list[tuple[int, int]] = []
    held = 0
    for start, end in sentences.spans(text):
        length = len(text[start:end].split())
        if result and held + length <= words:
            result[-1] = (result[-1][0], end)
            held += length
        else:
            result.append((start, end))
            held = length
    return result
