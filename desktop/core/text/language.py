"""Which language a question is asked in, by its little words."""

from __future__ import annotations

import re

_LITTLE = {
    "en": "the of and is are was were what which who how why when where does did do in to a an "
    "that it for by from with at as be between than can",
    "fr": "le la les des du un une est sont quel quelle quels quelles que qui comment pourquoi "
    "quand où et dans par pour avec sur ce cette il elle au aux ne pas entre qu d l",
    "de": "der die das den dem des ein eine einer ist sind war waren was wer wie warum wann wo "
    "welche welcher welches und in im zu von mit auf für nicht zwischen als bei",
    "es": "el la los las del un una es son qué que quién cómo por cuándo dónde cuál y en con "
    "para no entre como se al",
    "it": "il lo la i gli le del della un una è sono che chi come perché quando dove quale e in "
    "con per non tra da nel nella",
    "pt": "o a os as do da dos das um uma é são que quem como por quando onde qual e em com para "
    "não entre no na",
}
_WORDS = {code: frozenset(words.split()) for code, words in _LITTLE.items()}
_WORD = re.compile(r"[^\W\d_]+")


def language(text: str) -> str:
    """Return the code of the language most of a text's little words are of; "" where unsure."""
    words = _WORD.findall(text.casefold())
    counts = sorted(((sum(w in known for w in words), code) for code, known in _WORDS.items()))
    (second, _), (first, code) = counts[-2:]
    return code if first > second else ""
