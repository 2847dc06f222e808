"""Claims about books that people have labelled, and figures of a verifier that is put to them.

What a verifier says never enters a label: each says what the text of the page says, by a person's
reading. See tests/data/claims/README.md.
"""

from __future__ import annotations

import json
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop.core.codec import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SUPPORTED, CONTRADICTED, ABSENT = "supported", "contradicted", "absent"
LABELS = (SUPPORTED, CONTRADICTED, ABSENT)
ELLIPSIS = "…"


@dataclass(frozen=True)
class LabelledClaim:
    """A claim and the place in a book that decides about it.

    Attributes:
        id: Names it in a report.
        book: File name of the book.
        pages: Physical pages whose text decides.
        anchor: Its first and its last words where it decides, with an ellipsis between them.
        claim: One sentence.
        label: "supported", "contradicted" or "absent", which is neither said nor denied.
        kind: How it came about, such as "true-paraphrase" or "false-role".
        note: Why, for people.
    """

    id: str
    book: str
    pages: tuple[int, ...]
    anchor: str
    claim: str
    label: str
    kind: str
    note: str = ""


def read(path: Path) -> list[LabelledClaim]:
    """Read a file of claims, one JSON object a line.

    Raises:
        ValueError: if a line is none.
        OSError: if it can't be read.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    return [decode(LabelledClaim, json.loads(line)) for line in lines if line.strip()]


def span(text: str, anchor: str) -> tuple[int, int] | None:
    """Return where the words between both ends of an anchor stand in a page's text.

    Spaces, hyphens and ligatures count as little as they do for a reader; None where it is not
    there.
    """
    places = [
        (letter, place) for place, character in enumerate(text) for letter in _letters(character)
    ]
    folded = "".join(letter for letter, _ in places)
    first, _, last = ("".join(map(_letters, end)) for end in anchor.partition(ELLIPSIS))
    start = folded.find(first)
    end = folded.find(last, start) if last else start
    if start < 0 or end < 0:
        return None
    length = len(last or first)
    return places[start][1], places[end + length - 1][1] + 1


def _letters(character: str) -> str:
    """Return what of a character is compared."""
    if character.isspace() or character in "-\u00ad\u2010":
        return ""
    return unicodedata.normalize("NFKC", character).casefold()


def by_kind(results: Iterable[tuple[LabelledClaim, bool]]) -> dict[str, dict[str, Any]]:
    """Return for each kind of claim the number of them, and the share that was marked supported.

    And the same of all true and of all false ones, under "true" and "false".
    """
    marked: dict[str, list[bool]] = defaultdict(list)
    for claim, supported in results:
        marked[claim.kind].append(supported)
        marked["true" if claim.label == SUPPORTED else "false"].append(supported)
    return {kind: {"n": len(each), "supported": _mean(each)} for kind, each in marked.items()}


def _mean(values: Sequence[bool]) -> float:
    return round(sum(values) / len(values), 4)
