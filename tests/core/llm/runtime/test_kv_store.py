"""Saved KV states: kept within their quota, and never used where they are not sound."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from desktop.core.llm.runtime import kv_store
from desktop.core.llm.runtime.kv_store import KVStore

if TYPE_CHECKING:
    from pathlib import Path

BOOK, OTHER = "a" * 64, "b" * 64
BLOCK, STATE = (1, 2, 3), bytes(range(256)) * 40
SIZE = len(STATE) + 48


@pytest.fixture
def store(tmp_path: Path) -> KVStore:
    return KVStore(tmp_path / "states", quota=lambda: 10 * SIZE)


def files(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "states").glob("*/*/*"))


def test_a_state_is_found_by_its_model_book_and_tokens_alone(store: KVStore) -> None:
    mine = store.of("model", BOOK)
    mine.save(BLOCK, STATE)
    assert mine.load(BLOCK) == STATE
    assert mine.has(BLOCK)
    assert mine.load((1, 2)) is None
    assert store.of("another", BOOK).load(BLOCK) is None
    assert store.of("model", OTHER).load(BLOCK) is None


@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "lengthened", "headless"])
def test_a_damaged_state_is_deleted_and_can_be_saved_again(
    store: KVStore, tmp_path: Path, harm: str
) -> None:
    mine = store.of("model", BOOK)
    mine.save(BLOCK, STATE)
    (path,) = files(tmp_path)
    raw = path.read_bytes()
    middle = len(raw) // 2
    path.write_bytes(
        {
            "cut": raw[:-1],
            "flipped": raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :],
            "empty": b"",
            "lengthened": raw + b"\0",
            "headless": raw[8:],
        }[harm]
    )
    assert mine.load(BLOCK) is None
    assert not path.exists()
    mine.save(BLOCK, STATE)
    assert mine.load(BLOCK) == STATE


def test_the_state_of_another_block_under_this_name_is_refused(
    store: KVStore, tmp_path: Path
) -> None:
    mine = store.of("model", BOOK)
    mine.save(BLOCK, STATE)
    (path,) = files(tmp_path)
    mine.save((9, 9), STATE[::-1])
    (other,) = set(files(tmp_path)) - {path}
    shutil.copy(other, path)
    assert mine.load(BLOCK) is None


def test_the_least_recently_used_is_evicted_first(store: KVStore, tmp_path: Path) -> None:
    mine = store.of("model", BOOK)
    for number in range(10):
        mine.save((number,), STATE)
    for age, path in enumerate(files(tmp_path)):
        os.utime(path, (1000 + age, 1000 + age))
    assert mine.load((4,)) == STATE  # used now
    mine.save((10,), STATE)
    assert store.usage().bytes <= 10 * SIZE
    assert mine.has((4,))
    assert mine.has((10,))
    assert not store.full


def test_a_state_larger_than_the_quota_is_not_saved(tmp_path: Path) -> None:
    small = KVStore(tmp_path / "states", quota=lambda: SIZE - 1)
    small.of("model", BOOK).save(BLOCK, STATE)
    assert small.full
    assert small.usage() == kv_store.Usage(0, 0)


def test_a_full_disk_is_said_and_leaves_nothing_behind(
    store: KVStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = store.of("model", BOOK)
    mine.save((1,), STATE)

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", full)
        mine.save(BLOCK, STATE)
    assert store.full
    assert len(files(tmp_path)) == 1
    mine.save(BLOCK, STATE)
    assert not store.full
    assert mine.load(BLOCK) == STATE


@pytest.mark.skipif(sys.platform == "win32", reason="no limit for a file's size to run into")
def test_a_disk_that_takes_no_more_in_the_middle_of_a_file(tmp_path: Path) -> None:
    script = f"""
import resource, signal
from pathlib import Path
from desktop.core.llm.runtime.kv_store import KVStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({SIZE} // 2, {SIZE} // 2))
store = KVStore(Path({str(tmp_path / "states")!r}), quota=lambda: 10 * {SIZE})
mine = store.of("model", {BOOK!r})
mine.save((1,), {STATE!r})
print(store.full, mine.load((1,)), store.usage().states)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "True None 0\n", done.stderr
    assert files(tmp_path) == []


def test_half_files_of_a_kill_are_deleted_later_but_not_those_being_written(
    store: KVStore, tmp_path: Path
) -> None:
    mine = store.of("model", BOOK)
    mine.save(BLOCK, STATE)
    (path,) = files(tmp_path)
    old, new = path.with_name("x.1.part"), path.with_name("x.2.part")
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (1000, 1000))
    assert store.usage() == kv_store.Usage(1, SIZE)
    assert not old.exists()
    assert new.exists()


def test_a_book_takes_its_states_along(store: KVStore) -> None:
    for book in (BOOK, OTHER):
        for model in ("model", "another"):
            store.of(model, book).save(BLOCK, STATE)
    assert store.usage(BOOK) == kv_store.Usage(2, 2 * SIZE)
    store.forget(BOOK)
    assert store.usage(BOOK) == kv_store.Usage(0, 0)
    assert store.usage() == kv_store.Usage(2, 2 * SIZE)
    store.clear()
    assert store.usage() == kv_store.Usage(0, 0)


def test_by_default_a_tenth_of_the_free_disk_or_eight_gigabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    for free, quota in ((10**10, 10**9), (10**12, 8 * 10**9)):
        now = usage._replace(free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _path, now=now: now)
        assert KVStore(tmp_path / "states").quota() == quota
