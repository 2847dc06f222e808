"""Which passages an answer is made from, and what shows that there are none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from desktop.core.library.search_filter import EVERYWHERE, SearchFilter
from desktop.core.records import Hit, passage_place
from desktop.core.retrieval import query_parsing, search
from desktop.core.text import normalisation

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from desktop.core.library.catalog import Catalog
    from desktop.core.library.library import Library

PASSAGES = 3
"""Passages put before the model: with more, the small models mix them up, and each costs two to
three seconds before the first word."""
PAGE_WORDS = 450
"""Most words of the best passage together with what stands around it on its page. On the test
books' plain questions the sentence that answers is then read for 0.88 of them, and for 0.83 with
five passages as they are, which is as long."""
MOST_COMPARED = 3
"""Books that "the books" may mean; of more the passages would be too few to compare."""
_BOOKS = re.compile(r"\b(?:(?:both|these|those|the|all|two) books|les (?:deux )?livres)\b", re.I)
_COMPARES = re.compile(
    r"\b(?:books?|compare[ds]?|differs?|differen\w+|both|unlike|whereas|versus|vs|agree|disagree|"
    r"livres?|compar\w+|diff\u00e8re\w*|diff\u00e9ren\w+)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[^.?!:\s] )[A-Z\u00c0-\u00de][^\W\d_]{2,}")


def gather(
    library: Library,
    question: str,
    *,
    where: SearchFilter = EVERYWHERE,
    limit: int = PASSAGES,
    skip: Collection[str] = (),
) -> list[Hit]:
    """Return the passages to answer from, best first; see `search.find`.

    Where books are compared, each of them has its say. The best passage brings along what stands
    around it on its page. Passages with an id in `skip` are left out.
    """
    best = _best(library, question, where, limit + len(skip))
    kept = [hit for hit in best if hit.passage.id not in skip][:limit]
    return with_page(library.catalog, kept, where.sections)


def _best(library: Library, question: str, where: SearchFilter, limit: int) -> list[Hit]:
    compared = _compared(library, question, where)[:limit]
    if len(compared) < 2:
        return search.find(library, question, where=where, limit=limit)
    each = [
        search.find(library, question, where=replace(where, books=(book,)), limit=limit)
        for book in compared
    ]
    return [hit for row in zip_longest(*each) for hit in row if hit is not None][:limit]


def with_page(
    catalog: Catalog, hits: Sequence[Hit], sections: Collection[str] | None = None
) -> list[Hit]:
    """Return passages as they come, the best one with as much of its page as may be.

    Args:
        catalog: Where the pages are.
        hits: What was found, best first.
        sections: Paths of the sections to stay in; None is any.
    """
    if not hits:
        return []
    best = hits[0].passage
    page = catalog.page(best.book, best.page)
    around = catalog.passages_on(best.book, best.page)
    first = last = next((n for n, p in enumerate(around) if p.id == best.id), -1)
    if page is None or first < 0:
        return list(hits)
    words = len(best.text.split())
    for n in sorted(range(len(around)), key=lambda n: abs(n - first)):
        more = words + len(around[n].text.split())
        beside = n in (first - 1, last + 1) and more <= PAGE_WORDS
        if beside and (sections is None or around[n].section in sections):
            first, last, words = min(first, n), max(last, n), more
    if first == last:
        return list(hits)
    start, end = around[first].start, around[last].end
    whole = replace(best, start=start, end=end, text=page.text[start:end])
    return [replace(hits[0], passage=whole, found=(best.start, best.end)), *hits[1:]]


def _compared(library: Library, question: str, where: SearchFilter) -> list[str]:
    """Return the ids of the books that a question compares: those it names, or all of a few."""
    ready = search.searchable(library, where.books)
    if len(ready) < 2:
        return []
    asked = set(normalisation.content_words(question))
    titles = {book.id: set(normalisation.content_words(book.title)) for book in ready}
    counts = Counter(word for words in titles.values() for word in words)
    own = {book: {w for w in words if counts[w] == 1} for book, words in titles.items()}
    named = [book for book, words in own.items() if words & asked]
    if len(named) > 1 and _COMPARES.search(question):
        return named
    return list(titles) if _BOOKS.search(question) and len(titles) <= MOST_COMPARED else []


def from_start(library: Library, where: SearchFilter, *, limit: int = PASSAGES) -> list[Hit]:
    """Return the first passages of a part of the library, for a question that asks for it all."""
    titles = {book.id: book.title for book in search.searchable(library, where.books)}
    ids = library.store.list_passages(where)
    chosen = sorted(ids, key=passage_place)[:limit]
    passages = library.catalog.passages_by_id(chosen)
    return [
        Hit(rank, passages[identity], titles[passages[identity].book], score=1 / rank)
        for rank, identity in enumerate(chosen, start=1)
        if identity in passages and passages[identity].book in titles
    ]


def absent_names(
    library: Library, question: str, *, where: SearchFilter = EVERYWHERE
) -> tuple[str, ...]:
    """Return the names in a question that occur nowhere in the books.

    A question about somebody or something that a book never names is not answered by it, yet a
    small model answers it from the passages that come nearest. A name is a word with a capital
    that does not begin a sentence; where most words have one, none is taken for a name. A name
    that is only spelt a little differently occurs.
    """
    question = query_parsing.without_book(question)
    words = question.split()
    capital = [word for word in words if word[:1].isupper()]
    if len(capital) > max(2, len(words) / 2):
        return ()
    ready = search.searchable(library, where.books)
    titles = " ".join(book.title for book in ready).casefold()
    where = SearchFilter(tuple(book.id for book in ready))
    names = dict.fromkeys(_NAME.findall(question))
    return tuple(
        name
        for name in names
        if name.casefold() not in titles and not library.store.mentions(name, where)
    )
