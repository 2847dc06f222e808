"""A window on an empty library, with fake services in real worker processes."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from desktop import app as composition
from desktop.paths import Paths
from tests.ui.fake_services import KINDS

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from desktop.core.conversations import Message
    from desktop.ui.conversation.exchange import ExchangeView
    from desktop.ui.shell.main_window import MainWindow

WAIT_MS = 30_000
"""Long enough for a process to start on a machine that does much else."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pass over what the offscreen plugin says of menus, and windows with a smallest size.

    What opens a window starts its workers too, so it is slow.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support"))
            if "opened" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.slow)


class Driver:
    """A window and what a user does with it."""

    def __init__(self, window: MainWindow, qtbot: QtBot, folder: Path) -> None:
        self.window = window
        self.qtbot = qtbot
        self.folder = folder

    def until(self, true: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(true()), timeout=WAIT_MS)

    def file(self, name: str) -> Path:
        path = self.folder / name
        path.write_bytes(b"%PDF-1.7 " + name.encode())
        return path

    def add(self, name: str) -> str:
        """Add a book and return its id once it can be asked."""
        from desktop.ui.shell.drag_and_drop import Dropped

        book_list = self.window.book_list
        self.window.importer.add(Dropped(books=(self.file(name),)))
        self.until(
            lambda: any(e.name == name[:-4] and e.askable for e in book_list.entries.values())
        )
        return next(e.key for e in book_list.entries.values() if e.name == name[:-4])

    def type_question(self, question: str) -> None:
        composer = self.window.conversation.composer
        composer.box.setPlainText(question)
        self.until(composer.send.isEnabled)
        composer.send.click()

    def ask(self, question: str) -> Message:
        """Ask and wait for the end."""
        self.type_question(question)
        self.until(lambda: not self.question_runner.running)
        last = self.window.conversation.view.last()
        assert last is not None
        return last

    @property
    def question_runner(self) -> object:
        assert self.window.session is not None
        return self.window.session._question_runner

    @property
    def view(self) -> ExchangeView:
        """The newest exchange."""
        views = self.window.conversation.view.views
        return views[max(views)]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data", tmp_path / "models", tmp_path / "logs").create()


@pytest.fixture
def model(paths: Paths) -> None:
    """A model that is installed."""
    (paths.models / "tiny.gguf").touch()


@pytest.fixture
def opened(paths: Paths, qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Callable]:
    """Opens windows on the test's library, one after the other, and closes them at the end."""
    windows: list[MainWindow] = []

    def open_window() -> Driver:
        window = composition.build_window(paths, qapp, kinds=KINDS)
        windows.append(window)
        window.show()
        driver = Driver(window, qtbot, tmp_path)
        driver.until(lambda: window.session is not None and window.book_list.is_loaded)
        driver.until(lambda: window.model_list.is_loaded)
        return driver

    yield open_window
    for window in windows:
        window.close()
        window.deleteLater()
    left = [t.name for t in threading.enumerate() if t.name.endswith("-listener")]
    for name in left:
        qtbot.waitUntil(lambda n=name: n not in [t.name for t in threading.enumerate()])


@pytest.fixture
def driver(model: None, opened: Callable[[], Driver]) -> Driver:
    """A window with a model and no books."""
    return opened()
