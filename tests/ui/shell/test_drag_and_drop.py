from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from desktop.ui.shell.drag_and_drop import drop_text, sort_paths

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Driver


def drop(driver: Driver, *paths: Path) -> str:
    """Drag files over the window and let go; return what the sign said."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left, none = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window = driver.window
    enter = QDragEnterEvent(window.rect().center(), copy, data, left, none)
    window.dragEnterEvent(enter)
    said = window.overlay.text
    assert window.overlay.isVisible()
    window.dropEvent(QDropEvent(QPointF(window.rect().center()), copy, data, left, none))
    assert not window.overlay.isVisible()
    return said


def test_dropped_file_becomes_a_card(driver: Driver) -> None:
    assert driver.window.conversation.welcome.isVisible()
    said = drop(driver, driver.file("metals.pdf"))
    assert said == "Add to the library: metals.pdf"
    cards = driver.window.library.cards
    driver.until(lambda: cards and next(iter(cards.values())).state.text() == "Ready")
    assert next(iter(cards.values())).title.text() == "metals"
    assert driver.window.conversation.view.isVisible()


def test_folders_are_looked_through_and_other_files_named(driver: Driver, tmp_path: Path) -> None:
    below = tmp_path / "books" / "deep"
    below.mkdir(parents=True)
    for name in ("a.pdf", "b.PDF", ".hidden.pdf", "notes.txt"):
        (below / name).write_bytes(b"x")
    other = tmp_path / "song.mp3"
    other.touch()
    said = drop(driver, tmp_path / "books", other)
    assert said == "Add every PDF in: books\nLeft alone: song.mp3"
    driver.until(lambda: len(driver.window.library.cards) == 2)
    assert "Left alone: song.mp3" in driver.window.notices.text.text()
    names = sorted(entry.name for entry in driver.window.book_list.entries.values())
    driver.until(lambda: all(e.book for e in driver.window.book_list.entries.values()))
    assert names == ["a", "b"]


def test_dropped_paths_are_sorted_by_name(tmp_path: Path) -> None:
    names = ("a.pdf", "B.PDF", "m.gguf", "x.txt")
    dropped = sort_paths([tmp_path, *(tmp_path / name for name in names)])
    assert [path.name for path in dropped.books] == ["a.pdf", "B.PDF"]
    assert dropped.folders == (tmp_path,)
    assert "Add as a model: m.gguf" in drop_text(dropped)
    assert "nothing here can be added" in drop_text(sort_paths([tmp_path / "x.txt"]))
