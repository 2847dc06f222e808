"""Finding the sentence of a source that proves a claim, by its words, its facts and its meaning.

No model's word is taken for it. A proof must have the claim's numbers in the same units, stand
in a passage that has its names, deny where it denies, and not say the opposite.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from desktop.core.answering.prompt.context import VERBATIM_WORDS
from desktop.core.records import Verdict
from desktop.core.text import normalisation, sentences
from desktop.core.text.facts import Facts, contradicts, numbers_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from desktop.core.answering.prompt.context import Source

    Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]

SUPPORT = 0.5
"""Least share of a claim's weighted words that its proof must cover. Chosen by reading 60 answers
of the 1.5B model on two of the test books: below, pairs began to speak of other things."""
NEAR = 0.68
"""Least cosine similarity by which a sentence proves a claim in other words…"""
NEAR_SUPPORT = 0.25
"""…of whose words it covers this share at least."""
EMBEDDED = 48
"""Most sentences whose meaning is compared: those that cover most of the claims' words."""
ACRONYM = 3
"""Longest name, in letters, that need not stand in a proof where the question has it."""
_QUESTION_WEIGHT = 0.15
"""How much the question's words decide between places that cover a claim equally."""
_RANK_WEIGHT = 0.01
"""How much a better rank decides, where all else is equal."""
_FIRST_WORD = re.compile(r"\w+")
_FULL_NAME = re.compile(r"\b[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)+")


@dataclass(frozen=True)
class Proof:
    """A place that proves a claim.

    Attributes:
        source: Index of the source.
        start: Offset in the source's text.
        end: Offset after the last character.
        score: Share of the claim that it covers, 0 to 1.
    """

    source: int
    start: int
    end: int
    verdict: Verdict
    score: float


@dataclass(frozen=True)
class _Candidate:
    """A sentence of a source, or two in a row, or a row of a table with the table's heading.

    Attributes:
        plain: Its words in comparable form.
        parts: The two sentences, where it is two.
    """

    source: int
    start: int
    end: int
    facts: Facts
    plain: str
    parts: tuple[Facts, ...] = ()


class Aligner:
    """Finds proofs for the claims of one answer.

    Args:
        sources: What the model read, best first.
        question: What was asked; its names and numbers need not stand in the proof itself.
        embed: Returns unit vectors of texts, shape (n, dimension); None compares words only.
    """

    def __init__(
        self, sources: Sequence[Source], question: str, *, embed: Embed | None = None
    ) -> None:
        self._candidates = _candidates(sources)
        self._weights = _weights(self._candidates)
        self._asked = Facts(question)
        self._embed = embed
        self._around = [Facts(f"{source.section} {source.text}") for source in sources]
        self._names = self._asked.names.union(*(around.names for around in self._around))
        self._words_around = [
            frozenset(normalisation.words(around.text)) for around in self._around
        ]
        self._first_names = [_first_names(question, around.text) for around in self._around]

    def proofs(self, claims: Sequence[str]) -> list[Proof | None]:
        """Return for each claim the place that proves it best, or None."""
        facts = [Facts(claim) for claim in claims]
        similarity = self._similarities(facts)
        return [self._best(claim, near) for claim, near in zip(facts, similarity, strict=True)]

    def _similarities(self, claims: Sequence[Facts]) -> list[dict[int, float]]:
        if self._embed is None or not claims or not self._candidates:
            return [{} for _ in claims]
        cover = {
            index: max(self._share(claim, candidate.facts) for claim in claims)
            for index, candidate in enumerate(self._candidates)
        }
        chosen = sorted((i for i in cover if cover[i] > 0), key=lambda i: -cover[i])[:EMBEDDED]
        if not chosen:
            return [{} for _ in claims]
        texts = [self._candidates[index].facts.text for index in chosen]
        vectors = self._embed([*(claim.text for claim in claims), *texts])
        table = vectors[: len(claims)] @ vectors[len(claims) :].T
        return [dict(zip(chosen, map(float, row), strict=True)) for row in table]

    def _best(self, claim: Facts, near: dict[int, float]) -> Proof | None:
        quoted = " ".join(normalisation.words(claim.text))
        best: tuple[float, Proof] | None = None
        for index, candidate in enumerate(self._candidates):
            verbatim = _is_verbatim(quoted, candidate.plain)
            covered = self._share(claim, candidate.facts)
            meant = near.get(index, 0.0)
            close = covered >= SUPPORT or (meant >= NEAR and covered >= NEAR_SUPPORT)
            if not (close or verbatim) or not self._agrees(claim, candidate, verbatim=verbatim):
                continue
            if any(
                self._share(claim, part) >= SUPPORT and _differs(claim, part)
                for part in candidate.parts
            ):
                continue
            score = 1.0 if verbatim else max(covered, meant)
            value = score + verbatim + self._preference(claim, candidate)
            if best is None or value > best[0]:
                verdict = Verdict.VERBATIM if verbatim else Verdict.SUPPORTED
                place = (candidate.source, candidate.start, candidate.end)
                best = (value, Proof(*place, verdict, round(score, 3)))
        return best[1] if best else None

    def _share(self, claim: Facts, facts: Facts) -> float:
        """Return the share of a claim's weighted words that a sentence has."""
        unknown = math.log(2 + len(self._candidates))
        whole = sum(self._weights.get(word, unknown) for word in claim.words)
        return sum(self._weights[w] for w in claim.words & facts.words) / (whole or 1.0)

    def _preference(self, claim: Facts, candidate: _Candidate) -> float:
        """Weigh places that fit equally: the tighter one, nearer to the question, better found."""
        words = candidate.facts.words
        tightness = len(claim.words & words) / max(1, len(words))
        on_topic = len(self._asked.words & words) / max(1, len(self._asked.words))
        return _QUESTION_WEIGHT * (tightness + on_topic) - _RANK_WEIGHT * candidate.source

    def _agrees(self, claim: Facts, candidate: _Candidate, *, verbatim: bool) -> bool:
        """Whether numbers, names, denials and directions are the same."""
        missing = numbers_missing(claim, candidate.facts)
        if missing:
            asked = {q.value for q in self._asked.quantities}
            around = {q.value for q in self._around[candidate.source].quantities}
            # What only repeats the question may stand elsewhere in the passage.
            if any(q.value not in asked or q.value not in around for q in missing):
                return False
        if verbatim:
            return claim.denies == candidate.facts.denies or not _is_denied(claim, candidate)
        # "US" repeated from the question stands for the country the whole book is about.
        short = {name for name in self._asked.names if len(name) <= ACRONYM}
        strange = self._names_of(claim) - candidate.facts.names - short
        known = self._words_around[candidate.source]
        unknown = {name for name in strange if normalisation.stem(name) not in known}
        if unknown - self._first_names[candidate.source]:
            return False
        # Said of somebody else: a name further off counts only where no other one is nearer.
        if strange - self._asked.names and candidate.facts.names - claim.names:
            return False
        return not contradicts(claim, candidate.facts)

    def _names_of(self, claim: Facts) -> frozenset[str]:
        """Return a claim's names, with the one that begins it, if it is known for a name."""
        first = _FIRST_WORD.search(normalisation.plain(claim.text))
        return claim.names | ({first.group()} & self._names if first else set())


def _first_names(question: str, text: str) -> set[str]:
    """Return first names of a question whose surname stands in a text with no other.

    A book that has introduced Roger Bacon goes on with "Bacon", or with "he".
    """
    found = set()
    for full in _FULL_NAME.finditer(question):
        *before, surname = full.group().split()
        shown = re.findall(rf"(?:([A-Z]\w+)\s+)?\b{re.escape(surname)}\b", text)
        if shown and not any(first and first not in before for first in shown):
            found |= {normalisation.plain(name) for name in before}
    return found


def _candidates(sources: Sequence[Source]) -> list[_Candidate]:
    result = []
    for index, source in enumerate(sources):
        spans = sentences.spans(source.text)
        single = [_candidate(index, start, end, source.text[start:end]) for start, end in spans]
        result += single
        for first, second in pairwise(single):
            text = source.text[first.start : second.end]
            pair = _candidate(index, first.start, second.end, text)
            result.append(replace(pair, parts=(first.facts, second.facts)))
        for table in source.tables:
            for row in table.rows:
                text = " ".join((*table.heading, *row.cells))
                result.append(_candidate(index, row.start, row.end, text))
    return result


def _candidate(source: int, start: int, end: int, text: str) -> _Candidate:
    return _Candidate(source, start, end, Facts(text), " ".join(normalisation.words(text)))


def _weights(candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Return inverse document frequencies over the candidates: rare words prove more."""
    counts = Counter(word for candidate in candidates for word in candidate.facts.words)
    total = len(candidates) + 1
    return {word: math.log(1 + total / count) for word, count in counts.items()}


def _differs(claim: Facts, part: Facts) -> bool:
    """Whether one of two sentences says something else, which the other one can't mend."""
    said = {quantity.value for quantity in claim.quantities}
    stands = {quantity.value for quantity in part.quantities}
    return contradicts(claim, part) or bool(said and stands and not said & stands)


def _is_denied(claim: Facts, candidate: _Candidate) -> bool:
    """Whether a quotation stands in a denial ("Nobody believes that …"), or adds one."""
    quoted = " ".join(normalisation.words(claim.text))
    before, found, _ = candidate.plain.partition(quoted)
    reported = before.split()[-1:] in (["that"], ["whether"], ["que"])
    return not found or (reported and candidate.facts.denies)


def _is_verbatim(quoted: str, source: str) -> bool:
    short, long = sorted((quoted, source), key=len)
    if short.count(" ") + 1 < VERBATIM_WORDS:
        return False
    # A source's sentence inside a longer one of the answer proves only most of it.
    return f" {short} " in f" {long} " and (short == quoted or len(short) > 0.8 * len(long))
