"""Files dropped on the window: sorted into books, folders and models; and the overlay on dragging.

Knows nothing of how they are added; that is the importer's.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from desktop.ui.formatting import listed, tr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from PySide6.QtCore import QMimeData

    from desktop.ui.theme import Theme

MOST_IN_FOLDERS = 2000
SLICE_S = 0.01
BOOKS, MODELS = (".pdf",), (".gguf",)


@dataclass(frozen=True)
class Dropped:
    """Paths, sorted by kind."""

    books: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    models: tuple[Path, ...] = ()
    others: tuple[Path, ...] = ()

    @property
    def useful(self) -> bool:
        """Whether anything can be done with them."""
        return bool(self.books or self.folders or self.models)


def sort_paths(paths: Iterable[Path]) -> Dropped:
    """Sort paths by their names; nothing is opened."""
    books: list[Path] = []
    folders: list[Path] = []
    models: list[Path] = []
    others: list[Path] = []
    for path in paths:
        suffix = path.suffix.lower()
        if path.is_dir():
            folders.append(path)
        elif suffix in BOOKS:
            books.append(path)
        else:
            (models if suffix in MODELS else others).append(path)
    return Dropped(tuple(books), tuple(folders), tuple(models), tuple(others))


def sort_mime(data: QMimeData) -> Dropped:
    """Sort what is being dragged."""
    return sort_paths(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())


class FolderScan(QObject):
    """Looks for books in folders and below, in short slices between two paints of the window."""

    finished = Signal(list)
    """The paths found, sorted; at most `MOST_IN_FOLDERS`."""

    def __init__(self, folders: Iterable[Path], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._walks = iter([os.walk(folder) for folder in folders])
        self._walk: Iterator[tuple[str, list[str], list[str]]] = iter(())
        self._found: list[Path] = []

    def step(self) -> None:
        """Look for `SLICE_S`, then let the window paint; ends with `finished`."""
        end = perf_counter() + SLICE_S
        while perf_counter() < end:
            here = next(self._walk, None)
            if here is None:
                walk = next(self._walks, None)
                if walk is None or len(self._found) >= MOST_IN_FOLDERS:
                    self.finished.emit(sorted(self._found[:MOST_IN_FOLDERS]))
                    return
                self._walk = walk
                continue
            folder, below, files = here
            below[:] = [name for name in below if not name.startswith(".")]
            names = [name for name in files if name.lower().endswith(BOOKS) and name[0] != "."]
            self._found += [Path(folder) / name for name in names]
        QTimer.singleShot(0, self.step)


def _names(paths: Sequence[Path]) -> str:
    return listed([path.name for path in paths])


def drop_text(dropped: Dropped) -> str:
    """Return the text of the overlay: what dropping will do."""
    if not dropped.useful:
        return tr("Lutrin reads PDF books and .gguf models; nothing here can be added")
    parts = []
    if dropped.books:
        parts.append(tr("Add to the library: {names}").format(names=_names(dropped.books)))
    if dropped.folders:
        names = _names(dropped.folders)
        parts.append(tr("Add every PDF in: {names}").format(names=names))
    if dropped.models:
        parts.append(tr("Add as a model: {names}").format(names=_names(dropped.models)))
    if dropped.others:
        parts.append(tr("Left alone: {names}").format(names=_names(dropped.others)))
    return "\n".join(parts)


class DropOverlay(QWidget):
    """The overlay that covers the window while something is dragged over it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.text = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_text(self, text: str, area: QRect) -> None:
        """Show a text over `area` of the parent."""
        self.text = text
        self.setGeometry(area)
        self.raise_()
        self.show()
        self.update()

    # Qt overrides

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint a veil, a frame and the text."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(self._theme.color("card"))
        veil.setAlpha(240)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(self._theme.color("accent"), 3, Qt.PenStyle.DashLine))
        inside = self.rect().adjusted(14, 14, -14, -14)
        painter.drawRoundedRect(inside, 14, 14)
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        painter.setFont(font)
        painter.setPen(self.palette().text().color())
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(inside.adjusted(20, 20, -20, -20), int(flags), self.text)
        painter.end()
