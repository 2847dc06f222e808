"""What the command line prints: results on standard output, all else on standard error.

Owns how JSON, notices and progress look in a terminal, a pipe or a log. Must not know any verb.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import TYPE_CHECKING, Self

from desktop.core.codec import encode

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO

    from desktop.core.records import Progress

LINE_S = 10.0  # seconds between two plain lines where there is no terminal
BAR = 24  # characters


def print_json(obj: object) -> None:
    """Print one JSON object (records allowed, sets and paths not) on standard output."""
    readable = (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(encode(obj), ensure_ascii=not readable, indent=2) + "\n")
    sys.stdout.flush()


def notice(text: str) -> None:
    """Print a line for the user on standard error."""
    sys.stderr.write(text.rstrip("\n") + "\n")
    sys.stderr.flush()


class ProgressLine:
    """Shows `Progress` on standard error: a line that is rewritten, or sparse plain lines.

    Use as a context manager around the work, and pass it as the `progress` callable. On a
    terminal the line is cleared at the end, so that what follows starts on a clean one.
    """

    def __init__(self, label: str = "", *, stream: TextIO | None = None) -> None:
        """Write to `stream`, else to standard error as it is now; `label` stands before."""
        self._stream = stream or sys.stderr
        self._label = f"{label}: " if label else ""
        self._terminal = bool(self._stream and self._stream.isatty())
        self._stage = ""
        self._printed = 0.0
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._terminal and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Show how far the work is."""
        if self._stream is None:  # a bundle without a console
            return
        if self._terminal:
            self._rewrite(progress)
            return
        now = time.monotonic()
        if progress.stage == self._stage and now - self._printed < LINE_S:
            return
        self._stage, self._printed = progress.stage, now
        self._stream.write(f"{self._label}{describe(progress)}\n")
        self._stream.flush()

    def _rewrite(self, progress: Progress) -> None:
        columns = shutil.get_terminal_size().columns
        text = self._label + describe(progress, bar=columns >= 72)
        text = text[: max(columns - 1, 20)]
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)


def describe(progress: Progress, *, bar: bool = False) -> str:
    """Return `progress` as text: "downloading [####    ]  52 %  581 of 1,117 MB, 7 s left"."""
    if progress.unit == "bytes":
        amounts = f"{progress.done / 1e6:,.0f}", f"{progress.total / 1e6:,.0f} MB"
    else:
        amounts = f"{progress.done:,}", f"{progress.total:,} {progress.unit}"
    if progress.total <= 0 and progress.done <= 0:
        return f"{progress.stage}…"
    if progress.total <= 0:
        return f"{progress.stage} {amounts[0]} {amounts[1].split()[-1]}"
    share = min(progress.done / progress.total, 1.0)
    filled = round(share * BAR)
    drawn = f"[{'#' * filled}{' ' * (BAR - filled)}] " if bar else ""
    left = ""
    if progress.seconds_left is not None and progress.done < progress.total:
        left = f", {duration(progress.seconds_left)} left"
    return f"{progress.stage} {drawn}{share:4.0%}  {amounts[0]} of {amounts[1]}{left}"


def duration(seconds: float) -> str:
    """Return seconds for people: "7 s", "3 min 20 s", "2 h 5 min"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
