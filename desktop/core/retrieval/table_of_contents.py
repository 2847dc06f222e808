"""A book's outline as it can be asked after: chapters and sections by number or by title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.documents.outline import SEPARATOR
from desktop.core.documents.section_kind import is_side
from desktop.core.errors import UserFacingError
from desktop.core.text.normalisation import content_words, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.records import Book

Number = tuple[int | str, ...]
"""Of a section: (4,), (4, 2), ("B",); empty where it has none."""

_KINDS = {
    "chapter": "chapter chap ch chapitre kapitel capitulo capitolo lesson lecon",
    "part": "part partie teil parte",
    "appendix": "appendix appendices annexe appendice anhang",
    "section": "section sec abschnitt seccion sezione",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
KIND_WORDS = "|".join(sorted([*_KIND_OF, "chapître", "leçon", "capítulo"], key=len, reverse=True))
"""Words for a part of a book, for a regular expression."""
_TITLE = re.compile(
    rf"\W*(?:(?P<kind>(?i:{KIND_WORDS}))\b\.?\s*)?"
    r"(?P<number>\d{1,4}(?:\.\d{1,4})*|[IVXL]{1,7}|[ivxl]{1,7}|[A-Z](?:\.\d{1,3})*)"
    r"(?![^\W_])(?P<rest>.*)",
    re.DOTALL,
)
_ROMAN = re.compile(r"(?=[ivxl])(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_LOOSE_PART = re.compile(
    r"\W*(?:(?:book|livre|volume|unit|unite|period)\s+[\divxl]+\b|"
    r"(?:\w+)\s+(?:period|part|partie|periode|book|unit)\b)",
)
_FURNITURE = re.compile(
    r"\W*(?:(?:table of )?contents$|preface|foreword|list of |index$|about (?:the )?authors?|"
    r"(?:front|back) ?matter|cover$|title page|copyright|dedication|.*\bboilerplate|glossary$|"
    r"note$|avant[- ]propos|sommaire$|couverture|remerciements|vorwort|prologo)"
)
_WORDS = (
    "one first un une premier premiere",
    "two second deux deuxieme seconde",
    "three third trois troisieme",
    "four fourth quatre quatrieme",
    "five fifth cinq cinquieme",
    "six sixth sixieme",
    "seven seventh sept septieme",
    "eight eighth huit huitieme",
    "nine ninth neuf neuvieme",
    "ten tenth dix dixieme",
    "eleven eleventh onze onzieme",
    "twelve twelfth douze douzieme",
)
_VALUES = {word: value for value, words in enumerate(_WORDS, start=1) for word in words.split()}
NUMBER_WORDS = "|".join([*_VALUES, "première", "deuxième", "troisième", "quatrième", "cinquième"])
"""Words for numbers, for a regular expression."""
_LEAD = " \t\n.:|)–—-"
"""What stands between a number and the title."""
_SHOWN = 12


@dataclass(frozen=True)
class Section:
    """An entry of a book's outline.

    Attributes:
        path: Titles from the top down.
        first: First physical page.
        last: Last physical page.
        kind: What the title calls it: "chapter", "part", "appendix", "section" or "".
        number: As in the title; empty where there is none.
        roman: Whether the number is written in Roman numerals.
        rest: The title without kind and number.
        aside: Whether it stands below an answer key, an index and the like, or is one.
    """

    path: tuple[str, ...]
    first: int
    last: int
    kind: str
    number: Number
    roman: bool
    rest: str
    aside: bool

    @property
    def title(self) -> str:
        """Return its own title."""
        return self.path[-1]


class Outline:
    """The outline of a book.

    Args:
        section_pages: Section path and page of each passage, in reading order.
    """

    def __init__(self, section_pages: Iterable[tuple[str, int]]) -> None:
        ranges: dict[tuple[str, ...], list[int]] = {}
        self._paths: dict[str, tuple[str, ...]] = {}
        for text, page in section_pages:
            path = tuple(text.split(SEPARATOR)) if text else ()
            self._paths[text] = path
            for depth in range(1, len(path) + 1):
                pages = ranges.setdefault(path[:depth], [page, page])
                pages[0], pages[1] = min(pages[0], page), max(pages[1], page)
        lettered = _lettered(list(ranges))
        self.sections = [
            _section(path, first, last, lettered=path in lettered)
            for path, (first, last) in ranges.items()
        ]
        self._children: dict[tuple[str, ...], list[Section]] = {}
        for section in self.sections:
            self._children.setdefault(section.path[:-1], []).append(section)
        self.parts: list[Section] = []
        self.chapters = list(self._expand((), 3))

    def children(self, path: tuple[str, ...] = ()) -> list[Section]:
        """Return the entries right below one, or the top level."""
        return self._children.get(path, [])

    def within(self, section: Section) -> tuple[str, ...]:
        """Return the paths, as in `Passage.section`, at and below a section."""
        depth = len(section.path)
        return tuple(text for text, path in self._paths.items() if path[:depth] == section.path)

    def inside(self, texts: Collection[str]) -> list[Section]:
        """Return the entries with some paths, as `within` gives them, or with no text elsewhere."""
        inner = {path for text, path in self._paths.items() if text in texts}
        others = set(self._paths.values()) - inner
        above = {path[:depth] for path in others for depth in range(1, len(path) + 1)}
        return [s for s in self.sections if s.path in inner or s.path not in above]

    def numbered(self, name: str, kind: str = "") -> Section | None:
        """Return the entry that has a number, or whose place it is where none has one.

        Args:
            name: "4", "4.2", "IV", "B", "four" or "fourth".
            kind: "chapter", "part", "appendix", "section", or "" for any of them.
        """
        number = parse_number(name, letters=kind in ("", "appendix"))
        if not number:
            return None
        parts = {part.path for part in self.parts}
        found = [s for s in self.sections if s.number == number and not s.aside]
        if kind == "part" or (kind == "" and not name.strip()[:1].isdigit()):
            known = [s for s in found if s.path in parts or s.kind == "part"]
            if known:
                return known[0]
        if kind == "part":
            return _nth([p for p in self.parts if _LOOSE_PART.match(plain(p.title))], number)
        if kind == "appendix":
            found = [s for s in found if s.kind == kind or isinstance(number[0], str)]
        elif kind == "chapter":
            found = [s for s in found if len(number) == 1 and s.kind in ("", kind, "section")]
        found = [s for s in found if s.path not in parts]
        if found:
            same = [s for s in found if kind and s.kind == kind] or found
            return min(same, key=lambda s: (s.roman, len(s.path)))
        return None if kind == "appendix" else self._counted(number)

    def _counted(self, number: Number) -> Section | None:
        """Return the chapter that has its number by its place, or a section of it."""
        plain_chapters = [s for s in self.chapters if s.kind != "appendix"]
        if any(s.number for s in plain_chapters):
            return None
        found = _nth(plain_chapters, number[:1])
        for value in number[1:]:
            below = self.children(found.path) if found else []
            found = None if any(s.number for s in below) else _nth(below, (value,))
        return found

    def titled(self, words: str, kind: str = "") -> Section | None:
        """Return the one section, as near the top as can be, whose title has all the words."""
        wanted = set(content_words(words))
        known = [s for s in self.sections if not s.aside and wanted <= set(content_words(s.title))]
        if kind == "appendix":
            known = [s for s in known if s.kind == kind or isinstance((*s.number, 0)[0], str)]
        elif kind == "chapter":
            chapters = {s.path for s in self.chapters}
            known = [s for s in known if s.path in chapters] or known
        top = min((len(s.path) for s in known), default=0)
        best = [s for s in known if len(s.path) == top]
        return best[0] if wanted and len(best) == 1 else None

    def label(self, section: Section) -> str:
        """Return what a section is called for people, such as "Chapter 5 · Elasticity"."""
        number = ".".join(str(value) for value in section.number)
        kind = section.kind
        if not kind and section.path in {s.path for s in self.parts}:
            kind = "part"
        if not kind:
            letter = bool(section.number) and isinstance(section.number[0], str)
            dotted = len(section.number) > 1
            kind = "appendix" if letter else "section" if dotted else "chapter"
            if not number and section in self.chapters:
                number = str(self.chapters.index(section) + 1)
        if not number:
            return section.title
        return f"{kind.capitalize()} {number}" + (f" · {section.rest}" if section.rest else "")

    def _expand(self, path: tuple[str, ...], depth: int) -> Iterator[Section]:
        """Yield the chapters below a path; what only holds chapters becomes a part."""
        entries = [s for s in self.children(path) if not s.aside]
        only = entries[0] if len(entries) == 1 and depth else None
        if only and len(self._inner(only)) > 1 and self._is_wrapper(only):
            yield from self._expand(only.path, depth - 1)
            return
        counted = self._carry_on(entries)
        for entry in entries:
            if depth and self._is_part(entry, counted=counted):
                self.parts.append(entry)
                yield from self._expand(entry.path, depth - 1)
            else:
                yield entry

    def _inner(self, section: Section) -> list[Section]:
        return [s for s in self.children(section.path) if not s.aside]

    def _is_wrapper(self, section: Section) -> bool:
        """Whether the only entry of a level is but the book's title over its chapters."""
        return not section.number and any(self._inner(s) for s in self._inner(section))

    def _carry_on(self, entries: Sequence[Section]) -> bool:
        """Whether numbers below some entries go on from one to the next, as chapters' do."""
        runs = [[s.number[0] for s in self._inner(e) if len(s.number) == 1] for e in entries]
        values = [value for run in runs for value in run if isinstance(value, int)]
        if len([run for run in runs if run]) < 2:
            return False
        return values == sorted(set(values))

    def _is_part(self, section: Section, *, counted: bool) -> bool:
        inner = self._inner(section)
        if not inner or section.kind == "chapter" or (section.number and not section.roman):
            return section.kind == "part" and bool(inner)
        if section.kind == "part" or _LOOSE_PART.match(plain(section.title)):
            return True
        if counted and any(len(s.number) == 1 for s in inner):
            return True
        # Roman numerals over chapters that have no number, but sections of their own.
        return section.roman and any(self._inner(s) for s in inner if not s.number)


def outline(catalog: Catalog, book: str) -> Outline:
    """Return the outline of a book."""
    return Outline(catalog.section_pages(book))


def chapter(catalog: Catalog, book: Book, name: str) -> tuple[int, int]:
    """Return the first and last page of a chapter or section.

    Args:
        catalog: Where the book's sections are.
        book: The book.
        name: A number ("4", "4.2", "IV"), or a title or a part of it.

    Raises:
        UserFacingError: if the book has no such chapter.
    """
    entries = outline(catalog, book.id)
    wanted = " ".join(name.casefold().split())
    titled = [s for s in entries.sections if s.title.casefold() == wanted]
    found = min(titled, key=lambda s: len(s.path)) if titled else _named(entries, wanted)
    if found is not None:
        return found.first, found.last
    titles = [section.title for section in entries.children()]
    known = "; ".join(titles[:_SHOWN]) + ("; …" if len(titles) > _SHOWN else "")
    raise UserFacingError(
        f"“{book.title}” has no chapter “{name}”",
        f"Name one of these, or use --pages: {known or 'it has no table of contents'}",
    )


def kind_of(word: str) -> str:
    """Return "chapter", "part", "appendix" or "section" for a word that names one, else ""."""
    return _KIND_OF.get(plain(word), "")


def parse_number(name: str, *, letters: bool = False) -> Number:
    """Return the number that a text is, in digits, Roman numerals or words; () where it is none."""
    text = plain(name).strip(" .")
    if re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,4})*", text):
        return tuple(int(value) for value in text.split("."))
    if text in _VALUES:
        return (_VALUES[text],)
    if _ROMAN.fullmatch(text):
        values = [_ROMAN_VALUES[letter] for letter in text]
        signed = [-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True)]
        return (sum(signed),)
    if letters and re.fullmatch(r"[a-z](?:\.[0-9]{1,3})*", text):
        letter, *below = text.split(".")
        return (letter.upper(), *(int(value) for value in below))
    return ()


def _lettered(paths: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the entries at the top that are lettered without a sign: "A Data", "B Writing"."""
    found = [path for path in paths if len(path) == 1 and re.match(r"[A-Z] +[^\W\d_]", path[0])]
    letters = "".join(path[0][0] for path in found)
    return set(found) if len(found) > 1 and letters in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" else set()


def _section(path: tuple[str, ...], first: int, last: int, *, lettered: bool) -> Section:
    title = path[-1]
    aside = any(is_side(t) or bool(_FURNITURE.match(plain(t))) for t in path)
    match = _TITLE.match(title)
    kind = _KIND_OF.get(plain(match["kind"]), "") if match and match["kind"] else ""
    text = match["number"] if match else ""
    if match and not (kind or lettered or _stands_alone(text, match["rest"])):
        text = ""
    number = parse_number(text, letters=True) if text else ()
    if lettered:
        number = (text,)
    roman = bool(number) and not text[0].isdigit() and isinstance(number[0], int)
    rest = match["rest"].strip(_LEAD) if match and number else title
    return Section(path, first, last, kind if number else "", number, roman, rest, aside)


def _stands_alone(number: str, rest: str) -> bool:
    """Whether a number without "Chapter" before it is one: not in "A Short Account", "I'm"."""
    if number[0].isdigit():
        return len(number.split(".")[0]) < 4
    if not number[0].isupper() or "." in number:
        return number[0].isupper()
    after = rest.lstrip()[:1]
    return after in _LEAD or (rest[:1].isspace() and bool(_ROMAN.fullmatch(number.lower())))


def _nth(sections: Sequence[Section], number: Number) -> Section | None:
    place = number[0] if len(number) == 1 else 0
    return sections[place - 1] if isinstance(place, int) and 0 < place <= len(sections) else None


def _named(entries: Outline, wanted: str) -> Section | None:
    match = re.fullmatch(rf"(?:({KIND_WORDS})\b\.?\s*)?(.+)", wanted)
    kind = _KIND_OF.get(plain(match[1]), "") if match and match[1] else ""
    number = parse_number(match[2], letters=kind == "appendix") if match else ()
    if match and number:
        found = entries.numbered(match[2], kind)
        if found is not None:
            return found
    if not wanted:
        return None
    end = r"(?!\w|\.\d)" if number else ""
    begins = re.compile(rf"(?<![\w.]){re.escape(wanted)}{end}")
    found_all = [s for s in entries.sections if begins.search(s.title.casefold())]
    return min(found_all, key=lambda s: len(s.path)) if found_all else None
