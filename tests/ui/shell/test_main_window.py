from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from desktop import app as composition
from desktop.core.conversations import Conversations, MessageState
from desktop.core.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desktop.paths import Paths
    from tests.ui.conftest import Driver

HEAVY = (
    "torch sentence_transformers lancedb llama_cpp pymupdf numpy psutil huggingface_hub "
    "pyarrow transformers multiprocessing.connection"
)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **environment},
    )


def test_window_is_built_and_shown_without_heavy_imports(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from desktop import app, environment
from desktop.paths import Paths
environment.prepare()
folder = Path({str(tmp_path)!r})
paths = Paths(folder, folder / "models", folder / "logs").create()
application = QApplication([])
window = app.build_window(paths, application)
window.first_painted.disconnect()
window.first_painted.connect(application.quit)
window.show()
application.exec()
print([name for name in {HEAVY!r}.split() if name in sys.modules])
"""
    result = run(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_every_module_of_the_window_is_light() -> None:
    code = f"""
import importlib, pkgutil, sys
import desktop.ui
for module in pkgutil.walk_packages(desktop.ui.__path__, "desktop.ui."):
    importlib.import_module(module.name)
print([name for name in {HEAVY!r}.split()[:-1] if name in sys.modules])
"""
    result = run(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a display is always there")
def test_no_display_is_told_before_qt_aborts(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserFacingError) as caught:
        composition.run(paths, ["lutrin"])
    assert caught.value.what == "There is no display to open a window on"
    assert "lutrin ask" in caught.value.remedy


def test_theme_is_switched_at_once_and_kept(
    driver: Driver, opened: Callable[[], Driver], paths: Paths
) -> None:
    window = driver.window
    driver.add("metals.pdf")
    driver.ask("what?")
    window.menus._choose_theme("light")
    light = window.palette().window().color().lightness()
    window.menus._choose_theme("dark")
    assert window.palette().window().color().lightness() < 60 < light
    window.close()
    assert json.loads(paths.settings.read_text())["theme"] == "dark"
    assert opened().window.theme.name == "dark"


def test_conversation_comes_back(driver: Driver, opened: Callable[[], Driver]) -> None:
    driver.add("metals.pdf")
    driver.ask("first?")
    driver.ask("second?")
    driver.window.close()
    again = opened()
    views = again.window.conversation.view.views
    again.until(lambda: len(views) == 2)
    assert [views[key].message.question for key in sorted(views)] == ["first?", "second?"]
    assert "Osmium melts" in again.view.answer.toPlainText()
    assert again.window.conversation.choice.currentText() == "first?"


def test_killed_window_comes_back_with_the_partial_answer(
    opened: Callable[[], Driver], paths: Paths, model: None, tmp_path: Path
) -> None:
    driver = opened()
    driver.add("metals.pdf")
    driver.window.close()
    code = f"""
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from desktop import app
from desktop.paths import Paths
from tests.ui.fake_services import KINDS
if __name__ == "__main__":
    application = QApplication([])
    paths = Paths({str(paths.data)!r}, {str(paths.models)!r}, {str(paths.logs)!r})
    paths = Paths(Path(paths.data), Path(paths.models), Path(paths.logs))
    window = app.build_window(paths, application, kinds=KINDS)
    window.show()
    def ask():
        if window.session and window.book_list.any_askable(()) and window.model_list.is_loaded:
            timer.stop()
            window.conversation.composer.box.setPlainText("slow one")
            window.conversation.composer.send.click()
    timer = QTimer(interval=50)
    timer.timeout.connect(ask)
    timer.start()
    application.exec()
"""
    script = tmp_path / "window.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, str(script)], env=environment)
    try:
        kept = Conversations(paths.conversations)
        end = time.monotonic() + 20
        while time.monotonic() < end and not any(
            message.partial for c in kept.all() for message in kept.messages(c.id)
        ):
            time.sleep(0.1)
        kept.close()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    again = opened()
    again.until(lambda: again.window.conversation.view.views)
    assert again.view.message.state is MessageState.INTERRUPTED
    assert "word0" in again.view.answer.toPlainText()
    again.view.regenerate_wanted.emit(again.view.message)
    again.until(lambda: again.question_runner.running)


def test_new_delete_and_undo_of_conversations(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.ask("first?")
    session, choice = driver.window.session, driver.window.conversation.choice
    assert session is not None
    first = session.conversation.id
    session.new()
    session.new()
    assert choice.count() == 2
    session.switch(first)
    session.remove(first)
    assert choice.count() == 1
    assert driver.window.notices.text.text() == "Removed “first?”"
    driver.window.menus.undo.trigger()
    assert session.conversation.id == first
    assert choice.count() == 2
    session.remove(first)
    session.settle_removal()
    assert choice.count() == 1


def test_damaged_conversations_are_set_aside(
    opened: Callable[[], Driver], paths: Paths, model: None
) -> None:
    paths.conversations.write_bytes(b"this is no database at all" * 100)
    driver = opened()
    assert "set aside" in driver.window.notices.text.text()
    driver.add("metals.pdf")
    assert driver.ask("what?").answer is not None


def test_closing_while_books_are_read_is_quick(driver: Driver) -> None:
    driver.add("slow.pdf")
    start = time.monotonic()
    driver.window.close()
    assert time.monotonic() - start < 2


def test_window_stays_quick_while_indexing_and_answering(driver: Driver) -> None:
    from PySide6.QtCore import QTimer

    driver.add("slow.pdf")
    beats: list[float] = []
    timer = QTimer(interval=5)
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))
    driver.type_question("slow please")
    driver.until(lambda: "word20 " in driver.view.answer.toPlainText())
    timer.start()
    driver.until(lambda: "word150 " in driver.view.answer.toPlainText())
    timer.stop()
    gaps = sorted(b - a for a, b in itertools.pairwise(beats))
    # The rule is 50 ms on a quiet machine; a test machine may be busy with other things.
    assert gaps[int(len(gaps) * 0.98)] < 0.05
    driver.window.conversation.composer.stop_wanted.emit()


def test_tab_reaches_the_main_controls_and_names_are_set(driver: Driver) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QAbstractButton

    driver.add("metals.pdf")
    buttons = [b for b in driver.window.findChildren(QAbstractButton) if b.isVisible()]
    unnamed = [b for b in buttons if not (b.accessibleName() or b.text())]
    assert not unnamed
    assert all(b.focusPolicy() & Qt.FocusPolicy.TabFocus for b in buttons if b.isEnabled())


def test_no_two_commands_share_a_key(driver: Driver) -> None:
    from PySide6.QtGui import QAction

    keys = [k.toString() for a in driver.window.findChildren(QAction) for k in a.shortcuts()]
    assert sorted(set(keys)) == sorted(keys)
    assert {"Ctrl+O", "Ctrl+F", "Ctrl+N", "Ctrl+R", "Ctrl+L", "Esc", "Ctrl+Q"} <= set(keys)


def test_enter_sends_and_shift_enter_breaks_the_line(driver: Driver) -> None:
    from PySide6.QtCore import Qt

    driver.add("metals.pdf")
    box = driver.window.conversation.composer.box
    driver.qtbot.keyClicks(box, "one")
    driver.qtbot.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    driver.qtbot.keyClicks(box, "two")
    assert box.toPlainText() == "one\ntwo"
    driver.until(driver.window.conversation.composer.send.isEnabled)
    driver.qtbot.keyClick(box, Qt.Key.Key_Return)
    driver.until(lambda: driver.question_runner.running)
    assert driver.view.message.question == "one\ntwo"
    driver.until(lambda: not driver.question_runner.running)


def test_panes_are_hidden_and_shown_from_the_menu(driver: Driver, paths: Paths) -> None:
    window = driver.window
    window.menus.page.trigger()
    assert window.page.isVisible()
    assert "Choose a book" in window.page.message.text()
    window.menus.page.trigger()
    assert not window.page.isVisible()
    window.menus.library.trigger()
    assert not window.library.isVisible()
    window.close()
    assert json.loads(paths.settings.read_text())["show_library"] is False
