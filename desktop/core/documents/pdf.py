"""PDF through MuPDF: the same engine finds the words, draws the page and places highlights.

So a highlight can't drift from the picture. Runs in worker processes only: files are
strangers', and MuPDF may abort, hang or eat memory on a hostile one.
"""

from __future__ import annotations

import functools
import math
import threading
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pymupdf

from desktop.core.documents import page_text
from desktop.core.documents.document import Picture, Reader
from desktop.core.errors import PasswordNeededError, UserFacingError
from desktop.core.records import Heading, Page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

P = ParamSpec("P")
R = TypeVar("R")

# Ligatures come apart ("ﬁ" is "fi") and pictures are left out: neither is wanted for words.
_WORD_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
MAX_PIXELS = 16_000_000
"""Most pixels a page is drawn with (48 MB); an A4 page at 300 dpi has 8.7 million."""
_SCAN_SAMPLE = 12
# What PyMuPDF raises on a damaged file; MuPDF's own errors are no RuntimeErrors.
_BROKEN = (RuntimeError, ValueError, IndexError, TypeError, pymupdf.mupdf.FzErrorBase)

pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)


_MUPDF = threading.RLock()
"""MuPDF is not for several threads at once, not even with a document each."""


def _alone(method: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        with _MUPDF:
            return method(*args, **kwargs)

    return guarded


class PdfDocument:
    """An open PDF."""

    @_alone
    def __init__(self, path: Path, password: str | None) -> None:
        self._path = path
        try:
            self._file: Any = pymupdf.open(path, filetype="pdf")
        except _BROKEN as error:
            raise _damaged(path) from error
        self._unlock(password)
        try:
            self.page_count = int(self._file.page_count)
        except _BROKEN as error:
            raise _damaged(path) from error
        if self.page_count == 0:
            raise _damaged(path)
        self.warnings: list[str] = []
        self._labels = _page_labels(self._file)
        self.title = (self._file.metadata or {}).get("title", "").strip() or path.stem

    def _unlock(self, password: str | None) -> None:
        self.locked = bool(self._file.needs_pass)
        if not self.locked:
            return
        if password is None:
            raise PasswordNeededError(
                f"“{self._path.name}” is locked with a password", "Give its password to open it"
            )
        if not self._file.authenticate(password):
            raise PasswordNeededError(
                f"That password does not open “{self._path.name}”",
                "Check capital letters and try again",
            )

    @_alone
    def page(self, number: int) -> Page:
        """See `Document.page`."""
        try:
            page = self._file[number - 1]
            words = page.get_text("words", flags=_WORD_FLAGS)
            matrix = page.rotation_matrix if page.rotation else None
            visible = page.rect
        except _BROKEN:
            self.warnings.append(f"Page {number} is damaged and could not be read")
            return Page(number=number, label=self.label(number), text="")
        text, placed = page_text.build(words, matrix=matrix, visible=visible)
        return Page(number=number, label=self.label(number), text=text, words=placed)

    def label(self, number: int) -> str:
        """See `Document.label`."""
        return self._labels.get(number) or str(number)

    @_alone
    def outline(self) -> list[Heading]:
        """See `Document.outline`."""
        try:
            entries = self._file.get_toc(simple=False)
        except _BROKEN:
            self.warnings.append("The table of contents is damaged and was left out")
            return []
        return [
            Heading(level, " ".join(str(title).split()), page, _height(destination))
            for level, title, page, destination in entries
            if 1 <= page <= self.page_count and str(title).strip()
        ]

    @_alone
    def has_pictures(self) -> bool:
        """See `Document.has_pictures`."""
        numbers = range(min(self.page_count, _SCAN_SAMPLE))
        try:
            return any(self._file.get_page_images(number) for number in numbers)
        except _BROKEN:
            return False

    @_alone
    def draw(self, number: int, scale: float) -> Picture:
        """See `Document.draw`."""
        try:
            page = self._file[number - 1]
            width, height = page.rect.width, page.rect.height
            most = math.sqrt(MAX_PIXELS / max(1.0, width * height))
            used = min(scale, most)
            pixmap = page.get_pixmap(matrix=pymupdf.Matrix(used, used), alpha=False)
        except (*_BROKEN, MemoryError) as error:
            raise UserFacingError(
                f"Page {number} is damaged and can't be shown", "Go on with the next page"
            ) from error
        return Picture(pixmap.width, pixmap.height, (width, height), bytes(pixmap.samples))

    @_alone
    def save_unlocked(self, path: Path) -> None:
        """See `Document.save_unlocked`."""
        self._file.save(path, encryption=pymupdf.PDF_ENCRYPT_NONE)

    @_alone
    def close(self) -> None:
        """See `Document.close`."""
        self._file.close()


def _damaged(path: Path) -> UserFacingError:
    return UserFacingError(
        f"“{path.name}” is damaged: no page of it can be opened",
        "Download or copy it again, and see whether another PDF viewer opens it",
    )


def _page_labels(file: Any) -> dict[int, str]:
    """Page number -> printed label; empty where the file has none."""
    try:
        if not file.get_page_labels():
            return {}
        return {number + 1: file[number].get_label() for number in range(file.page_count)}
    except _BROKEN:
        return {}


def _height(destination: dict[str, Any]) -> float | None:
    point = destination.get("to")
    return float(point.y) if point is not None and point.y > 0 else None


READER = Reader(
    name="PDF",
    suffixes=(".pdf",),
    recognises=lambda head: b"%PDF" in head,
    open=PdfDocument,
)
