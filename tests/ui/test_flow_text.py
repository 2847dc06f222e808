from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QColor

from desktop.ui.flow_text import FlowText

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot


def test_answer_text_shows_html_as_text_and_loads_nothing(
    qtbot: QtBot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = FlowText()
    qtbot.addWidget(text)
    text.resize(300, 50)
    text.set_markdown("a <script>x</script> ![p](file:///etc/passwd) [\u20091\u2009](cite:1)")
    assert "<script>" in text.toPlainText()
    assert "root:" not in text.toPlainText()
    text.style_links("cite:", back=QColor("red"), front=QColor("blue"))
    (span,) = list(text._links("cite:"))
    assert span[1] - span[0] == 3


def test_text_is_as_tall_as_what_is_in_it(qtbot: QtBot) -> None:
    text = FlowText()
    qtbot.addWidget(text)
    text.resize(200, 20)
    text.show()
    for _ in range(40):
        text.append_text("several words more ")
    assert text.height() > 10 * text.fontMetrics().lineSpacing()
    assert text.verticalScrollBar().maximum() == 0
