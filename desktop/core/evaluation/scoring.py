"""Whether a free-text answer is right, without a judge: by facts that it must state.

A question lists facts, each with its spellings; an answer is right when it has one spelling of
every fact, as whole words. Both sides are first brought to one plain form, so that "48,000",
"48000" and "48 000 pins" or "N_{F}" and "NF" do not count as different.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACING_ACCENTS = str.maketrans("", "", "`\u00b4\u00a8\u00b8\u02d9\u02d8\u02da\u02c6\u02dc")
"""Accents that PDF text has beside their letter ("hypoth`ese")."""

_BEFORE_LETTERS = ((re.compile("([\u00bc-\u00be\u2150-\u215e])"), r" \1"),)  # 16⅝ is 16 and 5/8
_REWRITINGS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("\u221a", " sqrt "),
        # LaTeX: subscripts and powers lose their braces, fractions become a/b, spacing goes.
        (r"[_^]\{([^{}]*)\}|[_^]", r"\1"),
        (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r" \1/\2 "),
        (
            r"\\(?:times|cdot|left|right|text|math(?:rm|bf)|dot|hat|bar|approx|quad)\b",
            " ",
        ),
        # Each Chinese or Japanese character is a word.
        ("([\u3040-\u30ff\u3400-\u9fff])", r" \1 "),
        ("['\u2019]s\\b", ""),
        (r"\b([a-z])\.(?=[a-z]\b)", r"\1"),  # u.s.
        (r"%|\bper cent\b", " percent "),
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        (r"(?<![\w.])\.(?=\d)", "0."),
        (r"(?<=\d)\s*[/\u2044]\s*\(?\s*(?=\d)", "/"),
        (r"(?<=\d)(?=[^\W\d_])", " "),  # 200kg
    )
)
_WORD = re.compile(r"\d+(?:\.\d+)?(?:/\d+)?|[^\W\d_]\w*")
_GREEK = ("GREEK SMALL", "GREEK CAPITAL")


@lru_cache(maxsize=100_000)
def fold(text: str) -> str:
    """Return a text in its comparable form: plain words and numbers, single spaces between."""
    plain = text.translate(_SPACING_ACCENTS)
    for pattern, replacement in _BEFORE_LETTERS:
        plain = pattern.sub(replacement, plain)
    plain = "".join(_letter(c) for c in unicodedata.normalize("NFKD", plain))
    for pattern, replacement in _REWRITINGS:
        plain = pattern.sub(replacement, plain)
    return " ".join(_singular(word) for word in _WORD.findall(plain))


def correct(answer: str, must: Sequence[Sequence[str]]) -> bool | None:
    """Return whether an answer states every fact; None where there is none to state.

    Args:
        answer: Any text.
        must: For each fact the spellings that count.
    """
    if not must:
        return None
    said = f" {fold(answer)} "
    return all(any(f" {fold(spelling)} " in said for spelling in fact) for fact in must)


def _letter(character: str) -> str:
    """Return a letter in lower case without its accent; a Greek one by its name."""
    if unicodedata.combining(character):
        return ""
    name = unicodedata.name(character, "")
    if name.startswith(_GREEK):
        return f" {name.partition(' WITH')[0].rpartition(' ')[2].lower()} "
    return character.casefold()


def _singular(word: str) -> str:
    """Cut a plain plural's ending off, and the noughts behind a decimal number."""
    if word[0].isdigit():
        decimal = "." in word and "/" not in word
        return word.rstrip("0").rstrip(".") if decimal else word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > 3 else word
