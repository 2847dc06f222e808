"""What every reader gives: pages with words at their places, an outline, and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desktop.core.records import Heading, Page


@dataclass(frozen=True)
class Picture:
    """A drawn page.

    Attributes:
        width: Pixels.
        height: Pixels.
        points: Width and height of the page as displayed, in PDF points.
        pixels: RGB, 8 bits a channel, rows from the top, no padding; 3 * width * height bytes.
    """

    width: int
    height: int
    points: tuple[float, float]
    pixels: bytes


class Document(Protocol):
    """An open document.

    Attributes:
        locked: Whether the file needs its password.
        warnings: Sentences on what is doubtful in it; reading pages adds to them.
    """

    title: str
    page_count: int
    locked: bool
    warnings: list[str]

    def page(self, number: int) -> Page:
        """Read page `number` (from 1), with words. A page that can't be read is empty.

        The same file gives the same text at every reading: offsets stay valid.
        """

    def label(self, number: int) -> str:
        """Return what is printed on page `number`, where the file knows it; else the number."""

    def outline(self) -> list[Heading]:
        """Return the outline in reading order."""

    def has_pictures(self) -> bool:
        """Whether its first pages hold pictures, as a scan does."""

    def draw(self, number: int, scale: float) -> Picture:
        """Draw page `number` at `scale` pixels a point, less where the page is huge."""

    def save_unlocked(self, path: Path) -> None:
        """Write a copy that opens without a password."""

    def close(self) -> None:
        """Let go of the file."""


@dataclass(frozen=True)
class Reader:
    """A format.

    Attributes:
        name: For messages.
        suffixes: File endings, lower case with the dot.
        recognises: Whether a file's first KiB is of this format.
        open: Opens a path with a password or None.
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[bytes], bool]
    open: Callable[[Path, str | None], Document]
