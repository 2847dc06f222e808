"""A place in a book, as it is passed from a source to the page pane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.core.records import Rect


@dataclass(frozen=True)
class PageLocation:
    """A place to show.

    Attributes:
        span: Offsets in the page's text, where there is something to mark.
        rects: What is known of where it lies; the reader's own are taken first.
    """

    book: str
    page: int
    span: tuple[int, int] | None = None
    rects: tuple[Rect, ...] = ()
