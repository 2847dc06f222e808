"""Looking a question up: what it says of where to look, then the passages there, or the list."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from desktop.core.library.search_filter import EVERYWHERE, SearchFilter
from desktop.core.retrieval import evidence, listing, query_parsing, search
from desktop.core.retrieval.query_rewriting import standalone
from desktop.core.retrieval.results import RetrievalResult
from desktop.core.retrieval.tables import with_tables

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from desktop.core.library.library import Library
    from desktop.core.records import Hit, Turn
    from desktop.core.retrieval.plan import Plan


def retrieve(
    library: Library,
    question: str,
    *,
    history: Sequence[Turn] = (),
    where: SearchFilter = EVERYWHERE,
    without: Sequence[str] = (),
    reply: str = "",
    skip: Collection[str] = (),
    limit: int = evidence.PASSAGES,
) -> RetrievalResult:
    """Return what a question is to be answered from.

    Args:
        library: Where to look.
        question: What the user asked.
        history: Earlier turns, which the question may lean on.
        where: The part of the library that the user chose.
        without: Keys of the question's own limits that the user took away.
        reply: What a model said of where to look, see `query_parsing.from_model`; "" is nothing.
        skip: Ids of passages that are known already.
        limit: Most passages.

    Raises:
        UserFacingError: if there is no book to look in.
    """
    start = time.monotonic()
    ready = search.searchable(library, where.books)
    catalog = library.catalog
    if reply:
        plan = query_parsing.from_model(
            reply, question, catalog, ready, where=where, without=without
        )
    else:
        plan = query_parsing.plan(question, catalog, ready, where=where, without=without)
    entries: tuple[listing.Entry, ...] = ()
    hits: list[Hit] = []
    absent: tuple[str, ...] = ()
    if plan.listing:
        entries = tuple(listing.entries(catalog, plan, ready))
        plan = plan if _is_list(entries, plan) else plan.without_list(question)
    if not plan.listing:
        hits, absent = _passages(library, question, plan, history, limit, skip)
        hits = with_tables(library, hits)
    ready = search.searchable(library, plan.where.books)
    return RetrievalResult(
        query=plan.query or question,
        hits=tuple(hits),
        books=tuple((book.id, book.title) for book in ready),
        where=plan.where,
        limits=plan.limits,
        listing=plan.listing,
        entries=entries if plan.listing else (),
        absent=absent,
        complete=all(book.passages_embedded >= book.passages for book in ready),
        retrieve_s=time.monotonic() - start,
    )


def _is_list(entries: Sequence[listing.Entry], plan: Plan) -> bool:
    """Whether there is a list to show; a chapter without sections has no contents to list."""
    whole = plan.listing != "contents" or plan.where.sections is None
    return len(entries) > (0 if whole else 1)


def _passages(
    library: Library,
    question: str,
    plan: Plan,
    history: Sequence[Turn],
    limit: int,
    skip: Collection[str],
) -> tuple[list[Hit], tuple[str, ...]]:
    if plan.query:
        query = standalone(plan.query, history)
        hits = evidence.gather(library, query, where=plan.where, limit=limit, skip=skip)
        return hits, evidence.absent_names(library, question, where=plan.where)
    return evidence.from_start(library, plan.where, limit=limit), ()
