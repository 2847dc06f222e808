"""One log file a process kind, so that a crash report can be gathered. Never logs book text."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.paths import Paths

LIMIT_BYTES = 1_000_000
"""A log larger than this at the start is set aside, and the one before it is forgotten."""


def start(paths: Paths, *, name: str = "lutrin", level: int = logging.INFO) -> None:
    """Log to `<name>.log` in the log folder; a folder that can't be written is passed over."""
    root = logging.getLogger()
    root.setLevel(level)
    try:
        paths.logs.mkdir(parents=True, exist_ok=True)
        file = paths.logs / f"{name}.log"
        if file.exists() and file.stat().st_size > LIMIT_BYTES:
            file.replace(file.with_suffix(".old.log"))
        handler: logging.Handler = logging.FileHandler(file, encoding="utf-8", delay=True)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    )
    root.addHandler(handler)
