"""What a question says of where to look, and what is left to be searched for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from desktop.core.library.search_filter import EVERYWHERE, SearchFilter

if TYPE_CHECKING:
    from desktop.core.records import Limit

KEYS = BOOK, SECTION, PAGES, MARKS = "book", "section", "pages", "marks"
"""Of the limits that a question may have."""


@dataclass(frozen=True)
class Plan:
    """What a question says of where to look, and what is left to be searched for.

    Attributes:
        query: The words to search for; "" where the question only says where.
        where: The part of the library.
        limits: What of it came from the question.
        listing: "contents", "figures", "tables" or "definitions" where a list is asked for,
            which needs no model; else "".
    """

    query: str
    where: SearchFilter = EVERYWHERE
    limits: tuple[Limit, ...] = ()
    listing: str = ""

    def without_list(self, question: str) -> Plan:
        """Return it without its list, which the book does not have: the passages are found."""
        limits = tuple(limit for limit in self.limits if limit.key != MARKS)
        query = "" if self.listing == "contents" and limits else question
        return Plan(query, replace(self.where, marks=()), limits)
