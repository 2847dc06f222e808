"""The settings while the window is open: changed at once, written a moment later."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from desktop import settings

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

SAVE_MS = 800


class Preferences(QObject):
    """The settings in use."""

    def __init__(self, file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        self.settings = settings.load(file)
        self._timer = QTimer(self, interval=SAVE_MS, singleShot=True)
        self._timer.timeout.connect(self.save)

    def change(self, **changes: Any) -> None:
        """Change some settings."""
        changed = self.settings.replace(**changes)
        if changed != self.settings:
            self.settings = changed
            self._timer.start()

    def save(self) -> None:
        """Write them now; where that fails, it is only logged."""
        self._timer.stop()
        try:
            settings.save(self._file, self.settings)
        except OSError as error:
            logger.warning("settings could not be written: %s", error)
