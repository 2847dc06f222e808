"""The status line of an answer: its stage, the progress of that stage, and the time elapsed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from desktop.ui.buttons import label
from desktop.ui.formatting import percent, time_left, tr

if TYPE_CHECKING:
    from desktop.core.records import Progress

TICK_MS = 500


def status_text(stage: Progress) -> str:
    """Return the text for a stage: what is being done, how far, and the time left."""
    texts = {
        "finding": tr("Looking in the book…"),
        "further": tr("Looking further for what could not be proved…"),
        "checking": tr("Checking each sentence against the book…"),
        "waiting": tr("Waiting for its turn…"),
        "loading": tr("Loading the model…"),
        "map_reduce": tr("Reading it through, taking notes…"),
        "reading": tr("Reading the passages…"),
        "writing": tr("Writing…"),
        "comparing": tr("Reading once more, to compare…"),
    }
    parts = [texts.get(stage.stage, tr("Working…"))]
    share = percent(stage)
    if share is not None and stage.stage != "writing":
        parts[0] += f" {share} %"
    if stage.stage != "writing":
        parts.append(time_left(stage.seconds_left))
    return " · ".join(part for part in parts if part)


class StatusLine(QWidget):
    """The line, with a progress bar where the progress is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = label(name="muted")
        self.elapsed = label(name="muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(110)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.bar)
        row.addWidget(self.text)
        row.addStretch(1)
        row.addWidget(self.elapsed)
        self._started = time.monotonic()
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)

    def start(self, started: float) -> None:
        """Show the line; `started` is seconds of the monotonic clock."""
        self._started = started
        self._tick()
        self._clock.start()
        self.show()

    def stop(self) -> None:
        """Hide the line."""
        self._clock.stop()
        self.hide()

    def show_stage(self, stage: Progress) -> None:
        """Show a stage and its progress."""
        self.text.setText(status_text(stage))
        share = percent(stage)
        self.bar.setVisible(share is not None and stage.stage != "writing")
        self.bar.setValue(share or 0)

    def _tick(self) -> None:
        seconds = int(time.monotonic() - self._started)
        self.elapsed.setText(self.tr("{n} s").format(n=seconds) if seconds else "")
