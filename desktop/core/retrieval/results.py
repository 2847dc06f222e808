"""What looking a question up has found, as it travels from the librarian to the answer."""

from __future__ import annotations

from dataclasses import dataclass

# decode() reads the hints.
from desktop.core.library.search_filter import EVERYWHERE, SearchFilter
from desktop.core.records import Hit, Limit  # noqa: TC001
from desktop.core.retrieval.listing import Entry  # noqa: TC001


@dataclass(frozen=True)
class RetrievalResult:
    """What was found for a question.

    Attributes:
        query: The words that were searched for.
        hits: Passages, best first.
        books: Id and title of each book that was looked in.
        where: The part of the library that was looked in.
        limits: What the question itself said of where to look.
        listing: "contents", "figures", "tables" or "definitions" where the question asks for a
            list, which `entries` is; else "".
        entries: The list.
        absent: Names in the question that occur nowhere in the books.
        complete: Whether all books had their vectors.
        retrieve_s: Seconds that it took; counted into the time to the first word.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    books: tuple[tuple[str, str], ...] = ()
    where: SearchFilter = EVERYWHERE
    limits: tuple[Limit, ...] = ()
    listing: str = ""
    entries: tuple[Entry, ...] = ()
    absent: tuple[str, ...] = ()
    complete: bool = True
    retrieve_s: float = 0.0
