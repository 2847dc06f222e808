"""The reader: draws pages, gives their words, and finds text in a book. Parses strangers' files."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from desktop.core.documents.page_text import rects_of
from desktop.core.errors import CancelledError
from desktop.core.library.library import Library
from desktop.worker.host import WithBytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.documents.document import Document
    from desktop.core.records import Page
    from desktop.paths import Paths
    from desktop.worker.host import Job

OPEN_BOOKS = 3
"""Books a lane keeps open; opening a large one takes some tens of milliseconds."""


class Reader:
    """Serves the page pane."""

    def __init__(self, paths: Paths) -> None:
        self._library = Library(paths)
        self._open: dict[str, OrderedDict[str, Document]] = {
            "pages": OrderedDict(),
            "find": OrderedDict(),
        }

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        """See `host.Service`. MuPDF is not for several threads: a document belongs to a lane."""
        return {
            "page": ("pages", self.page),
            "words": ("pages", self.words),
            "outline": ("pages", self.outline),
            "find": ("find", self.find),
        }

    def _document(self, book: str, lane: str) -> Document:
        opened = self._open[lane]
        if book not in opened:
            opened[book] = self._library.open(book)
            if len(opened) > OPEN_BOOKS:
                _, old = opened.popitem(last=False)
                old.close()
        opened.move_to_end(book)
        return opened[book]

    def page(self, job: Job) -> WithBytes:
        """Draw a page and say where the highlights are."""
        document = self._document(job.args["book"], "pages")
        number = job.args["page"]
        picture = document.draw(number, job.args["scale"])
        wanted = job.args.get("highlights") or []
        words = document.page(number).words if wanted else ()
        if job.cancelled():
            raise CancelledError
        return WithBytes(
            {
                "width": picture.width,
                "height": picture.height,
                "points": picture.points,
                "label": document.label(number),
                "rects": [rects_of(words, start, end) for start, end in wanted],
            },
            picture.pixels,
        )

    def words(self, job: Job) -> Page:
        """Return a page with the places of its words."""
        return self._document(job.args["book"], "pages").page(job.args["page"])

    def outline(self, job: Job) -> dict[str, Any]:
        """Return the number of pages, their labels and the outline."""
        document = self._document(job.args["book"], "pages")
        count = document.page_count
        return {
            "pages": count,
            "labels": [document.label(number) for number in range(1, count + 1)],
            "headings": document.outline(),
        }

    def find(self, job: Job) -> dict[str, int]:
        """Find text in a book, page by page, folding case and white space."""
        book, wanted = job.args["book"], " ".join(job.args["text"].casefold().split())
        count = 0
        document: Document | None = None
        for page in self._library.catalog.pages(book) if wanted else []:
            if job.cancelled():
                raise CancelledError
            if not _occurrences(page.text, wanted):
                continue
            document = document or self._document(book, "find")
            placed = document.page(page.number)
            spans = _occurrences(placed.text, wanted)
            count += len(spans)
            rects = [rects_of(placed.words, start, end) for start, end in spans]
            job.emit("found", {"page": page.number, "rects": rects})
        return {"count": count}


def _occurrences(text: str, wanted: str) -> list[tuple[int, int]]:
    """Return spans of `wanted` in `text`; any run of white space stands for a space."""
    kept: list[int] = []  # offset in the text of each character of the folded text
    folded: list[str] = []
    for offset, character in enumerate(text):
        lower = character.casefold() if not character.isspace() else " "
        if lower == " " and folded and folded[-1] == " ":
            continue
        for piece in lower:
            folded.append(piece)
            kept.append(offset)
    haystack = "".join(folded)
    spans = []
    position = haystack.find(wanted)
    while position >= 0:
        last = position + len(wanted) - 1
        spans.append((kept[position], kept[last] + 1))
        position = haystack.find(wanted, last + 1)
    return spans
