"""How a large file comes to be in the models' folder whole and right, or not at all.

Owns hashing, syncing, the last atomic step, the check of the disk, and the stamps that spare
hashing an unchanged file again. Must not know where files come from or what is in them.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.hardware.machine_info import free_disk
from desktop.core.progress import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from desktop.core.llm.models.catalogue import CatalogueModel
    from desktop.core.records import Progress

BLOCK = 1024 * 1024  # bytes between two looks at `cancelled`: 1 to 10 ms of work
POLL_S = 0.05  # seconds between two looks at a child process
DISK_RESERVE = 64 * 10**6  # bytes left free, so that the library can go on writing


class SourceError(Exception):
    """A source didn't deliver; the text says why in plain words, without a full stop."""


@dataclass(frozen=True)
class Job:
    """One file to be fetched.

    Attributes:
        model: What is wanted.
        folder: Where its pieces are gathered; kept when the work stops, so that it can go on.
        report: To be told the bytes that are there.
        cancelled: To be asked every 100 ms at least.
    """

    model: CatalogueModel
    folder: Path
    report: Callable[[int], None]
    cancelled: Callable[[], bool]

    def check(self) -> None:
        """Raise CancelledError if the user stopped the work."""
        if self.cancelled():
            raise CancelledError


class Meter:
    """Turns byte counts into `Progress`.

    What is shown never goes back: a wheel on its way can be larger than the pieces in it. One
    meter serves one stage of one source.
    """

    def __init__(self, stage: str, total: int, progress: Callable[[Progress], None]) -> None:
        self._stage, self._total, self._progress = stage, total, progress
        self._done = 0
        self._pace: Pace | None = None

    def __call__(self, done: int) -> None:
        """Report that `done` bytes are there, if it is time to; the first tells no pace."""
        before, self._done = self._done, max(self._done, min(done, self._total))
        if before == self._total and self._pace is not None:
            return
        if self._pace is None:
            self._pace = Pace(
                self._progress, self._stage, total=self._total, unit="bytes", done=self._done
            )
        else:
            self._pace.at(self._done)


def sha256_of(path: Path, *, report: Callable[[int], None], cancelled: Callable[[], bool]) -> str:
    """Return the SHA-256 of a file, hexadecimal; raise CancelledError when told to stop."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            if cancelled():
                raise CancelledError
            digest.update(block)
            done += len(block)
            report(done)
    return digest.hexdigest()


def copy_hashed(
    source: Path,
    target: Path,
    *,
    report: Callable[[int], None],
    cancelled: Callable[[], bool],
) -> str:
    """Copy a file and return its SHA-256; raise CancelledError when told to stop."""
    digest = hashlib.sha256()
    done = 0
    with source.open("rb") as reading, target.open("wb") as writing:
        while block := reading.read(BLOCK):
            if cancelled():
                raise CancelledError
            digest.update(block)
            writing.write(block)
            done += len(block)
            report(done)
    return digest.hexdigest()


def check_disk(folder: Path, needed: int, *, what: str) -> None:
    """Raise UserFacingError unless `needed` bytes and a reserve are free where `folder` lies."""
    free = free_disk(folder)
    if free < needed + DISK_RESERVE:
        raise UserFacingError(
            f"{what} needs {megabytes(needed)} of disk space, and {megabytes(free)} are free",
            "Free some space, or choose a smaller model",
        )


def install(staged: Path, final: Path, *, sha256: str) -> None:
    """Put a complete, verified file under its final name in one step, and stamp it."""
    with staged.open("rb+") as file:
        os.fsync(file.fileno())
    staged.replace(final)
    sync_folder(final.parent)
    write_stamp(final, sha256)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` last through a power cut, where the system can."""
    with suppress(OSError):  # Windows can't open folders, and needn't
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small JSON file in one step, so that it is never found half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; empty where it is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write_stamp(path: Path, sha256: str) -> None:
    """Note the hash of the file at `path`, valid as long as its size and time stay."""
    with suppress(OSError):  # a folder that can't be written to costs hashing again
        status = path.stat()
        stamp = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256}
        write_json(_stamp(path), stamp)


def stamped_hash(path: Path) -> str:
    """Return the noted hash of the file at `path`; empty where none is noted or it changed."""
    stamp = read_json(_stamp(path))
    try:
        status = path.stat()
    except OSError:
        return ""
    if (stamp.get("size"), stamp.get("mtime_ns")) != (status.st_size, status.st_mtime_ns):
        return ""
    return str(stamp.get("sha256", ""))


def remove_stamp(path: Path) -> None:
    """Forget the noted hash of the file at `path`."""
    with suppress(OSError):
        _stamp(path).unlink(missing_ok=True)


def is_whole(
    path: Path,
    *,
    size: int,
    sha256: str,
    report: Callable[[int], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """Return whether the file at `path` has this size and hash; hash it where no stamp says so.

    Hashing takes about a second a gigabyte, once, for a file that somebody put there by hand.
    """
    try:
        if path.stat().st_size != size:
            return False
        if not (found := stamped_hash(path)):
            found = sha256_of(path, report=report, cancelled=cancelled)
            write_stamp(path, found)
    except OSError:
        return False
    return found == sha256


def megabytes(size: int) -> str:
    """`size` bytes for people: "98 MB", "1,117 MB"."""
    return f"{max(size, 0) / 1e6:,.0f} MB"


def _stamp(path: Path) -> Path:
    return path.parent / ".verified" / f"{path.name}.json"
