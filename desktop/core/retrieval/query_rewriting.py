"""What to look for when a question leans on the conversation before it ("and why?")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.records import Turn

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_POINTING = frozenset(
    "it its this these those they them their he she him her his hers such former latter "
    "same above previous "
    "il elle ils elles cela ça ceci ce cette ces lui leur y".split()
)
_ASKING = re.compile(r"\best[-\s]ce\s+qu", re.IGNORECASE)
"""Its "ce" points at nothing."""
_PHRASES = re.compile(
    r"\b(?:is|are|was|does|did|of|about|like|why|how|than|so) (?:that|so)\b|\bthat\W*$|"
    r"\b(?:what|how) about\b|\b(?:one|ones|then|there)\W*$|^(?:the|that|this) \w+ one",
    re.IGNORECASE,
)
_OPENING = frozenset("and but so or then also yes no et mais donc alors ou".split())
_EMPTY = frozenset(
    "a an the of to in on at by for with from is are was were be been do does did can could would "
    "should will may might how why what when where which who whom whose please tell me about more "
    "explain give example another an if not no yes i you we "
    "le la les un une des de du au aux est sont était que qui quoi pourquoi comment quel quelle "
    "quand où dans par pour avec sur".split()
)
BARE_WORDS = 2
"""A question of so few words in all, such as "Why Germany?", can't be looked up alone."""


def leans_on_before(question: str) -> bool:
    """Whether a question needs the one before it to be understood."""
    words = [word.casefold() for word in _WORD.findall(_ASKING.sub("qu", question))]
    own = [w for w in words if w not in _EMPTY and w not in _POINTING and w not in _OPENING]
    if not words:
        return False
    if not own or len(words) <= BARE_WORDS or words[0] in _OPENING:
        return True
    return _points(words[:6]) or bool(_PHRASES.search(question))


def _points(words: Sequence[str]) -> bool:
    return any(word in _POINTING for word in words)


def standalone(question: str, history: Sequence[Turn]) -> str:
    """Return the words to search for: the question, led by earlier ones that it leans on."""
    parts = [question]
    for turn in reversed(history):
        if not leans_on_before(parts[0]):
            break
        parts.insert(0, turn.question)
    return " ".join(parts)
