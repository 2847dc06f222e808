"""A location in a book, as a citation passes it to the page pane.

Apart from the page pane, which is not imported before its first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.core.records import Rect


@dataclass(frozen=True)
class PageLocation:
    """A location to show.

    Attributes:
        span: Offsets in the page's text, where there is something to mark.
        rects: Where the text lies on the page, as far as the citation says; what the reader finds
            has precedence.
    """

    book: str
    page: int
    span: tuple[int, int] | None = None
    rects: tuple[Rect, ...] = ()
