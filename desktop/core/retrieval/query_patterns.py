"""How questions name parts of a book, its pages and its lists: rules over their words alone."""

from __future__ import annotations

import re

from desktop.core.retrieval import table_of_contents

THE = r"(?:(?:the|this|my|our|your|whole|entire|ce|cet|cette|le|la|les)\s+|l['\u2019])"
_BOOKS = (
    r"(?:book|textbook|text|document|paper|pdf|manual|course|livre|manuel|texte|ouvrage|cours)s?"
)
_OWN = (
    rf"(?:\s+(?:(?:of|in|from|de|dans|\u00e0)\s+{THE}+|(?:du|au|des)\s+){_BOOKS}\b"
    r"(?!['\u2019]s\b)|\s+(?:of|in|de)\s+(?:this|ce|cette)\s+(?:chapter|section|chapitre)\b)?"
)
"""Follows a place: "of the book"."""
_IN = (
    r"\b(?:in|from|of|within|throughout|inside|between|does|do|dans|du|des|de|aux?|en|entre)\s+"
    rf"{THE}?"
)
_WORD = rf"(?:{table_of_contents.NUMBER_WORDS})\b"
_NUMBER = rf"(?:(?-i:\d{{1,3}}(?:\.\d{{1,3}})*|[IVXL]{{1,7}}\b|[A-Z]\b)|{_WORD})"
_AND = r"(?:\s*,?\s+(?:and|et|or|ou|to|through|\u00e0)\s+|\s*[&\u2013\u2014-]\s*)"
SECTION = re.compile(
    rf"(?:{_IN}|\b{THE})?\b(?P<kind>{table_of_contents.KIND_WORDS})(?P<several>s|(?<=appendices))?\.?"
    r"\s+(?:number\s+|n[o°]\s*)?"
    rf"(?P<number>{_NUMBER}|(?<=appendix )[b-z]\b|(?<=annexe )[b-z]\b)"
    rf"(?P<more>(?(several)(?:(?:\s*,\s*{_NUMBER})*{_AND}{_NUMBER})?"
    rf"|(?:\s+(?:and|et|to|\u00e0)\s+\d{{1,3}}(?:\.\d{{1,3}})*)?))(?![\w.-]*\d)\b{_OWN}",
    re.IGNORECASE,
)
ORDINAL = re.compile(
    rf"(?:{_IN}|\b(?:comparer?|and|et|with|avec)\s+{THE}?)(?P<number>{_WORD})"
    rf"(?P<more>\s+(?:and|et)\s+{THE}?{_WORD})?\s+(?P<kind>{table_of_contents.KIND_WORDS})(?(more)s?)\b{_OWN}",
    re.IGNORECASE,
)
NESTED = re.compile(
    r"\bsection\s+(?P<section>\d+)\s+(?:of|in|du|dans le)\s+(?:chapter|chapitre)\s+"
    r"(?P<in>\d+)\b(?!\.\d)"
    r"|\b(?:chapter|chapitre)\s+(?P<chapter>\d+),?\s+section\s+(?P<below>\d+)\b(?!\.\d)",
    re.IGNORECASE,
)
NUMBERS = re.compile(rf"\b(?:{_NUMBER}|[b-z]\b)", re.IGNORECASE)
SAID = re.compile(
    rf"\d{{1,5}}(?:\.\d{{1,3}})*|\b(?:(?!I\b)[IVXL]+\b|(?i:(?<=chapter )[ivxl]+\b|{_WORD}))"
)
"""The pronoun "I" is no number."""
RANGE = re.compile(r"\s*(?:to|through|\u00e0|[\u2013\u2014-])\s*", re.IGNORECASE)
LONGEST_RANGE = 100
_DASH = r"\s*(?:-|\u2013|\u2014|to|and|through|\u00e0|et)\s*"
PAGES = re.compile(
    r"(?:\b(?:on|from|at|in|of|does|between|sur|\u00e0|aux?|des?|dans|entre)\s+"
    rf"{THE}?(?:pages?|pp?\.)|\b(?:pages?|pp\.))\s*"
    rf"(?P<first>\d{{1,5}})(?:{_DASH}{THE}?(?:page\s+)?(?P<last>\d{{1,5}}))?\b(?!\s*%){_OWN}",
    re.IGNORECASE,
)
_PLACE = rf"(?:{table_of_contents.KIND_WORDS}|page)s?\b"
OF_ANOTHER = re.compile(
    rf"\s+(?:(?:of|de|du|des)\s++|d['\u2019])"
    rf"(?!{THE}*(?:same\s+)?(?:{_WORD}\s+)?(?:{_PLACE}|\d|it\b))"
    r"|\s+(?:bankruptc|filing|petition|debtor|creditor|protection|proceeding|reorgani[sz]|"
    r"liquidation|case|housing|voucher|tariff|immunity|claim|investigation|violation)",
    re.IGNORECASE,
)
"""Follows a place in something else: "section 2 of the Sherman Act", "Chapter 11 bankruptcy"."""
OF_A_LAW = re.compile(r"\b(?:under|fil(?:e|es|ed|ing)(?:\s+for)?|declare[sd]?)\s*$", re.IGNORECASE)

_BOOK_PHRASE = (
    r"(?:{start})(?:the\s+|le\s+|la\s+)?"
    r"(?:(?:book|livre)\s+(?P<after>[^,:;?]{{2,60}}?)"
    r"|(?P<before>(?:(?!\b(?:in|from|dans|selon)\b)[^,:;?]){{2,60}}?)\s+"
    r"(?:book|textbook|livre|paper|article))(?:\s+(?:only|seulement|uniquement))?"
    r"(?=\s*[,.:;?]|\s*$"
    r"|\s+(?:what|how|why|who|when|where|which|about|says?|explains?|covers?|sur)\b)"
)
FROM = r"in|from|according to|dans|selon|d.apr\u00e8s"
IN_BOOK = re.compile(_BOOK_PHRASE.format(start=rf"\b(?:{FROM})\s+"), re.IGNORECASE)
OF_BOOK = re.compile(
    _BOOK_PHRASE.format(start=rf"^\W*(?=(?:book|livre)\b)|\b(?:{FROM}|of|du|de|does|dit)\s+"),
    re.IGNORECASE,
)
ARTICLE = re.compile(rf"^\W*(?:an?\s+|{THE})", re.IGNORECASE)

_LISTS = {
    "contents": r"(?:(?:main|different|all)\s+)*(?:chapters|sections|topics|contents"
    r"|table of contents|chapitres|table des mati\u00e8res|sommaire)",
    "figures": r"(?:figures|illustrations|diagrams)",
    "tables": r"(?:tables|tableaux)",
    "definitions": r"(?:definitions|defined terms|d\u00e9finitions)",
}
_ALL = r"(?:(?:all|of|the|toute?s?|tous|les|la|des)\s+)*"
_ORDER = (
    r"^\W*(?:(?:please|can|could|you)\s+)*(?:(?:list|show|give|name|find|montre[rz]?|donne[rz]?"
    rf"|liste[rz]?|cite[rz]?)(?:\s+(?:me|us)|-moi)?\s+)?"
    rf"(?:(?:(?:a|the|la)\s+)?liste?\s+(?:of|des)\s+)?{_ALL}"
)
_QUESTION = (
    r"^\W*(?:what['\u2019]s|(?:what|which|quel(?:le)?s?)(?:\s+(?:are|is|sont|est))?|how\s+many"
    rf"|combien)\s+(?:de\s+)?{_ALL}"
)
_WHOLE = (
    rf"(?:(?:of|in|from|for|de|dans)\s+)?{THE}+{_BOOKS}|(?:du|au)\s+{_BOOKS}|"
    r"(?:does|has)\s+it(?:\s+have)?|y\s+a[-\s]t[-\s]il|are|is|there|does|do|has|have|contains?|"
    r"covers?|covered|discussed|contained|in|for\s+me|sont|contient|compte|a|il|please"
)
"""Words after the name of a list that ask for all of it."""
_ABOUT = "about|showing|that show|related to|concerning|concernant|li\u00e9e?s \u00e0"
LISTINGS = [
    (
        name,
        re.compile(
            rf"{start}(?:{words})\b(?:\W*\b(?:{_WHOLE})\b)*\W*"
            rf"(?:$|(?P<subject>(?:{about})\s+{THE}?(?P<of>.*)$))",
            re.IGNORECASE | re.DOTALL,
        ),
    )
    for name, words in _LISTS.items()
    # "What are the figures on unemployment" asks for numbers.
    for start, about in ((_ORDER, f"{_ABOUT}|on|sur"), (_QUESTION, _ABOUT))
]
NOTHING_LEFT = re.compile(
    r"\W*(?:(?:what|what['\u2019]s|how|is|are|does|do|in|it|about|covered|says?|contains?|"
    r"discuss|covers?|treats?|summari[sz]e|summary|overview|give|tell|me|us|a|an|short|brief|the|of|"
    r"explain|please|can|could|you|compare|contrast|differs?|differences?|different|similarit(?:y|ies)|between|"
    r"from|with|to|and|qu['\u2019]y|a[-\s]t[-\s]il|de|quoi|parle(?:nt)?|traite(?:nt)?|"
    r"r\u00e9sume[rz]?|r\u00e9sum\u00e9|que|contien(?:nen)?t|di(?:t|sent)|le|la|les|un|et|entre|compare[rz]?|"
    r"quelles?|sont|est|diff\u00e9rences?|diff\u00e8re(?:nt)?)\b\W*)*",
    re.IGNORECASE,
)
CONTENTS_OF = re.compile(
    r"\W*(?:what(?:['\u2019]s|\s+is|\s+are)(?:\s+(?:in|covered))*|what\s+contains?|"
    r"que\s+contien(?:nen)?t|qu['\u2019]y\s+a[-\s]t[-\s]il)(?:\s+(?:le|la|les))?\W*",
    re.IGNORECASE,
)
_POLITE = r"please|s['\u2019]il (?:te|vous) pla\u00eet|svp"
LEADING = re.compile(
    rf"^(?:[\s,;:]|(?:{_POLITE}|and|et)\b"
    r"|(?:in|from|of|on|at|dans|de|du)\b(?=\s*(?:[,;:.?!]|$)))+",
    re.IGNORECASE,
)
TRAILING = re.compile(
    rf"(?:[\s,;:]|(?<![-\w])(?:{_POLITE}|in|from|of|on|at|and|dans|de|du|des|et)\b|{_OWN})+"
    r"(?=[.?!\s]*$)",
    re.IGNORECASE,
)
_PLACE_WORD = r"(?:chapters?|sections?|pages?|p\.|appendix|chapitres?|annexes?|kapitel|seiten?)"
_PLACED = (
    rf"(?:\d+|{table_of_contents.NUMBER_WORDS}|last|next|previous|final|beginning|end|"
    "dernier|dernière)"
)
SUSPECT = re.compile(
    rf"\b{_PLACE_WORD}\b.{{0,24}}\b{_PLACED}\b|\b{_PLACED}\b.{{0,12}}\b{_PLACE_WORD}\b|"
    r"^\W*(?:list|show|give|find|name|enumerate|collect|gather|donne[rz]?|montre[rz]?|liste[rz]?)\b"
    r".*\b(?:figures|tables|diagrams|drawings|pictures|definitions|tableaux|d\u00e9finitions)\b",
    re.IGNORECASE,
)
ASKS_FOR_A_PLACE = re.compile(
    r"\b(?:which|what|quel(?:le)?s?|welche[srn]?)\s+(?:chapters?|sections?|pages?|chapitres?)\b",
    re.IGNORECASE,
)
"""Asks for a place; that is found by likeness."""
MARK_OF = {"figures": "figure", "tables": "table", "definitions": "definition"}
_FIELDS = (
    r'"{\"list\": \"" list "\", \"chapter\": \"" chapter "\", \"first_page\": " page',
    r'", \"last_page\": " page ", \"about\": \"" about "\"}"',
)
GRAMMAR = "\n".join(
    (
        "root ::= " + " ".join(_FIELDS),
        'list ::= "none" | "contents" | "figures" | "tables" | "definitions"',
        "chapter ::= [0-9.]{0,8}",
        'page ::= "0" | [1-9] [0-9]{0,4}',
        r'about ::= [^"\\\x00-\x1f]{0,80}',
    )
)
"""What a language model may answer when it is asked what a question says of where to look, in
llama.cpp's GBNF; 0 is no page."""
