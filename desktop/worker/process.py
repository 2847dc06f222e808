"""The window's side of the process boundary: starts a worker, talks to it, starts it again.

One thread a worker waits for its messages and hands them to a callback. No Qt: the window
passes a callback that moves them to its own thread.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop.worker import host
from desktop.worker.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.process import BaseProcess

    from desktop.paths import Paths
    from desktop.worker.channel import Message

logger = logging.getLogger(__name__)

GRACE_S = 0.5
"""How long a worker may take to leave before it is killed; all it keeps is checkpointed."""
CRASH_LIMIT, CRASH_SPAN_S = 5, 60.0
"""A worker that dies this often within this span is not started again by itself."""


@dataclass(frozen=True)
class Delivery:
    """A message from a worker, or the news of its death (`event` is then "died").

    Attributes:
        job: The request it belongs to; 0 for none.
        event: "ready", "progress", "token", "done", "failed", "cancelled", "died", ….
        data: Plain JSON values.
        blob: Bytes, such as a picture.
    """

    job: int
    event: str
    data: Any = None
    blob: bytes = b""


class WorkerProcess:
    """One kind of worker that is restarted when it dies.

    Args:
        kind: A key of `host.SERVICES`.
        paths: The folders it works on.
        deliver: Called with each `Delivery`, from a thread of its own.
    """

    _jobs = itertools.count(1)

    def __init__(self, kind: str, paths: Paths, deliver: Callable[[Delivery], None]) -> None:
        self.kind = kind
        self._paths = paths
        self._deliver = deliver
        self._process: BaseProcess | None = None
        self._channel: Channel | None = None
        self._lock = threading.RLock()
        self._pending: set[int] = set()
        self._deaths: list[float] = []
        self._closing = False
        self._listener: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """Its process id; None where it does not run."""
        process = self._process
        return process.pid if process is not None and process.is_alive() else None

    def start(self) -> None:
        """Start it unless it runs. Takes some milliseconds; its imports go on by themselves."""
        with self._lock:
            if self._channel is not None or self._closing:
                return
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(
                target=host.main,
                args=(self.kind, theirs, self._paths),
                name=f"lutrin-{self.kind}",
                daemon=True,
            )
            process.start()
            theirs.close()
            channel = Channel(ours)
            self._process, self._channel = process, channel
            self._listener = threading.Thread(
                target=self._listen,
                args=(process, channel),
                name=f"{self.kind}-listener",
                daemon=True,
            )
            self._listener.start()

    def request(self, do: str, args: dict[str, Any] | None = None) -> int:
        """Send a request, starting the worker where needed; return the job's number.

        A worker that is gone answers with a "died" delivery, never with an exception.
        """
        job = next(self._jobs)
        with self._lock:
            self.start()
            channel = self._channel
            self._pending.add(job)
        try:
            if channel is None:
                raise BrokenPipeError
            channel.send({"job": job, "do": do, "args": args or {}})
        except OSError:  # it died this moment
            if self._take(job):
                self._deliver(Delivery(job, "died", {"exitcode": None, "given_up": False}))
        return job

    def cancel(self, job: int) -> None:
        """Ask to stop a job; it answers "cancelled", or "done" where it was quicker."""
        channel = self._channel
        if channel is not None and job in self._pending:
            try:
                channel.send({"cancel": job})
            except OSError:
                logger.info("%s was gone when job %s was cancelled", self.kind, job)

    def close(self) -> None:
        """Stop it, without waiting longer than `GRACE_S`."""
        with self._lock:
            self._closing = True
            process, channel = self._process, self._channel
            self._channel = None
        if channel is not None:
            with contextlib.suppress(OSError):
                channel.send({"quit": True})
        if process is not None:
            process.join(GRACE_S)
            if process.is_alive():
                process.kill()
                process.join(GRACE_S)
        if self._listener is not None:
            self._listener.join(GRACE_S)

    def _take(self, job: int) -> bool:
        with self._lock:
            if job not in self._pending:
                return False
            self._pending.remove(job)
            return True

    def _listen(self, process: BaseProcess, channel: Channel) -> None:
        while True:
            try:
                message, blob = channel.receive()
            except (EOFError, OSError, ValueError):
                break
            self._pass_on(message, blob)
        # Closed here and nowhere else: a descriptor closed under a reading thread may be
        # another's by the time it reads on.
        channel.close()
        if not self._closing:
            self._bury(process)

    def _pass_on(self, message: Message, blob: bytes) -> None:
        job, event = message["job"], message["event"]
        if event in ("done", "failed", "cancelled"):
            self._take(job)
        self._deliver(Delivery(job, event, message.get("data"), blob))

    def _bury(self, process: BaseProcess) -> None:
        process.join(GRACE_S)
        with self._lock:
            self._process = self._channel = None
            lost, self._pending = sorted(self._pending), set()
            now = time.monotonic()
            self._deaths = [t for t in self._deaths if now - t < CRASH_SPAN_S] + [now]
            given_up = len(self._deaths) >= CRASH_LIMIT
        logger.warning("%s died, exit code %s", self.kind, process.exitcode)
        news = {"exitcode": process.exitcode, "given_up": given_up}
        if not given_up:
            self.start()
        for job in [*lost, 0]:
            self._deliver(Delivery(job, "died", news))
