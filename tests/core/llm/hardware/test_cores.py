"""How many cores there are to compute with, by what the systems say."""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING

import pytest

from desktop.core.llm.hardware import cores
from desktop.core.llm.hardware.cores import fast_cores

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux' files")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="ascii")


def machine(system: Path, siblings: list[str], capacities: list[int] | None = None) -> Path:
    """The files of a machine: for each logical processor those of its core, and what it can."""
    for number, names in enumerate(siblings):
        folder = system / f"system/cpu/cpu{number}"
        write(folder / "topology/thread_siblings_list", names)
        if capacities:
            write(folder / "cpu_capacity", str(capacities[number]))
    return system


@linux
def test_two_threads_of_a_core_are_one(tmp_path: Path) -> None:
    system = machine(tmp_path, ["0,2", "1,3", "0,2", "1,3"])
    assert fast_cores(system=system) == 2
    assert fast_cores({0, 2}, system=system) == 1
    assert fast_cores({0, 1, 2}, system=system) == 2


@linux
def test_efficiency_cores_do_not_count(tmp_path: Path) -> None:
    siblings = ["0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"]
    write(tmp_path / "cpu_core/cpus", "0-1,2-3")
    assert fast_cores(system=machine(tmp_path, siblings)) == 2
    assert fast_cores({4, 5, 6}, system=tmp_path) == 3  # where there are no others


@linux
def test_cores_differ_by_capacity(tmp_path: Path) -> None:
    siblings = [str(number) for number in range(6)]
    system = machine(tmp_path, siblings, [1024, 1009, 1024, 446, 446, 446])
    assert fast_cores(system=system) == 3


@linux
def test_where_the_system_says_nothing_it_is_not_known(tmp_path: Path) -> None:
    assert fast_cores(system=tmp_path) is None
    write(tmp_path / "cpu_core/cpus", "some")
    assert fast_cores(system=tmp_path) is None


def test_this_machine_has_fast_cores_if_known() -> None:
    found = fast_cores()
    assert found is None or found >= 1


def test_windows_tells_the_classes_of_cores() -> None:
    def record(kind: int, speed: int, more: int = 0) -> bytes:
        return struct.pack("<IIBB", kind, 48 + more, 0, speed) + bytes(38 + more)

    records = record(0, 1) + record(0, 1, 16) + record(0, 0) + record(3, 9)
    assert cores._of_windows(records) == 2
    assert cores._of_windows(record(0, 0) * 4) == 4
    assert cores._of_windows(b"") is None
