"""The frozen records that flow through Lutrin, from a page to an answer.

They know nothing of files, stores, models or windows. `desktop.core.codec` carries them over a
process boundary or into a database.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass, field
from enum import StrEnum

# decode() reads the hints.
from desktop.core.text.tables import Table  # noqa: TC001

Rect = tuple[float, float, float, float]
"""x0, y0, x1, y1 in PDF points, origin top left, of the page's crop box as displayed."""


class BookStatus(StrEnum):
    """How far a book has come."""

    READING = "reading"  # text is being read; not yet askable
    ASKABLE = "askable"  # text can be searched; vectors are being made
    INDEXED = "indexed"  # everything is done
    PAUSED = "paused"  # stopped by the user; goes on when they say so
    FAILED = "failed"  # `Book.error` says why


class Mode(StrEnum):
    """How a question is answered."""

    RETRIEVAL = "retrieval"
    LONG_CONTEXT = "long-context"
    ADAPTER = "adapter"


class Verdict(StrEnum):
    """How a quoted sentence stands to the sentence of the answer that it proves."""

    VERBATIM = "verbatim"
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"


class Word(typing.NamedTuple):
    """A run of characters that stand together on a page.

    A tuple, since a large book has half a million of them and a dataclass takes three times as
    long to make.

    Attributes:
        start: Offset of its first character in the page's text.
        end: Offset after its last character.
        rect: Where it is drawn.
    """

    start: int
    end: int
    rect: Rect


@dataclass(frozen=True)
class Page:
    """One page as read.

    Attributes:
        number: Physical page, from 1.
        label: What is printed on the page, where the file knows it; else the number.
        text: Words joined by spaces, lines by newlines, blocks by empty lines.
        words: In the order of `text`; empty where the page was loaded from the store.
    """

    number: int
    label: str
    text: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Heading:
    """An entry of the outline.

    Attributes:
        level: Depth, from 1.
        title: Its text.
        page: Physical page, from 1.
        y: Distance from the top of the page in points, where the file knows it.
    """

    level: int
    title: str
    page: int
    y: float | None = None


@dataclass(frozen=True)
class Passage:
    """A piece of one page that is found as a whole.

    Attributes:
        id: `<book>:<page>:<start>`.
        book: Id of the book.
        page: Physical page, from 1.
        page_label: What is printed on the page.
        start: Character offset in the page's text.
        end: Offset after the last character.
        section: Titles from the chapter down, joined by " › "; empty where there is no outline.
        text: The page's text from start to end.
    """

    id: str
    book: str
    page: int
    page_label: str
    start: int
    end: int
    section: str
    text: str


def passage_id(book: str, page: int, start: int) -> str:
    """Return the id of the passage that begins at an offset of a page."""
    return f"{book}:{page}:{start}"


def passage_place(identity: str) -> tuple[str, int, int]:
    """Return book, page and start of a passage from its id; they sort in reading order."""
    book, page, start = identity.rsplit(":", 2)
    return book, int(page), int(start)


@dataclass(frozen=True)
class Hit:
    """A passage that was found.

    Attributes:
        rank: From 1, best first.
        title: The book's title.
        score: From 0 to 1, weighed from several searches; comparable within one search only.
        similarity: Cosine similarity of the question and the nearest window of the passage; None
            where it is not known.
        tables: What the passage has of tables, by offsets in its text.
        found: Where what was found begins and ends in the page's text, where the passage is more.
    """

    rank: int
    passage: Passage
    title: str
    score: float
    similarity: float | None = None
    tables: tuple[Table, ...] = ()
    found: tuple[int, int] | None = None


@dataclass(frozen=True)
class Book:
    """A book in the library.

    Attributes:
        id: SHA-256 of the file's bytes, hexadecimal.
        file: Where it was added from; the library keeps its own copy.
        pages: Number of pages.
        pages_read: Pages whose text is in the store.
        passages: Number of passages.
        passages_embedded: Passages that have a vector.
        warnings: Sentences on what is doubtful in the file.
        error: Why it failed, where it did.
        added: Seconds since the epoch.
    """

    id: str
    title: str
    file: str
    status: BookStatus
    pages: int = 0
    pages_read: int = 0
    passages: int = 0
    passages_embedded: int = 0
    warnings: tuple[str, ...] = ()
    error: str = ""
    added: float = 0.0


@dataclass(frozen=True)
class Citation:
    """A place in a book that proves a sentence of the answer.

    Attributes:
        marker: The number shown in the answer, from 1.
        quote: The sentence of the book.
        start: Offset of the quote in the page's text.
        end: Offset after the quote.
        rects: The quote's words on the page, one rectangle a line.
        score: Share of the answer's sentence that the quote covers, 0 to 1.
    """

    marker: int
    book: str
    title: str
    page: int
    page_label: str
    quote: str
    start: int
    end: int
    verdict: Verdict
    score: float
    rects: tuple[Rect, ...] = ()


@dataclass(frozen=True)
class ContextItem:
    """A piece of a book that was put before the model.

    Attributes:
        tokens: Its length in the model's tokens.
        reused: Whether it was spliced in by its saved KV state instead of prefilled.
    """

    book: str
    title: str
    page: int
    page_label: str
    section: str
    start: int
    end: int
    tokens: int
    score: float
    reused: bool = False


@dataclass(frozen=True)
class LeftOut:
    """Pages that did not fit into the model's window.

    Attributes:
        pages: First and last physical page.
        tokens: Their length in the model's tokens.
    """

    book: str
    pages: tuple[int, int]
    tokens: int


@dataclass(frozen=True)
class Timings:
    """What an answer cost. Seconds, tokens, tokens a second."""

    retrieve_s: float = 0.0
    prefill_s: float = 0.0
    ttft_s: float = 0.0
    total_s: float = 0.0
    prompt_tokens: int = 0
    reused_tokens: int = 0
    generated_tokens: int = 0
    tokens_per_s: float = 0.0


@dataclass(frozen=True)
class Limit:
    """What a question says of where to look, shown as a chip that the user can take away.

    Attributes:
        key: "book", "section", "pages" or "marks".
        label: For people: "Chapter 4 · Elasticity".
    """

    key: str
    label: str


@dataclass(frozen=True)
class Answer:
    """A finished answer.

    Attributes:
        answer: Markdown with markers such as [1].
        abstained: True where the book does not say.
        context: What was put before the model, best first; after an abstention, what is nearest.
        left_out: What did not fit; None where everything did.
        stopped: True where the user stopped it.
        notes: Sentences for the user on how it was answered.
        limits: What the question itself said of where to look.
        unsupported: Sentences of it that no passage proves.
        rounds: How often was searched and written for it.
        confidence: The signs by which it was given or withheld, see `answering.abstention`.
    """

    question: str
    mode: Mode
    model: str
    answer: str
    abstained: bool
    citations: tuple[Citation, ...]
    context: tuple[ContextItem, ...]
    timings: Timings
    left_out: tuple[LeftOut, ...] | None = None
    stopped: bool = False
    notes: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    unsupported: tuple[str, ...] = ()
    rounds: int = 1
    confidence: dict[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Turn:
    """An earlier question of the conversation with its answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Progress:
    """How far a piece of work is.

    Attributes:
        stage: What is being done: "copying", "reading", "embedding", "downloading", ….
        done: Units done.
        total: Units in all; 0 where not known.
        unit: "pages", "passages", "bytes", "tokens".
        seconds_left: Estimate; None where there is none yet.
    """

    stage: str
    done: int
    total: int
    unit: str
    seconds_left: float | None = None


@dataclass(frozen=True)
class Added:
    """What came of adding one file.

    Attributes:
        status: `indexed`, `already`, `failed` or `needs_password`.
        timings: `askable_s` and `total_s`, seconds from the start of adding.
        error: Why it failed.
    """

    status: str
    file: str
    book: Book | None = None
    timings: dict[str, float] = field(default_factory=dict)
    error: str = ""
