"""What a passage is for, by its section's title and its looks.

The passage most like a question is often the same question among a chapter's exercises, or its
entry in the index or in an answer key: they take the place of the text that answers it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache

from desktop.core.documents.outline import SEPARATOR, own_title
from desktop.core.text import sentences

ASKING = 0.4
"""A passage of which this share of sentences or more are questions is an exercise."""
_LISTED = 3
"""So many entries of a bibliography make a passage one."""
_SIDE = re.compile(
    r"^[\W\d]*(?:(?:chapter|appendix|chapitre|annexe|kapitel|anhang)\W*[\dA-Z]*\W+)?(?:"
    r"answers?\b|answer key|(?:selected )?solutions?\b|.*\b(?:questions|exercises|problems)$|"
    r"(?:\w+ )?index(?: of .*)?$|references$|bibliography|works cited|further reading|"
    r"(?:table of )?contents$|"
    r"list of (?:figures|tables)|acknowledge?ments|.*\blicen[sc]e$|"
    r"corrigés?\b|solutions? des\b|réponses\b|exercices\b|bibliographie|table des matières|"
    r"références$|remerciements|"
    r"lösungen\b|antworten\b|aufgaben\b|übungen\b|literatur(?:verzeichnis)?$|inhalt|"
    r"(?:sach|stichwort)?register$|verzeichnis|"
    r"respuestas\b|soluciones\b|ejercicios\b|bibliografía|índice\b|soluzioni\b|esercizi\b)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\b(?:19|20)\d\d[a-z]?\. ")
_CAPTION = (
    r"(?i:^(?:{words}))\s*(?:\d+|[IVXL]+\b|[A-Z]\b)(?:[.\-]\d+)*(?![.\-]?\d)\b"
    r"(?=[\s.:\u2013\u2014-]*(?:[^\Wa-z]|\W?$|[“\"(]))"
)
"""A caption goes on with a title, not with a verb as a sentence on a figure does.

No possessive quantifier stands behind a group: in Python 3.11 such a one now and then fails, here
on "Fig. 3. A" (CPython issue 101955)."""
FIGURE = re.compile(
    _CAPTION.format(words=r"fig(?:ure|\.)|plate|abb(?:ildung|\.)|figura"), re.MULTILINE
)
TABLE = re.compile(_CAPTION.format(words="table|tableau|tabelle|tabla|tabella"), re.MULTILINE)
_GLOSSARY = re.compile(
    r"^[\W\d]*(?:key (?:terms|words)|glossary|definitions?|vocabulary|glossaire|définitions?|"
    r"glossar|begriffe|glosario|glossario)\b",
    re.IGNORECASE,
)
DEFINITION = re.compile(
    r"^(?:definition|définition)\b|"
    r"\b(?:is|are) (?:called|defined (?:as|to be)|known as|termed)\b|\brefers? to\b|"
    r"\bwe (?:call|define)\b|\bby definition\b|"
    r"\b(?:on appelle|est appelée?s?|sont appelée?s|se nomme|est définie?)\b|"
    r"\b(?:nennt man|heißt|wird definiert)\b",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Marks:
    """What stands in a passage.

    Attributes:
        side: Whether it only asks, lists or points: exercises, answer keys, index, references.
        figure: Whether a figure's caption stands in it.
        table: Whether a table's caption stands in it.
        definition: Whether it says what a term means.
    """

    side: bool = False
    figure: bool = False
    table: bool = False
    definition: bool = False


MARKS = tuple(field.name for field in fields(Marks))
"""Their names, which are columns of the index."""


def marks(section: str, text: str) -> Marks:
    """Return what stands in a passage.

    Args:
        section: Titles from the chapter down, as in `Passage.section`.
        text: The passage's text.
    """
    titles = section.split(SEPARATOR)
    return Marks(
        side=any(map(is_side, titles)) or asks(text) or _lists(text),
        figure=bool(FIGURE.search(text)),
        table=bool(TABLE.search(text)),
        definition=is_glossary(section) or bool(DEFINITION.search(text)),
    )


def asks(text: str) -> bool:
    """Whether a passage mainly asks."""
    if "?" not in text and "？" not in text:
        return False
    pieces = [text[start:end] for start, end in sentences.spans(text)]
    # Lone numbers and headings are no sentences.
    whole = [piece for piece in pieces if piece.count(" ") >= 3]
    questions = sum(piece.rstrip("”\"')").endswith(("?", "？")) for piece in whole)
    return bool(whole) and questions / len(whole) >= ASKING


@lru_cache(maxsize=4096)
def is_side(title: str) -> bool:
    """Whether a section's title is that of exercises, an answer key, an index or the like."""
    return bool(_SIDE.match(title))


def is_glossary(section: str) -> bool:
    """Whether a section says what terms mean, one after the other."""
    return bool(_GLOSSARY.match(own_title(section)))


def _lists(text: str) -> bool:
    return len(_ENTRY.findall(text)) >= _LISTED
