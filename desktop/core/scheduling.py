"""Heavy work takes turns: an answer goes first, indexing waits, two writers never meet.

Built on file locks in the library's folder, so that it holds between the window's workers and
command lines alike, and a killed process lets go at once.

Source of the need: with one other busy process on two cores, llama.cpp fell from 40 to 0.6
tokens a second, since its threads spin at barriers.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from desktop.core.errors import CancelledError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

POLL_S = 0.02
"""How often a waiting process looks again."""
ASLEEP_S = 0.4
"""How long a waiting thread sleeps before it looks whether it was cancelled."""


def _acquire(
    take: Callable[[], bool],
    *,
    waiting: Callable[[], None] | None,
    cancelled: Callable[[], bool] | None,
) -> None:
    """Try `take` until it says yes; it may itself wait for a while."""
    told = False
    # The first tries are silent: background work probes the lock for an instant.
    silent_until = time.monotonic() + 0.3
    while True:
        if cancelled is not None and cancelled():
            raise CancelledError
        if take():
            return
        if waiting is not None and not told and time.monotonic() > silent_until:
            told = True
            waiting()


def _take_file(lock: FileLock) -> bool:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        time.sleep(POLL_S)
        return False
    return True


class Turns:
    """The turns of one library's heavy work.

    Args:
        folder: Where the lock files lie; it must exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Threads of one process queue here, asleep; only the first of them polls the file.
        self._queues: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    @contextmanager
    def hold(
        self,
        name: str,
        *,
        waiting: Callable[[], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[None]:
        """Hold the turn called `name`; one thread of one process has it at a time.

        Args:
            name: Part of a file's name.
            waiting: Called once where another has it.
            cancelled: Asked while waiting.

        Raises:
            CancelledError: if `cancelled` became true.
        """
        lock = FileLock(self._folder / f"{name}.lock", thread_local=False)
        queue = self._queues[name]
        _acquire(lambda: queue.acquire(timeout=ASLEEP_S), waiting=waiting, cancelled=cancelled)
        try:
            _acquire(lambda: _take_file(lock), waiting=waiting, cancelled=cancelled)
            try:
                yield
            finally:
                lock.release()
        finally:
            queue.release()

    def answering(
        self,
        *,
        waiting: Callable[[], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> AbstractContextManager[None]:
        """Hold the machine for an answer; all background work stands back."""
        return self.hold("answering", waiting=waiting, cancelled=cancelled)

    def writing(
        self, *, cancelled: Callable[[], bool] | None = None
    ) -> AbstractContextManager[None]:
        """Hold the index for one change to it: some tenths of a second."""
        return self.hold("writing", cancelled=cancelled)

    def importing(
        self, *, cancelled: Callable[[], bool] | None = None
    ) -> AbstractContextManager[None]:
        """Hold the catalogue while a file is copied and entered, so that nobody enters it twice."""
        return self.hold("taking-in", cancelled=cancelled)

    def answer_under_way(self) -> bool:
        """Whether an answer is being written by any process on this library."""
        lock = FileLock(self._folder / "answering.lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
        return False

    def stand_back(self, cancelled: Callable[[], bool]) -> float:
        """Background work calls this between small pieces; returns the seconds it waited.

        Raises:
            CancelledError: if `cancelled` became true meanwhile.
        """
        start = time.monotonic()
        while True:
            if cancelled():
                raise CancelledError
            if not self.answer_under_way():
                return time.monotonic() - start
            time.sleep(POLL_S * 5)
