"""The worker's side of the process boundary: takes requests, runs them, sends events back.

Each verb of a service has a lane; a lane is a pool of one thread that takes its requests in
order, so that a search is answered while a book is being indexed. Knows nothing of Qt, nor of
what the services do.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from desktop import environment, log
from desktop.core.codec import encode
from desktop.core.errors import CancelledError, PasswordNeededError, UserFacingError, unreadable
from desktop.worker.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from desktop.paths import Paths

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """One request while it runs.

    Attributes:
        id: Number given by the window; goes back with every event.
        args: The request's arguments, plain JSON values.
    """

    id: int
    args: dict[str, Any]
    channel: Channel
    stop: threading.Event = field(default_factory=threading.Event)

    def emit(self, event: str, data: Any = None, blob: bytes | None = None) -> None:
        """Send an event of this job to the window."""
        self.channel.send({"job": self.id, "event": event, "data": encode(data)}, blob)

    def cancelled(self) -> bool:
        """Whether the window asked to stop it."""
        return self.stop.is_set()


@dataclass(frozen=True)
class WithBytes:
    """A result that comes with a block of bytes."""

    data: Any
    blob: bytes


class Service(Protocol):
    """What a worker does: verbs, each with its lane and its function.

    Where it has a method `leave`, that is called as the last thing when the window closes.
    """

    def verbs(self) -> dict[str, tuple[str, Callable[[Job], Any]]]:
        """Return verb -> (lane, function from a job to its result)."""


SERVICES = {
    "reader": "desktop.worker.reader:Reader",
    "librarian": "desktop.worker.librarian:Librarian",
    "answerer": "desktop.worker.answerer:Answerer",
    "fetcher": "desktop.worker.fetcher:Fetcher",
}
"""Kind of worker -> its service, imported in the worker only; a kind that is not here is itself
`module:Class`, for tests."""

NICENESS = {"reader": 0, "librarian": 10, "answerer": 2, "fetcher": 10}
"""How far each kind stands back for the window; indexing most of all."""


EACH = ""
"""The lane of verbs whose jobs wait for nobody: each gets a thread of its own."""
MOST_ALONE = 24
"""Of these at most so many at once: a folder of a thousand books is no reason for as many
threads and open files."""


def _run(job: Job, function: Callable[[Job], Any], finished: Callable[[Job], None]) -> None:
    try:
        _perform(job, function)
    except OSError:  # the window is gone, and the main thread sees it too
        pass
    except Exception:  # such as a result that is no JSON; a thread pool would swallow it
        logger.exception("the end of job %s could not be told", job.id)
    finally:
        finished(job)


def _perform(job: Job, function: Callable[[Job], Any]) -> None:
    try:
        if job.cancelled():
            raise CancelledError
        result = function(job)
    except CancelledError:
        job.emit("cancelled")
    except UserFacingError as error:
        kind = "password" if isinstance(error, PasswordNeededError) else "user"
        job.emit("failed", {"kind": kind, "what": error.what, "remedy": error.remedy})
    except sqlite3.DatabaseError as error:
        logger.exception("job %s failed", job.id)
        refusal = unreadable(error)
        job.emit("failed", {"kind": "system", "what": refusal.what, "remedy": refusal.remedy})
    except OSError as error:
        logger.exception("job %s failed", job.id)
        job.emit(
            "failed",
            {
                "kind": "system",
                "what": f"The system reported: {error}",
                "remedy": "Check that the disk is not full and the file can be read",
            },
        )
    except Exception as error:
        logger.exception("job %s failed", job.id)
        job.emit(
            "failed",
            {
                "kind": "bug",
                "what": f"Something unexpected happened: {error!r}",
                "remedy": "Try again; the log file has the details",
            },
        )
    else:
        if isinstance(result, WithBytes):
            job.emit("done", result.data, result.blob)
        else:
            job.emit("done", result)


class Host:
    """Takes requests from a channel until it closes, and runs them in the service's lanes."""

    def __init__(self, channel: Channel, service: Service) -> None:
        self._channel = channel
        self._verbs = service.verbs()
        self._running: dict[int, Job] = {}
        self._lanes = {EACH: ThreadPoolExecutor(MOST_ALONE, thread_name_prefix="alone")}

    def serve(self) -> None:
        """Run until the other side closes."""
        while True:
            try:
                message, _ = self._channel.receive()
            except (EOFError, OSError):
                return
            if "quit" in message:
                return
            if "cancel" in message:
                job = self._running.get(message["cancel"])
                if job:
                    job.stop.set()
                continue
            self._start(message)

    def _start(self, message: dict[str, Any]) -> None:
        lane_name, function = self._verbs[message["do"]]
        job = Job(id=message["job"], args=message["args"], channel=self._channel)
        self._running[job.id] = job
        if lane_name not in self._lanes:
            self._lanes[lane_name] = ThreadPoolExecutor(1, thread_name_prefix=lane_name)
        self._lanes[lane_name].submit(_run, job, function, self._forget)

    def _forget(self, job: Job) -> None:
        self._running.pop(job.id, None)


def lower_priority(kind: str) -> None:
    """Let the window, and then the answer, go before this process."""
    import psutil  # a worker only; the window must not pay for it

    try:
        if sys.platform == "win32":
            if NICENESS.get(kind, 0) > 5:
                psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        else:
            os.nice(NICENESS.get(kind, 0))
    except (OSError, psutil.Error):
        logger.info("priority of %s left as it is", kind)


def main(kind: str, connection: Connection, paths: Paths) -> None:
    """Run a worker; the target of the spawned process."""
    environment.prepare()
    log.start(paths, name=kind.rpartition(":")[2].lower())
    lower_priority(kind)
    module, _, name = SERVICES.get(kind, kind).partition(":")
    channel = Channel(connection)
    service: Service = getattr(importlib.import_module(module), name)(paths)
    channel.send({"job": 0, "event": "ready", "data": {"pid": os.getpid()}})
    try:
        Host(channel, service).serve()
    finally:
        with contextlib.suppress(Exception):
            getattr(service, "leave", lambda: None)()
        # Lanes may be deep in native code; everything they keep is checkpointed.
        logging.shutdown()
        os._exit(0)
