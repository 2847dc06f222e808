"""The user's settings: one frozen record, kept as JSON, written whole or not at all.

Owns the file and its defaults. Knows nothing of widgets: geometry is an opaque string.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """What the window remembers from one run to the next.

    Attributes:
        theme: "system", "light" or "dark".
        geometry: The window's place and size, base64 of Qt's own format; empty for the default.
        library_width: Width of the library pane in pixels.
        page_width: Width of the page pane in pixels.
        show_library: Whether the library pane is shown.
        conversation: Number of the conversation last shown; 0 for none.
        model: Name of the model to answer with; None for the one Lutrin would take.
        reads_ahead: Whether books are read ahead while nothing else is done.
        reading_ahead_bytes: Most bytes that what was read may take on the disk; None for the
            smaller of 8 GB and a tenth of what is free.
    """

    theme: str = "system"
    geometry: str = ""
    library_width: int = 264
    page_width: int = 500
    show_library: bool = True
    conversation: int = 0
    model: str | None = None
    reads_ahead: bool = True
    reading_ahead_bytes: int | None = None

    def replace(self, **changes: Any) -> Settings:
        """Return a copy with the changes."""
        return dataclasses.replace(self, **changes)


_KINDS: dict[str, type | tuple[type, ...]] = {
    "theme": str,
    "geometry": str,
    "library_width": int,
    "page_width": int,
    "show_library": bool,
    "conversation": int,
    "model": (str, type(None)),
    "reads_ahead": bool,
    "reading_ahead_bytes": (int, type(None)),
}


def load(file: Path) -> Settings:
    """Return the settings in `file`; what is missing or of the wrong kind takes its default.

    A file that is no JSON object is set aside as `<name>.broken`, so that nothing the user may
    want to look at is overwritten.
    """
    try:
        data = json.loads(file.read_text("utf-8"))
        if not isinstance(data, dict):
            message = "not an object"
            raise ValueError(message)
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError) as error:
        logger.warning("settings could not be read: %s", error)
        with contextlib.suppress(OSError):
            file.replace(file.with_name(file.name + ".broken"))
        return Settings()
    sound = {k: data[k] for k, kind in _KINDS.items() if k in data and isinstance(data[k], kind)}
    return Settings(**sound)


def save(file: Path, settings: Settings) -> None:
    """Write the settings through a temporary file; where the disk is full, the old ones stay.

    Raises:
        OSError: if the folder can't be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(json.dumps(dataclasses.asdict(settings), indent=1) + "\n", "utf-8")
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
