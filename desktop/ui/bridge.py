"""Passes what workers send from their listener threads to the window's own thread.

Owns the queue between the two and the handles of running jobs. Knows nothing of what the jobs
do. A worker's process is started by its first request, never by the import.
"""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.paths import Paths
    from desktop.worker.process import Delivery, WorkerProcess

    Listener = Callable[[Delivery], None]

LAST_EVENTS = frozenset({"done", "failed", "cancelled", "died"})
SLICE_S = 0.012
"""How long deliveries are handed out before the window gets its turn to paint."""


class JobHandle:
    """One request on its way; `cancel` asks to stop it, `drop` forgets it."""

    def __init__(self, bridge: Bridge, number: int, listener: Listener) -> None:
        self._bridge = bridge
        self.number = number
        self.listener: Listener | None = listener

    @property
    def running(self) -> bool:
        """Whether its last event is still to come."""
        return self.listener is not None

    def cancel(self) -> None:
        """Ask the worker to stop it; its last event still comes."""
        if self.running:
            self._bridge.cancel(self)

    def drop(self) -> None:
        """Cancel it and ignore whatever still comes of it."""
        if self.running:
            self._bridge.cancel(self)
            self._bridge.forget(self)


class Bridge(QObject):
    """The window's end of the connection to one worker.

    Args:
        kind: Its name in the window, such as "librarian".
        service: The service that the worker runs; another than `kind` only in tests.
        paths: The folders it works on.
    """

    died = Signal(str, object)
    """Its kind, and {"exitcode": int | None, "given_up": bool}."""
    _woken = Signal()

    def __init__(
        self, kind: str, service: str, paths: Paths, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.kind = kind
        self._service = service
        self._paths = paths
        self._worker: WorkerProcess | None = None
        self._jobs: dict[int, JobHandle] = {}
        self._inbox: deque[Delivery] = deque()
        self._awake = False
        self._closed = False
        self._woken.connect(self._hand_out, Qt.ConnectionType.QueuedConnection)

    @property
    def pid(self) -> int | None:
        """The worker's process id, where it runs."""
        return self._worker.pid if self._worker else None

    def start(self) -> None:
        """Start the worker before its first request."""
        if not self._closed:
            self._process().start()

    def request(
        self, do: str, args: dict[str, Any] | None = None, *, on_event: Listener
    ) -> JobHandle:
        """Send a request. `on_event` gets each of its deliveries, in the window's thread."""
        if self._closed:
            return JobHandle(self, 0, on_event)
        number = self._process().request(do, args)
        # Deliveries wait in the inbox until this call is over, so none can be missed.
        handle = JobHandle(self, number, on_event)
        self._jobs[number] = handle
        return handle

    def cancel(self, handle: JobHandle) -> None:
        """Ask the worker to stop a job."""
        if self._worker and not self._closed:
            self._worker.cancel(handle.number)

    def forget(self, handle: JobHandle) -> None:
        """Ignore whatever still comes of a job."""
        self._jobs.pop(handle.number, None)
        handle.listener = None

    def close(self) -> None:
        """Stop the worker; nothing is delivered from here on. Bounded by its grace time."""
        self._closed = True
        self._jobs.clear()
        self._inbox.clear()
        if self._worker:
            self._worker.close()

    def _process(self) -> WorkerProcess:
        if self._worker is None:
            # multiprocessing costs 25 ms to import: after the first paint only.
            from desktop.worker.process import WorkerProcess

            self._worker = WorkerProcess(self._service, self._paths, self._receive)
        return self._worker

    def _receive(self, delivery: Delivery) -> None:
        """Take a delivery; runs in the worker's listener thread."""
        if self._closed:
            return
        self._inbox.append(delivery)
        if not self._awake:
            self._awake = True
            with contextlib.suppress(RuntimeError):  # the window was deleted this moment
                self._woken.emit()

    def _hand_out(self) -> None:
        self._awake = False
        end = perf_counter() + SLICE_S
        while self._inbox and not self._closed:
            self._deliver(self._inbox.popleft())
            if perf_counter() > end and self._inbox:
                self._awake = True
                QTimer.singleShot(0, self._hand_out)
                return

    def _deliver(self, delivery: Delivery) -> None:
        handle = self._jobs.get(delivery.job)
        if handle is not None and handle.listener is not None:
            listener = handle.listener
            if delivery.event in LAST_EVENTS:
                self.forget(handle)
            listener(delivery)
        elif delivery.job == 0 and delivery.event == "died":
            self.died.emit(self.kind, delivery.data)


class LatestRequest:
    """Sends requests of which only the newest of each verb counts; the one before is dropped."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._jobs: dict[str, JobHandle] = {}

    def ask(self, verb: str, args: dict[str, Any], on_event: Listener) -> None:
        """Send a request in the place of the last one of its verb."""
        self.drop(verb)
        self._jobs[verb] = self._bridge.request(verb, args, on_event=on_event)

    def drop(self, verb: str) -> None:
        """Cancel the last request of a verb and ignore whatever still comes of it."""
        job = self._jobs.pop(verb, None)
        if job is not None:
            job.drop()


@dataclass(frozen=True)
class Workers:
    """The four workers behind one window."""

    reader: Bridge
    librarian: Bridge
    answerer: Bridge
    fetcher: Bridge

    def all(self) -> tuple[Bridge, ...]:
        """Return them, in the order in which they are to be stopped."""
        return (self.librarian, self.answerer, self.reader, self.fetcher)

    def close(self) -> None:
        """Stop them all, within about a second each at worst."""
        for bridge in self.all():
            bridge.close()


def connect_workers(
    paths: Paths, parent: QObject | None, kinds: dict[str, str] | None = None
) -> Workers:
    """Return the workers of a window; `kinds` puts others in the place of the real ones."""
    names = ("reader", "librarian", "answerer", "fetcher")
    return Workers(**{n: Bridge(n, (kinds or {}).get(n, n), paths, parent) for n in names})
