"""When to say that the book does not say: a decision fitted on questions with and without answers.

What no model needs to be asked for (a name that occurs nowhere, no passage) is refused by
`pipeline.steps` before; in long context `verification` withholds only what the model refused.

The signs of an answer are weighed by a logistic function whose weights are data, per embedder and
model, in resources/calibration/abstention.toml; `packaging/fit_abstention.py` makes that file.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from desktop.core.text import normalisation
from desktop.core.text.facts import names
from desktop.paths import resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from desktop.core.answering.attribution.citations import Proved
    from desktop.core.answering.request import Draft, Request

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
ANY = "*"
"""The entry for an embedder and model that nothing was fitted for."""


@dataclass(frozen=True)
class Decision:
    """Whether an answer is given.

    Attributes:
        given: Whether it is borne out well enough.
        refused: Whether the model itself wrote that the passages do not answer.
        signs: By which it was decided, see `signs`; empty after a refusal.
    """

    given: bool
    refused: bool = False
    signs: dict[str, float] = field(default_factory=dict)


def decide(request: Request, draft: Draft, proved: Proved, embedder: str, refusal: str) -> Decision:
    """Return whether to give an answer, or to say that the book does not say.

    Args:
        request: What was asked.
        draft: What the model wrote.
        proved: What of it is proved.
        embedder: The embedder's identity; what was fitted belongs to it and to the model.
        refusal: What the model writes where the passages do not answer.
    """
    if refuses(proved.own, refusal):
        return Decision(given=False, refused=True)
    found = signs(request, draft, proved)
    return Decision(load(embedder, draft.model).answers(found), signs=found)


def refuses(answer: str, refusal: str) -> bool:
    """Whether the model's text says that the passages do not answer."""
    start = answer.strip()[:200]
    said, words = " ".join(normalisation.words(start)), " ".join(normalisation.words(refusal))
    before, found, _ = said.partition(words)
    early = bool(found) and len(before.split()) <= APOLOGY_WORDS
    return early or bool(_REFUSALS.match(start))


def signs(request: Request, draft: Draft, proved: Proved) -> dict[str, float]:
    """Return what speaks for and against an answer, each about 0 to 1.

    `similar`: cosine similarity of the question and the best passage. `asked`: share of the
    question's content words that stand in the passages read. `pairs`: the same of its pairs of
    neighbouring words. `named`: share of the question's names that do. `proved`: share of the
    answer's sentences that are proved. `covered`: how far the proofs cover them, on average.
    `founded`: whether anything is proved, or copied from the passages word for word. `certain`:
    the mean probability, geometric, of the tokens written. `self_evaluation`: that of the draft,
    which may lie below 0; 0 where the model was not asked.
    """
    question = request.question
    texts = [normalisation.content_words(f"{s.section} {s.text}") for s in draft.sources]
    words = {word for text in texts for word in text}
    pairs = {pair for text in texts for pair in pairwise(text)}
    asked = normalisation.content_words(question)
    wanted = list(pairwise(asked))
    named = [normalisation.stem(name) for name in names(question)]
    known = {
        word
        for s in draft.sources
        for word in normalisation.words(f"{s.title} {s.section} {s.text}")
    }
    similarities = [hit.similarity for hit in request.found.hits if hit.similarity is not None]
    return {
        "similar": max(similarities, default=0.0),
        "asked": _share(word in words for word in asked),
        "pairs": _share(pair in pairs for pair in wanted),
        "named": _share(name in known for name in named),
        "proved": 1 - len(proved.unsupported) / proved.claims if proved.claims else 0.0,
        "covered": sum(proved.scores) / len(proved.scores) if proved.scores else 0.0,
        "founded": float(proved.quotes > 0 or len(proved.unsupported) < proved.claims),
        "certain": math.exp(draft.certainty),
        "self_evaluation": draft.self_evaluation or 0.0,
    }


def _share(values: Iterable[bool]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 1.0


@dataclass(frozen=True)
class Calibration:
    """The fitted decision for one embedder and model.

    Attributes:
        weights: Weight of each sign.
        bias: Constant term.
        threshold: Probability from which an answer is given.
    """

    weights: Mapping[str, float]
    bias: float
    threshold: float = 0.5

    def probability(self, values: Mapping[str, float]) -> float:
        """Return how likely it is that the book answers, 0 to 1."""
        total = self.bias + sum(w * values.get(name, 0.0) for name, w in self.weights.items())
        return 1 / (1 + math.exp(-total))

    def answers(self, values: Mapping[str, float]) -> bool:
        """Whether to give the answer; one of which nothing is founded is never given."""
        return values.get("founded", 0.0) > 0 and self.probability(values) >= self.threshold


@cache
def load(embedder: str, model: str) -> Calibration:
    """Return what was fitted for an embedder and model, else the careful general one."""
    data = tomllib.loads(resource("calibration/abstention.toml").read_text(encoding="utf-8"))
    for entry in data["fit"]:
        if entry["embedder"] in (embedder, ANY) and entry["model"] in (model, ANY):
            return Calibration(entry["weights"], entry["bias"], entry["threshold"])
    message = "resources/calibration/abstention.toml lacks its general entry"
    raise KeyError(message)
