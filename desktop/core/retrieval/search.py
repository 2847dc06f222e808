"""Hybrid search: full text, vectors of windows, and the sections they stand in, fused by weight.

The best of them are then reranked by late interaction.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.library.search_filter import EVERYWHERE
from desktop.core.records import BookStatus, Hit, passage_place
from desktop.core.retrieval import fusion, late_interaction
from desktop.core.text import sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from desktop.core.library.embedding import Embedder
    from desktop.core.library.library import Library
    from desktop.core.library.search_filter import SearchFilter
    from desktop.core.library.store import Found, Store
    from desktop.core.records import Book, Passage

CANDIDATES = 200
"""Passages taken from each search; the fused list is cut to what is asked for."""
TEXT, WINDOWS, SECTIONS = 0.45, 0.45, 0.1
"""Weights of the three scores. Chosen on the test books' questions, where neighbouring values
find as well: `tests/bench/quality.py` shows what each part gives."""
LATE_INTERACTION = 0.7
"""Weight of late interaction against the fused score; from 0.5 to 0.8 it finds as well."""
SIDE = 0.6
"""Weight of a passage that only asks, lists or points; see `section_kind.Marks.side`."""
SAME_PAGE = 0.7
"""Weight of a passage for each better one of its page: so the first few speak from several."""


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
    where: SearchFilter = EVERYWHERE,
    limit: int = 10,
) -> list[Hit]:
    """Return the passages that best match a query, best first.

    While vectors are still being made, those that are there take part.

    Args:
        library: Where to look.
        query: A question or some words.
        where: The part of the library to look in.
        limit: Most hits.

    Raises:
        UserFacingError: if there is no book to look in.
    """
    searchable(library, where.books)
    store = library.store  # its opening finds what the index has lost
    ready = searchable(library, where.books)
    titles = {book.id: book.title for book in ready}
    store.refresh()
    where = replace(where, books=_needed(library, where, titles))
    with ThreadPoolExecutor(1) as beside:  # meanwhile the question's vector is made
        by_text = beside.submit(store.search_text, query, where, limit=CANDIDATES)
        embedded = any(book.passages_embedded for book in ready)
        vector = _vector(library.embedder, query) if embedded else None
    found, similarity = _rank(store, by_text.result(), vector, where)
    found = found[: max(limit, late_interaction.CANDIDATES)]
    passages = library.catalog.passages_by_id([identity for identity, _ in found])
    kept = [
        (identity, score)
        for identity, score in found
        if identity in passages and passages[identity].book in titles
    ]
    if embedded and limit:
        kept = _reranked(library.embedder, query, kept, passages)
    return [
        Hit(
            rank=rank,
            passage=passages[identity],
            title=titles[passages[identity].book],
            score=round(score, 6),
            similarity=similarity.get(identity),
        )
        for rank, (identity, score) in enumerate(kept[:limit], start=1)
    ]


def _reranked(
    embedder: Embedder,
    query: str,
    found: list[tuple[str, float]],
    passages: Mapping[str, Passage],
) -> list[tuple[str, float]]:
    """Return the best passages in the order of both scores, then the others as they were."""
    near = found[: late_interaction.CANDIDATES]
    compared = late_interaction.scores(
        embedder, query, [passages[identity] for identity, _ in near]
    )
    near, far = found[: len(compared)], found[len(compared) :]
    if not near:
        return found
    late = {identity: score for (identity, _), score in zip(near, compared, strict=True)}
    both = fusion.weighted(
        [
            (1 - LATE_INTERACTION, fusion.scaled(dict(near))),
            (LATE_INTERACTION, fusion.scaled(late)),
        ]
    )
    high, low = near[0][1], near[-1][1]  # so that they stay above those that were not compared
    scores = {identity: low + (high - low) * score for identity, score in both.items()}
    return [*sorted(scores.items(), key=lambda pair: -pair[1]), *far]


def _needed(
    library: Library, where: SearchFilter, ready: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Return the books to keep to; None where that is all there are, which is faster."""
    everything = where.books is None and not library.catalog.removed()
    whole = everything and len(ready) == len(library.catalog.books())
    return None if whole else tuple(ready)


def _vector(embedder: Embedder, query: str) -> npt.NDArray[np.float32]:
    """Return the vector of a query; one of several sentences is also each of them."""
    parts = [query[start:end] for start, end in sentences.spans(query)]
    texts = [query, *parts] if len(parts) > 1 else [query]
    mean = embedder.embed(texts).mean(axis=0)
    unit: npt.NDArray[np.float32] = mean / (mean @ mean) ** 0.5
    return unit


def _rank(
    store: Store,
    by_text: Sequence[Found],
    vector: npt.NDArray[np.float32] | None,
    where: SearchFilter,
) -> tuple[list[tuple[str, float]], dict[str, float]]:
    """Return ids with their scores, best first, and the similarities that are known."""
    near = [] if vector is None else store.search_vectors(vector, where, limit=CANDIDATES)
    candidates: dict[str, Found] = {found.id: found for found in (*near, *by_text)}
    parts = [
        (TEXT, fusion.scaled({found.id: found.score for found in by_text})),
        (WINDOWS, fusion.scaled({found.id: found.score for found in near})),
    ]
    if vector is not None:
        near_by = store.similar_sections(vector, candidates.values())
        there = [f for f in candidates.values() if (f.book, f.section) in near_by]
        similar = fusion.scaled({f.id: near_by[f.book, f.section] for f in there})
        parts.append((SECTIONS, similar))
    scores = fusion.weighted(parts)
    for found in candidates.values():
        if found.side:
            scores[found.id] *= SIDE
    ranked = sorted(scores.items(), key=lambda pair: -pair[1])
    pages = {identity: passage_place(identity)[:2] for identity in scores}
    return (
        fusion.spread(ranked, pages, factor=SAME_PAGE),
        {found.id: found.score for found in near},
    )
