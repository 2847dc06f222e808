"""Progress with time left, from the pace of the work so far."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from desktop.core.records import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

WARM_UP_S = 0.5
"""No estimate before this: the first units pay for imports and caches."""
SMOOTH_S = 4.0
"""Time constant of the moving average of the pace."""
MEASURE_S = 0.1
"""Shorter stretches than this are too noisy to measure a pace by."""
REPORT_S = 0.1
"""Reports closer together than this are dropped, but for the last."""


class Pace:
    """Reports one stage of work to a callback.

    Args:
        report: Gets each `Progress`.
        stage: What is being done.
        total: Units in all; 0 where not known.
        unit: "pages", "passages", "bytes", "tokens".
        done: Units that were there before, which tell nothing about the pace.
    """

    def __init__(
        self,
        report: Callable[[Progress], None],
        stage: str,
        *,
        total: int,
        unit: str,
        done: int = 0,
    ) -> None:
        self._report = report
        self._stage, self._total, self._unit = stage, total, unit
        self._start = self._last = self._reported = time.monotonic()
        self._done = self._measured = done
        self._rate: float | None = None
        self._idle = 0.0
        report(Progress(stage, done, total, unit))

    def idle(self, seconds: float) -> None:
        """Leave out time in which the work stood back."""
        self._idle += seconds

    def more(self, units: int) -> None:
        """Say that so many more units are done."""
        self.at(self._done + units)

    def at(self, done: int) -> None:
        """Say how many units are done now."""
        now = time.monotonic()
        self._measure(now, done)
        if done < self._total and now - self._reported < REPORT_S:
            return
        self._done, self._reported = done, now
        left = None
        if self._rate and self._total and now - self._start > WARM_UP_S:
            left = max(0.0, (self._total - done) / self._rate)
        self._report(Progress(self._stage, done, self._total, self._unit, left))

    def _measure(self, now: float, done: int) -> None:
        """Take a new pace into the average, weighted by how long it was seen."""
        elapsed = now - self._last - self._idle
        gained = done - self._measured
        self._done = done
        if gained <= 0 or elapsed < MEASURE_S:
            return
        rate = gained / elapsed
        weight = min(1.0, elapsed / SMOOTH_S) if self._rate else 1.0
        self._rate = (self._rate or 0.0) + weight * (rate - (self._rate or 0.0))
        self._last, self._measured, self._idle = now, done, 0.0
