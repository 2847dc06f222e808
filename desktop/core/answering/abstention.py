"""When to say that the book does not say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from desktop.core.answering import folding

if TYPE_CHECKING:
    from desktop.core.answering.citations import Proved

_NOT = r"\b[^.]{0,40}\b(?:does not|doesn't|do not|don't|did not|is no|ne)\b[^.]{0,12}\b"
_REFUSALS = re.compile(
    r"\b(?:the (?:book|passages?|text|information|provided (?:text|passages?))|"
    rf"le livre|les passages|le texte){_NOT}"
    r"(?:say|mention|contain|provide|state|specify|answer|information|"
    r"dit|mentionne|contien\w+|précise\w*|fourni\w+)\b"
    # "It does not contain chlorophyll" is an answer; "it does not mention it" is none.
    rf"|\b(?:it|there){_NOT}(?:say|mention|state|specify|information)\b",
    re.IGNORECASE,
)


APOLOGY_WORDS = 4
"""Words that may stand before a refusal ("I am sorry."); after more, something was answered."""


def refuses(answer: str, refusal: str) -> bool:
    """Whether the model's text says that the passages do not answer."""
    start = answer.strip()[:200]
    said, words = " ".join(folding.words(start)), " ".join(folding.words(refusal))
    before, found, _ = said.partition(words)
    early = bool(found) and len(before.split()) <= APOLOGY_WORDS
    return early or bool(_REFUSALS.match(start))


def unproved(proved: Proved) -> bool:
    """Whether nothing of what the answer claims stands in the sources."""
    return proved.claims > 0 and not proved.citations
