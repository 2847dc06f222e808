"""Which of the passages found may hold an answer: those that say something.

The passage most like a question is often the same question among a chapter's exercises, which
takes the place of one that answers it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from desktop.core.documents import sentences
from desktop.core.records import Hit
from desktop.core.retrieval import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.library.library import Library

PASSAGES = 5
"""Passages put before the model: with more, the small models mix them up, and each costs two to
three seconds before the first word."""
_NAME = re.compile(r"(?<=[^.?!:\s] )[A-Z\u00c0-\u00de][^\W\d_]{2,}")
ASKING = 0.4
"""A passage of which this share of sentences or more are questions is an exercise."""


def gather(
    library: Library,
    question: str,
    *,
    books: Sequence[str] | None = None,
    pages: tuple[int, int] | None = None,
    limit: int = PASSAGES,
) -> list[Hit]:
    """Return the passages to answer from, best first; exercises only where there is nothing else.

    See `search.find` for the arguments and errors.
    """
    found = search.find(library, question, books=books, pages=pages, limit=2 * limit)
    saying = [hit for hit in found if not asks(hit.passage.text)]
    rest = [hit for hit in found if asks(hit.passage.text)]
    chosen = [*saying, *rest][:limit]
    return [
        Hit(rank, hit.passage, hit.title, hit.score, hit.similarity)
        for rank, hit in enumerate(chosen, start=1)
    ]


def absent_names(
    library: Library, question: str, *, books: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the names in a question that occur nowhere in the books.

    A question about somebody or something that a book never names is not answered by it, yet a
    small model answers it from the passages that come nearest. A name is a word with a capital
    that does not begin a sentence; where most words have one, none is taken for a name.
    """
    from desktop.core.library.store import Where

    words = question.split()
    capital = [word for word in words if word[:1].isupper()]
    if len(capital) > max(2, len(words) / 2):
        return ()
    ready = search.searchable(library, books)
    titles = " ".join(book.title for book in ready).casefold()
    where = Where(tuple(book.id for book in ready))
    names = dict.fromkeys(_NAME.findall(question))
    return tuple(
        name
        for name in names
        if name.casefold() not in titles and not library.store.search_text(name, where, limit=1)
    )


def asks(text: str) -> bool:
    """Whether a passage mainly asks."""
    pieces = [text[start:end] for start, end in sentences.spans(text)]
    # Lone numbers and headings are no sentences.
    whole = [piece for piece in pieces if piece.count(" ") >= 3]
    questions = sum(piece.rstrip("”\"')").endswith(("?", "？")) for piece in whole)
    return bool(whole) and questions / len(whole) >= ASKING
