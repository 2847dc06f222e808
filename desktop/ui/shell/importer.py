"""Adds books and models: from the file dialog, from folders, from what is dropped.

Passes each file to the list of books or of models. Knows nothing of how a book is indexed or a
model is checked.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Signal

from desktop.paths import resource
from desktop.ui.formatting import listed, tr
from desktop.ui.shell.drag_and_drop import Dropped, FolderScan, sort_paths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QWidget

    from desktop.ui.library.book_list import BookList
    from desktop.ui.models.model_list import ModelList

HANDBOOK = "handbook/handbook.pdf"


class Importer(QObject):
    """Adds the files and folders that the user chooses or drops."""

    noticed = Signal(str)

    def __init__(self, book_list: BookList, model_list: ModelList, window: QWidget) -> None:
        super().__init__(window)
        self._book_list = book_list
        self._model_list = model_list
        self._window = window

    def choose_books(self) -> None:
        """Let the user choose files."""
        from PySide6.QtWidgets import QFileDialog

        files, _ = QFileDialog.getOpenFileNames(
            self._window,
            tr("Add books"),
            QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation),
            tr("Books and models (*.pdf *.gguf);;All files (*)"),
        )
        self.add_paths([Path(file) for file in files])

    def choose_folder(self) -> None:
        """Let the user choose a folder, whose books are all added."""
        from PySide6.QtWidgets import QFileDialog

        folder = QFileDialog.getExistingDirectory(self._window, tr("Add every PDF in a folder"))
        if folder:
            self.add(Dropped(folders=(Path(folder),)))

    def add_paths(self, paths: Iterable[Path]) -> None:
        """Add files and folders."""
        self.add(sort_paths(paths))

    def add(self, dropped: Dropped) -> None:
        """Add books and models, and all books in folders."""
        self._add_books(dropped.books)
        for model in dropped.models:
            self.noticed.emit(tr("Looking at the model “{name}”…").format(name=model.name))
            self._model_list.add(str(model))
        if dropped.others:
            names = listed([path.name for path in dropped.others])
            text = tr("Lutrin reads PDF books and .gguf models. Left alone: {names}")
            self.noticed.emit(text.format(names=names))
        if dropped.folders:
            scan = FolderScan(dropped.folders, self)
            scan.finished.connect(lambda found: self._on_scanned(dropped.folders, found))
            scan.finished.connect(scan.deleteLater)
            scan.step()

    def handbook(self) -> str | None:
        """Return the handbook's file, or None where it isn't installed."""
        try:
            return str(resource(HANDBOOK))
        except FileNotFoundError:
            self.noticed.emit(tr("The handbook is missing from this installation."))
            return None

    def add_handbook(self) -> None:
        """Add the handbook, to try things out on."""
        file = self.handbook()
        if file:
            self._book_list.add(file)

    def _add_books(self, books: Iterable[Path]) -> None:
        for book in books:
            if _readable(book):
                self._book_list.add(str(book))
            else:
                text = tr("“{name}” has letters in its name that can't be read. Rename it first.")
                self.noticed.emit(text.format(name=ascii(book.name)[1:-1]))

    def _on_scanned(self, folders: tuple[Path, ...], found: list[Path]) -> None:
        if not found:
            names = listed([folder.name for folder in folders])
            self.noticed.emit(tr("There is no PDF in {names}").format(names=names))
        self._add_books(found)


def _readable(path: Path) -> bool:
    """Whether a path is valid Unicode; Qt would lose the bytes that are not."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
