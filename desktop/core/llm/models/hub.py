"""Fetching a file from the Hugging Face hub, in a process of its own.

Owns the only use of huggingface_hub. It runs in a child process for three reasons: the program
sets HF_HUB_OFFLINE, which huggingface_hub reads once on import, so only a fresh process can be
online without changing that for everything else; stopping is a kill, which works in the middle of
a name look-up or a stalled read; and its memory and its crashes stay apart.

`hf_hub_download` of huggingface_hub 2.4.0 writes to a file with a random name and deletes it when
it fails, so it can't resume. Here its parts do: `get_hf_file_metadata` for the address and the
size, `http_get` for the bytes from where the part file ends. The bytes of a killed process are in
the page cache, so the part file is always a true beginning; after a power cut it may not be, which
the hash then shows.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import threading
import time
from contextlib import contextmanager
from multiprocessing import connection
from typing import TYPE_CHECKING

from desktop.core.llm.models.atomic_import import POLL_S, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

    from desktop.core.llm.models.atomic_import import Job
    from desktop.core.llm.models.catalogue import HubSource

TIMEOUT_S = "10"  # without an answer or a byte for so long, huggingface_hub tries again
STALL_S = 30.0  # without a new byte for so long, the source counts as failed
BLOCK = 256 * 1024  # bytes written at once; huggingface_hub's 10 MB would be lost on a stop

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
_SETTINGS = {
    "HF_HUB_DISABLE_XET": "1",  # its own cache and protocol, and no resume into a given file
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",  # public files; nobody's login goes out
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_ETAG_TIMEOUT": TIMEOUT_S,
    "HF_HUB_DOWNLOAD_TIMEOUT": TIMEOUT_S,
}


def fetch_hub(job: Job, source: HubSource) -> Path:
    """Fetch the file and return the path of the complete, unverified file.

    Raises:
        SourceError: if the hub can't be reached, or has another file under that name.
        CancelledError: if the user stopped the work; it goes on from the same byte.
    """
    job.folder.mkdir(parents=True, exist_ok=True)
    part = job.folder / f"{job.model.file}.part"
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(
        target=download,
        args=(source, part, job.model.size_bytes),
        kwargs={"sha256": job.model.sha256, "answers": sender},
        name="lutrin-hub",
        daemon=True,
    )
    with receiver:
        with _children_allowed():
            child.start()
        sender.close()
        try:
            problem = _watch(job, part, receiver)
        finally:
            child.kill()
            child.join()
            child.close()
    if problem:
        raise SourceError(problem)
    return part


@contextmanager
def _children_allowed() -> Iterator[None]:
    """Lift Python's rule that a daemonic process, such as a worker, has no children.

    The rule keeps children from being left behind; this one ends with its parent by itself.
    """
    this = multiprocessing.current_process()
    daemon = this.daemon
    if daemon:
        this.daemon = False
    try:
        yield
    finally:
        if daemon:
            this.daemon = True


def _watch(job: Job, part: Path, receiver: Connection) -> str:
    """Report until the child answers; return what went wrong, or nothing."""
    size, changed = -1, time.monotonic()
    while not receiver.poll(POLL_S):
        job.check()
        before, size = size, part.stat().st_size if part.exists() else 0
        if size != before:
            changed = time.monotonic()
        elif time.monotonic() - changed > STALL_S:
            return "the hub stopped answering"
        job.report(size)
    try:
        return str(receiver.recv())
    except (EOFError, OSError):
        return "the download ended unexpectedly"


def download(source: HubSource, part: Path, size: int, *, sha256: str, answers: Connection) -> None:
    """Fetch the rest of the file into `part`; answer "" or what went wrong. In the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which then kills this
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name in _OFFLINE:
        os.environ.pop(name, None)
    os.environ.update(_SETTINGS)
    logging.disable(logging.CRITICAL)
    try:
        problem = _download(source, part, size, sha256=sha256)
    except Exception as error:  # whatever a network can do
        problem = _plain(error)
    answers.send(problem)


def _download(source: HubSource, part: Path, size: int, *, sha256: str) -> str:
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get

    constants.DOWNLOAD_CHUNK_SIZE = BLOCK
    url = hf_hub_url(source.repo, source.file, revision=source.revision)
    found = get_hf_file_metadata(url, token=False, timeout=float(TIMEOUT_S))
    other = re.fullmatch(r"[0-9a-f]{64}", found.etag or "") and found.etag != sha256
    if other or (found.size is not None and found.size != size):
        return "the hub now has another file under that name"
    with part.open("ab") as file:
        have = file.tell()
        if have > size:
            file.truncate(0)
            have = 0
        http_get(url, file, resume_size=have, expected_size=size)
        file.flush()
        os.fsync(file.fileno())
    return ""


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, so that none is left behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _plain(error: Exception) -> str:
    """What went wrong with the network in plain words."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if "TimeoutException" in names or "TimeoutError" in names:
        return "the hub didn't answer in time"
    if names & {"ConnectError", "NetworkError", "ConnectionError", "ProxyError"}:
        return "the hub can't be reached"
    response = getattr(error, "response", None)
    if response is not None:
        return f"the hub answered with an error ({response.status_code})"
    return f"the hub's answer was of no use ({type(error).__name__})"
