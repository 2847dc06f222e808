"""A service for tests of the process boundary; runs in a real worker process."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from desktop.core.errors import CancelledError, PasswordNeededError, UserFacingError
from desktop.worker.host import WithBytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.paths import Paths
    from desktop.worker.host import Job


class Echo:
    """Gives back what it gets, sleeps, refuses, breaks and dies."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        return {
            "echo": ("quick", self.echo),
            "sleep": ("slow", self.sleep),
            "refuse": ("quick", self.refuse),
            "locked": ("quick", self.locked),
            "bug": ("quick", self.bug),
            "abort": ("quick", self.abort),
        }

    def echo(self, job: Job) -> WithBytes:
        return WithBytes({"text": job.args["text"]}, b"x" * job.args["size"])

    def sleep(self, job: Job) -> None:
        job.emit("started")
        end = time.monotonic() + job.args["seconds"]
        while time.monotonic() < end:
            if job.cancelled():
                raise CancelledError
            time.sleep(0.01)

    def refuse(self, _job: Job) -> None:
        raise UserFacingError("No", "This is the remedy")

    def locked(self, _job: Job) -> None:
        raise PasswordNeededError("Locked", "Give its password")

    def bug(self, _job: Job) -> None:
        message = "unforeseen"
        raise ZeroDivisionError(message)

    def abort(self, _job: Job) -> None:
        os.abort()
