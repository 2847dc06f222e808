"""The process boundary with real processes: requests, cancel, death and rebirth."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from desktop.worker.process import WorkerProcess
from tests.worker.inbox import Inbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.paths import Paths

pytestmark = pytest.mark.slow

SERVICE = "tests.worker.echo:Echo"


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def worker(paths: Paths, inbox: Inbox) -> Iterator[WorkerProcess]:
    process = WorkerProcess(SERVICE, paths, inbox.queue.put)
    yield process
    process.close()


def test_a_request_is_answered_with_its_bytes(worker: WorkerProcess, inbox: Inbox) -> None:
    job = worker.request("echo", {"text": "bonjour", "size": 3_000_000})
    done = inbox.of(job, "done")
    assert done.data == {"text": "bonjour"}
    assert done.blob == b"x" * 3_000_000


def test_lanes_do_not_wait_for_each_other(worker: WorkerProcess, inbox: Inbox) -> None:
    slow = worker.request("sleep", {"seconds": 20})
    inbox.of(slow, "started")
    quick = worker.request("echo", {"text": "now", "size": 0})
    assert inbox.of(quick, "done").data == {"text": "now"}
    worker.cancel(slow)
    inbox.of(slow, "cancelled")


def test_a_job_that_waits_in_its_lane_can_be_cancelled(worker: WorkerProcess, inbox: Inbox) -> None:
    first = worker.request("sleep", {"seconds": 20})
    inbox.of(first, "started")
    second = worker.request("sleep", {"seconds": 20})
    worker.cancel(second)
    worker.cancel(first)
    inbox.of(second, "cancelled")
    assert not any(d.job == second and d.event == "started" for d in inbox.seen)


@pytest.mark.parametrize(
    ("verb", "kind", "word"),
    [("refuse", "user", "remedy"), ("locked", "password", "password"), ("bug", "bug", "log")],
)
def test_failures_come_with_what_to_do(
    worker: WorkerProcess, inbox: Inbox, verb: str, kind: str, word: str
) -> None:
    failed = inbox.of(worker.request(verb), "failed").data
    assert failed["kind"] == kind
    assert failed["what"]
    assert word in failed["remedy"]


def test_a_killed_worker_is_reported_and_starts_again(worker: WorkerProcess, inbox: Inbox) -> None:
    job = worker.request("sleep", {"seconds": 60})
    inbox.of(job, "started")
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    news = inbox.of(job, "died").data
    assert news == {"exitcode": -signal.SIGKILL, "given_up": False}
    again = worker.request("echo", {"text": "back", "size": 0})
    assert inbox.of(again, "done").data == {"text": "back"}


def test_a_native_abort_is_reported_too(worker: WorkerProcess, inbox: Inbox) -> None:
    assert inbox.of(worker.request("abort"), "died").data["exitcode"] == -signal.SIGABRT


def test_one_that_keeps_dying_is_given_up_until_asked_again(
    worker: WorkerProcess, inbox: Inbox
) -> None:
    news = []
    while not news or not news[-1]["given_up"]:
        news.append(inbox.of(worker.request("abort"), "died").data)
        assert len(news) <= 10
    assert len(news) == 5
    again = worker.request("echo", {"text": "back", "size": 0})
    assert inbox.of(again, "done").data == {"text": "back"}


def test_closing_does_not_wait_for_the_work(worker: WorkerProcess, inbox: Inbox) -> None:
    job = worker.request("sleep", {"seconds": 60})
    inbox.of(job, "started")
    pid = worker.pid
    start = time.monotonic()
    worker.close()
    assert time.monotonic() - start < 2
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_worker_leaves_when_its_window_is_killed(paths: Paths) -> None:
    import subprocess
    import sys

    code = (
        "import sys, time\n"
        "from desktop import paths\n"
        "from desktop.worker.process import WorkerProcess\n"
        "if __name__ == '__main__':\n"
        f"    w = WorkerProcess({SERVICE!r}, paths.choose({str(paths.data)!r}), lambda d: None)\n"
        "    w.start(); print(w.pid, flush=True); time.sleep(60)\n"
    )
    script = paths.data / "parent.py"
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the worker outlived its window")
