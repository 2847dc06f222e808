"""Requests of which only the newest of a kind counts: the one before is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.ui.bridge import Bridge, JobHandle
    from desktop.worker.process import Delivery


class LatestRequest:
    """The newest request a verb."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._jobs: dict[str, JobHandle] = {}

    def ask(self, verb: str, args: dict[str, Any], on_event: Callable[[Delivery], None]) -> None:
        """Send a request in the place of the last one of its verb."""
        self.drop(verb)
        self._jobs[verb] = self._bridge.request(verb, args, on_event=on_event)

    def drop(self, verb: str) -> None:
        """Hear no more of the last request of a verb."""
        job = self._jobs.pop(verb, None)
        if job is not None:
            job.drop()
