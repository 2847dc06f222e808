"""Does a worker process start here and answer? Used by the doctor."""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING

from desktop.worker.process import Delivery, WorkerProcess

if TYPE_CHECKING:
    from desktop.paths import Paths

WAIT_S = 60.0
"""A worker starts within a second; a cold disk or a virus scanner may take long."""


def round_trip(paths: Paths) -> str:
    """Start a reader, and return what it said once it is ready.

    Raises:
        TimeoutError: if it does not answer.
    """
    inbox: queue.SimpleQueue[Delivery] = queue.SimpleQueue()
    worker = WorkerProcess("reader", paths, inbox.put)
    worker.start()
    try:
        delivery = inbox.get(timeout=WAIT_S)
    except queue.Empty:
        message = f"no answer within {WAIT_S:.0f} s"
        raise TimeoutError(message) from None
    finally:
        worker.close()
    if delivery.event != "ready":
        message = f"it {delivery.event}: {delivery.data}"
        raise TimeoutError(message)
    return "a worker process started and answered"
