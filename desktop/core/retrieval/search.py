"""Finding passages: full text and vectors, fused by reciprocal rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.records import BookStatus, Hit
from desktop.core.retrieval.fusion import reciprocal_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.library.library import Library
    from desktop.core.records import Book

CANDIDATES = 60
"""Passages taken from each ranking; the fused list is cut to what is asked for."""


def searchable(library: Library, books: Sequence[str] | None = None) -> list[Book]:
    """Return the books that can be asked, of those given (None: of all).

    Raises:
        UserFacingError: if there is none, with the reason.
    """
    there = library.catalog.books()
    chosen = [book for book in there if books is None or book.id in books]
    ready = [book for book in chosen if _askable(book)]
    if ready:
        return ready
    if chosen:
        raise UserFacingError(
            "The book is still being read", "Wait some seconds; if it was interrupted, add it again"
        )
    raise UserFacingError("There is no book to look in", "Add a PDF first")


def _askable(book: Book) -> bool:
    if book.status in (BookStatus.ASKABLE, BookStatus.INDEXED):
        return True
    # Paused, or failed at the vectors: the text can be searched all the same.
    return book.status is not BookStatus.READING and 0 < book.pages == book.pages_read


def find(
    library: Library,
    query: str,
    *,
    books: Sequence[str] | None = None,
    pages: tuple[int, int] | None = None,
    limit: int = 10,
) -> list[Hit]:
    """Return the passages that best match a query, best first.

    While vectors are still being made, those that are there take part.

    Args:
        library: Where to look.
        query: A question or some words.
        books: Ids to look in; None for all.
        pages: First and last page to look in; None for all.
        limit: Most hits.

    Raises:
        UserFacingError: if there is no book to look in.
    """
    from desktop.core.library.store import Where  # LanceDB, only once it is needed

    searchable(library, books)
    store = library.store  # its opening finds what the index has lost
    ready = searchable(library, books)
    titles = {book.id: book.title for book in ready}
    where = Where(tuple(titles), pages)
    store.refresh()
    rankings = [store.search_text(query, where, limit=CANDIDATES)]
    similarity: dict[str, float] = {}
    if any(book.passages_embedded for book in ready):
        vector = library.embedder.embed([query])[0]
        near = store.search_vectors(vector, where, limit=CANDIDATES)
        similarity = dict(near)
        rankings.append([identity for identity, _ in near])
    fused = reciprocal_rank(rankings)[:limit]
    passages = library.catalog.passages_by_id([identity for identity, _ in fused])
    kept = [(identity, score) for identity, score in fused if identity in passages]
    return [
        Hit(
            rank=rank,
            passage=passages[identity],
            title=titles[passages[identity].book],
            score=score,
            similarity=similarity.get(identity),
        )
        for rank, (identity, score) in enumerate(kept, start=1)
    ]
