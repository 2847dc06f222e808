"""What must not differ between a claim and its proof: numbers, units, names, denials, direction.

A sentence may say a thing in other words; with another number, another name, a "not" more or
less, or with the two sides of a comparison changed over, it says another thing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from desktop.core.text import folding, sentences

_NUMBER_WORDS = {
    word: str(value)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty",
        "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze "
        "seize dix-sept dix-huit dix-neuf vingt",
    )
    for value, word in enumerate(words.split())
    if word not in ("one", "un")  # most often no numbers
} | {
    word: str(10 * (value + 3))
    for value, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split())
}
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "m": 6, "billion": 9, "trillion": 12,
           "mille": 3, "millions": 6, "milliard": 9, "milliards": 9, "billions": 9, "k": 3,
           "thousands": 3}  # fmt: skip
_UNITS = {
    "%": "%", "percent": "%", "percentage": "%", "pourcent": "%", "‰": "‰",
    "$": "$", "dollar": "$", "dollars": "$", "€": "€", "euro": "€", "euros": "€", "£": "£",
    "pound": "£", "pounds": "£", "¥": "¥", "yen": "¥",
    **{unit: unit for unit in "kg g mg km m cm mm nm l ml s ms h hz khz mhz ghz ev kev mev gev kj "
       "kw mw gw pa mol ly pc kpc mpc".split()},
    "kilograms": "kg", "kilogram": "kg", "grams": "g", "gram": "g", "kilometers": "km",
    "kilometres": "km", "meters": "m", "metres": "m", "meter": "m", "metre": "m",
    "seconds": "s", "second": "s", "minutes": "min", "minute": "min", "min": "min",
    "hours": "h", "hour": "h", "days": "day", "day": "day", "weeks": "week", "week": "week",
    "months": "month", "month": "month", "years": "year", "year": "year", "ans": "year",
    "an": "year", "jours": "day", "jour": "day", "heures": "h", "°c": "c", "°f": "f", "°": "°",
    "degrees": "°", **dict.fromkeys(("mile", "miles", "mi"), "mi"),
    **dict.fromkeys(("foot", "feet", "ft"), "ft"), **dict.fromkeys(("inch", "inches"), "in"),
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes", "t"), "t"),
    **dict.fromkeys(("gallon", "gallons"), "gal"), **dict.fromkeys(("acre", "acres"), "acre"),
    **dict.fromkeys(("litre", "litres", "liter", "liters"), "l"),
    **dict.fromkeys(("joule", "joules"), "j"), **dict.fromkeys(("watt", "watts"), "w"),
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<minus>(?<![\w)%$€£¥°])[-\u2212](?=[$€£¥]\s?[\d.]))?(?P<before>[$€£¥])?\s?"
    r"(?P<sign>(?<![\w)%°])[-\u2212](?=[\d.]))?"
    r"(?P<value>\d+(?:[.,]\d+)*|(?<!\w)\.\d+)"
    r"(?:\s?(?P<scale>hundred|thousands?|millions?|billions?|trillion|mille|milliards?|(?-i:M|k))\b)?"
    r"\s?-?(?P<unit>%|‰|[$€£¥]|°[cf]?|per ?cent|pour ?cent|[a-z]+)?",
    re.IGNORECASE,
)
_WORD_NUMBER = re.compile(
    r"\b(" + "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_GROUPED = re.compile(r"^\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_EUROPEAN = re.compile(r"^\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})$")
_TENS = re.compile(
    r"\b(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[-\s]"
    r"(one|two|three|four|five|six|seven|eight|nine)\b",
    re.IGNORECASE,
)
_ONE = re.compile(r"\b(?:one|an?)\s+(?=(?:hundred|thousand|million|billion|trillion)\b)", re.I)
_LISTED = re.compile(r"\b\d+(?:,\d+){2,}\b")
_VULGAR = re.compile(r"(\d*) ?([\u00bc-\u00be\u2150-\u215e])")
_THIN = re.compile(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))")
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


@dataclass(frozen=True)
class Quantity:
    """A number in a text.

    Attributes:
        value: In plain digits, without a trailing ".0"; negative ones with "-".
        unit: A common name of its unit, "" where it has none or one that is not known.
        scale: "million" or the like, as it is written; `value` has it multiplied out.
        digits: The value without its scale.
    """

    value: str
    unit: str = ""
    scale: str = field(default="", compare=False)
    digits: str = field(default="", compare=False)


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
        return frozenset(folding.content_words(said))

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, stemmed."""
        return frozenset(folding.content_words(self.text))

    @cached_property
    def _plain(self) -> str:
        return _NOT_ONLY.sub(" ", " ".join(folding.plain(self.text).split()))

    @cached_property
    def relation(self) -> tuple[str, frozenset[str], frozenset[str]] | None:
        """The first word that relates two sides, with the words of either side."""
        match = _RELATIONS.search(self.text)
        if match is None:
            return None
        left = frozenset(folding.content_words(self.text[: match.start()]))
        right = frozenset(folding.content_words(self.text[match.end() :]))
        if match.group().endswith(("ed", "ght")) and _BY.match(self.text, match.end()):
            left, right = right, left  # the passive
        return folding.stem(match.group().split()[0].casefold()), left - right, right - left


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
    if wanted.scale and folding.stem(wanted.scale) in proof.words:
        # A table's heading has "in millions" above plain numbers.
        same += [q for q in proof.quantities if q.value == wanted.digits]
    # A table's numbers have their unit in the heading.
    return any(q.unit == wanted.unit or not q.unit or not wanted.unit for q in same)


def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers in a text."""
    plain = _LISTED.sub(_apart, _VULGAR.sub(_decimal, _THIN.sub("", text)))
    plain = _TENS.sub(_both, _ONE.sub("1 ", plain))
    spelled = _WORD_NUMBER.sub(lambda match: _NUMBER_WORDS[match[1].casefold()], plain)
    found = []
    for match in _NUMBER.finditer(spelled):
        value, plain_value = _value(match["value"], match["scale"]), _value(match["value"], None)
        unit = (match["before"] or match["unit"] or "").casefold().replace(" ", "")
        sign = "-" if match["sign"] or match["minus"] else ""
        scale = (match["scale"] or "").casefold()
        found.append(Quantity(sign + value, _UNITS.get(unit, ""), scale, sign + plain_value))
    return tuple(found)


def _apart(match: re.Match[str]) -> str:
    return match[0] if _GROUPED.match(match[0]) else match[0].replace(",", ", ")


def _decimal(match: re.Match[str]) -> str:
    return f"{int(match[1] or 0) + unicodedata.numeric(match[2]):.4g}"


def _both(match: re.Match[str]) -> str:
    tens, ones = match[1].casefold(), match[2].casefold()
    return str(int(_NUMBER_WORDS[tens]) + int(_NUMBER_WORDS.get(ones, "1")))


def _value(digits: str, scale: str | None) -> str:
    if _GROUPED.match(digits):
        digits = digits.replace(",", "")
    elif _EUROPEAN.match(digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif digits.count(",") == 1 and "." not in digits:
        digits = digits.replace(",", ".")  # a decimal comma
    whole, _, part = digits.replace(",", "").partition(".")
    if scale and "." not in part:
        shift = _SCALES.get(scale.casefold(), 0)
        part = part.ljust(shift, "0")
        whole, part = whole + part[:shift], part[shift:]
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def names(text: str) -> frozenset[str]:
    """Return the names in a text, folded."""
    found = []
    for start, end in sentences.spans(text):
        sentence = text[start:end]
        first = _FIRST.match(sentence)
        found += _NAME.findall(sentence, first.end() if first else 0)
    folded = (folding.plain(name) for name in found)
    return frozenset(
        name for name in folded if name not in folding.STOP_WORDS and name not in _MONTHS_AND_SUCH
    )


@lru_cache(maxsize=1)
def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        one, other = (folding.stem(folding.plain(word)) for word in pair.split("/"))
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
    return Counter(folding.words(text))


def _turned(claim: Facts, proof: Facts) -> bool:
    """Whether both relate two things by the same word, the other way round."""
    one, other = claim.relation, proof.relation
    if one is None or other is None or one[0] != other[0]:
        return False
    # Words that stand on one side only, such as "in the long run", say nothing of the direction.
    return bool(one[1] & other[2]) and bool(one[2] & other[1])
