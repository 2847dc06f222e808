"""Numbers in a text, in digits, words or fractions, with their units and signs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

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
