"""The window on the real workers: a small book, the pinned small model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QUrl

from desktop import app as composition
from desktop.core.conversations import MessageState
from desktop.core.records import BookStatus
from desktop.paths import Paths

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.model
WAIT_MS = 180_000


def test_handbook_is_added_asked_and_shown(
    small_model: Path, handbook: Path, tmp_path: Path, qtbot: QtBot, qapp: QApplication
) -> None:
    paths = Paths(tmp_path / "library", small_model.parent, tmp_path / "logs").create()
    window = composition.build_window(paths, qapp)
    window.show()
    try:
        qtbot.waitUntil(lambda: window.session is not None, timeout=WAIT_MS)
        window.importer.add_paths([handbook])
        qtbot.waitUntil(lambda: window.book_list.any_askable(()), timeout=WAIT_MS)
        qtbot.waitUntil(lambda: window.model_list.default_name() != "", timeout=WAIT_MS)
        composer = window.conversation.composer
        composer.box.setPlainText("How do I add a book?")
        qtbot.waitUntil(composer.send.isEnabled, timeout=WAIT_MS)
        composer.send.click()
        message = window.conversation.view.last()
        assert message is not None
        view = window.conversation.view.views[message.id]
        qtbot.waitUntil(lambda: view.message.state is not MessageState.WRITING, timeout=WAIT_MS)
        assert view.message.state is MessageState.DONE, view.message.error
        answer = view.message.answer
        assert answer is not None
        assert answer.context
        shown = answer.citations[0] if answer.citations else answer.context[0]
        link = f"cite:{answer.citations[0].marker}" if answer.citations else "near:0"
        view.sources.anchorClicked.emit(QUrl(link))
        qtbot.waitUntil(lambda: window.page.sheet.picture is not None, timeout=WAIT_MS)
        assert window.page.toolbar.number.text() == str(shown.page)
        assert window.page.sheet.marks.cited[0]
        qtbot.waitUntil(
            lambda: window.book_list.books()[0].status is BookStatus.INDEXED, timeout=WAIT_MS
        )
        window.page.open_find()
        window.page.find_bar.field.setText("the")
        qtbot.waitUntil(lambda: " of " in window.page.find_bar.count.text(), timeout=WAIT_MS)
    finally:
        window.close()
        window.deleteLater()
