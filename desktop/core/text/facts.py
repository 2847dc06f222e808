"""What must not differ between a claim and its proof: numbers, units, names, denials, direction.

A sentence may say a thing in other words; with another number, another name, a "not" more or
less, or with the two sides of a comparison changed over, it says another thing.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache

from desktop.core.text import normalisation, sentences
from desktop.core.text.quantities import Quantity, quantities

_NAME = re.compile(r"\b[A-Z\u00c0-\u00de]\w+")
_FIRST = re.compile(r"^\W*\w+")
_MONTHS_AND_SUCH = frozenset("january february march april may june july august september october "
                             "november december".split())  # fmt: skip
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|neither|rarely|seldom|hardly|"
    r"scarcely|barely|nor|nobody|nothing|without|cannot|unable|fails? to|failed to|"
    r"lacks?|ne|jamais|aucune?|sans)\b|n['’]t\b|\bn['’](?=[aeiouyh])"
)
_NOT_ONLY = re.compile(
    r"\bnot (?:only|just|merely)\b|\bnot? (?:less|fewer|more) than\b|\bnon seulement\b|"
    r"\bne \w+ pas (?:seulement|que)\b"
)
_CLAUSE = re.compile(r"[,;:\u2013\u2014]\s|\b(?:but|although|though|whereas|while|mais|tandis)\b")
_AFFIRMED = 0.8
"""Share of the words in common that stand where a proof does not deny; with less, another thing
is meant."""
_OPPOSITES = (
    "increase/decrease rise/fall rising/falling rose/fell raise/lower higher/lower high/low "
    "more/less most/least more/fewer greater/smaller larger/smaller large/small above/below "
    "before/after first/last gain/lose profit/loss surplus/deficit surplus/shortage "
    "excess/shortage import/export buy/sell buyer/seller borrow/lend lender/borrower "
    "expand/contract expansion/contraction accept/reject include/exclude hot/cold heat/cool "
    "strong/weak always/never inside/outside internal/external positive/negative "
    "maximum/minimum maximize/minimize upward/downward left/right long/short early/late "
    "earlier/later easy/hard oldest/youngest faster/slower appreciate/depreciate "
    "attract/repel absorb/emit win/lose same/different elastic/inelastic true/false "
    "augmente/diminue plus/moins hausse/baisse grand/petit avant/après supérieur/inférieur "
    "known/unknown equal/unequal supply/demand all/some every/some all/none"
)
_RELATIONS = re.compile(
    r"\b(?:exceeds?|exceed(?:ed|ing)|(?:\w+er|less|more|worse) than|"
    r"caus(?:es?|ed|ing)|leads? to|led to|results? in|resulted in|depends? on|depended on|"
    r"(?:before|after|precedes?|follows?|contains?|includes?|becomes?|produces?|"
    r"invented|discovered|defeated|taught|influenced|succeeded))\b",
    re.IGNORECASE,
)
_BY = re.compile(r"\s+by\b", re.IGNORECASE)
_AGAINST = ("un", "in", "im", "ir", "il", "dis", "non")


class Facts:
    """The facts of one sentence, each read when it is first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers, written in digits or words."""
        return quantities(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names, folded: words with a capital that do not begin a sentence."""
        return names(self.text)

    @cached_property
    def denies(self) -> bool:
        """Whether it says that something is not so."""
        return bool(_DENIAL.search(self._plain))

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """The content words of what it says without denying."""
        clauses = _CLAUSE.split(self._plain)
        said = " ".join(clause for clause in clauses if not _DENIAL.search(clause))
        return frozenset(normalisation.content_words(said))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, stemmed."""
        return frozenset(normalisation.content_words(self.text))

    @cached_property
    def _plain(self) -> str:
        return _NOT_ONLY.sub(" ", " ".join(normalisation.plain(self.text).split()))

    @cached_property
    def relation(self) -> tuple[str, frozenset[str], frozenset[str]] | None:
        """The first word that relates two sides, with the words of either side."""
        match = _RELATIONS.search(self.text)
        if match is None:
            return None
        left = frozenset(normalisation.content_words(self.text[: match.start()]))
        right = frozenset(normalisation.content_words(self.text[match.end() :]))
        if match.group().endswith(("ed", "ght")) and _BY.match(self.text, match.end()):
            left, right = right, left  # the passive
        return normalisation.stem(match.group().split()[0].casefold()), left - right, right - left


def contradicts(claim: Facts, proof: Facts) -> bool:
    """Whether two sentences that share their words say different things.

    One denies and the other does not; one has a word where the other has its opposite; or the
    sides of a comparison or of a cause are changed over.
    """
    return _denied(claim, proof) or _opposed(claim, proof) or _turned(claim, proof)


def _denied(claim: Facts, proof: Facts) -> bool:
    """Whether one denies what the other says; "not by this, but by that" says that."""
    if claim.denies == proof.denies:
        return False
    shared = claim.words & proof.words
    return claim.denies or len(shared & proof.affirmed) < _AFFIRMED * len(shared)


def numbers_missing(claim: Facts, proof: Facts) -> tuple[Quantity, ...]:
    """Return the claim's numbers that the proof does not have in the same unit."""
    return tuple(q for q in claim.quantities if not _has(proof, q))


def _has(proof: Facts, wanted: Quantity) -> bool:
    same = [q for q in proof.quantities if q.value == wanted.value]
    if wanted.scale and normalisation.stem(wanted.scale) in proof.words:
        # A table's heading has "in millions" above plain numbers.
        same += [q for q in proof.quantities if q.value == wanted.digits]
    # A table's numbers have their unit in the heading.
    return any(q.unit == wanted.unit or not q.unit or not wanted.unit for q in same)


def names(text: str) -> frozenset[str]:
    """Return the names in a text, folded."""
    found = []
    for start, end in sentences.spans(text):
        sentence = text[start:end]
        first = _FIRST.match(sentence)
        found += _NAME.findall(sentence, first.end() if first else 0)
    folded = (normalisation.plain(name) for name in found)
    return frozenset(
        name
        for name in folded
        if name not in normalisation.STOP_WORDS and name not in _MONTHS_AND_SUCH
    )


@lru_cache(maxsize=1)
def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        one, other = (normalisation.stem(normalisation.plain(word)) for word in pair.split("/"))
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in table.items()}


def _opposed(claim: Facts, proof: Facts) -> bool:
    """Whether the claim has a word where the proof has its opposite."""
    said, stands = _all_words(claim.text), _all_words(proof.text)
    for word, others in _opposites().items():
        more = sum(stands[other] - said[other] for other in others)
        if said[word] > stands[word] and more > 0:
            return True
    return _negated(said, stands) or _negated(stands, said)


def _negated(said: Counter[str], stands: Counter[str]) -> bool:
    """Whether one has "soluble" where the other has "insoluble"."""
    return any(
        prefix + word in stands and prefix + word not in said
        for word in said
        if len(word) > 4 and word not in stands
        for prefix in _AGAINST
    )


@lru_cache(maxsize=4096)
def _all_words(text: str) -> Counter[str]:
    return Counter(normalisation.words(text))


def _turned(claim: Facts, proof: Facts) -> bool:
    """Whether both relate two things by the same word, the other way round."""
    one, other = claim.relation, proof.relation
    if one is None or other is None or one[0] != other[0]:
        return False
    # Words that stand on one side only, such as "in the long run", say nothing of the direction.
    return bool(one[1] & other[2]) and bool(one[2] & other[1])
