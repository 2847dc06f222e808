"""Collects what a worker delivers."""

from __future__ import annotations

import queue
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.worker.process import Delivery

WAIT_S = 120.0


class Inbox:
    """Collects deliveries and waits for one that fits."""

    def __init__(self) -> None:
        self.queue: queue.SimpleQueue[Delivery] = queue.SimpleQueue()
        self.seen: list[Delivery] = []

    def wait(self, fits: Callable[[Delivery], bool]) -> Delivery:
        end = time.monotonic() + WAIT_S
        while True:
            delivery = self.queue.get(timeout=max(0.01, end - time.monotonic()))
            self.seen.append(delivery)
            if fits(delivery):
                return delivery

    def of(self, job: int, event: str) -> Delivery:
        return self.wait(lambda d: d.job == job and d.event == event)
