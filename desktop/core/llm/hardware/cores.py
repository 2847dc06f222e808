"""The cores of the processor: how many there are, and how many of them are fast ones.

A model is computed in step: at the end of each of a thousand small parts all threads wait for the
last. So a slow core beside fast ones, or a second thread on one core, holds the others up.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_SYSTEM = Path("/sys/devices")
_FAST = 0.8
"""Share of the largest capacity that a fast core has at least: those of one kind differ by a few
hundredths (a preferred core), an efficiency core has 0.25 to 0.7."""
_WINDOWS_CORE = 0  # RelationProcessorCore


def fast_cores(usable: Collection[int] | None = None, system: Path = _SYSTEM) -> int | None:
    """Return how many fast cores there are, second threads apart; None where that isn't known.

    Args:
        usable: Numbers of the logical processors that this process may use; None for all.
        system: Where Linux says what the machine is.
    """
    with suppress(OSError, ValueError, AttributeError, subprocess.SubprocessError):
        if sys.platform == "win32":
            return _of_windows(_windows_cores())
        if sys.platform == "darwin":
            return _of_macos()
        return _of_linux(system, usable)
    return None


def _of_linux(system: Path, usable: Collection[int] | None) -> int | None:
    cores: dict[str, int] = {}
    capacities: dict[int, int] = {}
    performance = _list(system / "cpu_core/cpus")  # Intel's processors with two kinds of cores
    for folder in (system / "system/cpu").glob("cpu[0-9]*"):
        number = int(folder.name[3:])
        if usable is not None and number not in usable:
            continue
        if performance and number not in performance:
            capacities[number] = 0
        else:
            capacities[number] = _number(folder / "cpu_capacity")
        with suppress(OSError):
            core = (folder / "topology/thread_siblings_list").read_text(encoding="ascii").strip()
            cores[core] = number
    most = max(capacities.values(), default=0)
    fast = [core for core, number in cores.items() if capacities[number] >= _FAST * most]
    return len(fast) or None


def _list(path: Path) -> set[int]:
    """Return the numbers of a list such as "0-3,8"; none where there is no such file."""
    found: set[int] = set()
    with suppress(OSError):
        for part in path.read_text(encoding="ascii").strip().split(","):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
    return found


def _number(path: Path) -> int:
    """Return the number in a file; 1 where there is no such file."""
    try:
        return int(path.read_text(encoding="ascii"))
    except OSError:
        return 1


def _of_macos() -> int:
    for name in ("hw.perflevel0.physicalcpu", "hw.physicalcpu"):  # the first on Apple's own only
        command = ["/usr/sbin/sysctl", "-n", name]
        found = subprocess.run(command, capture_output=True, text=True, timeout=2, check=False)
        if found.returncode == 0:
            return int(found.stdout)
    raise OSError


def _of_windows(records: bytes) -> int | None:
    """Return the cores of the best efficiency class.

    Args:
        records: Of SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, a core each: what it is of and its
            size, 4 bytes each, a byte of flags, a byte with the class.
    """
    classes: list[int] = []
    place = 0
    while place < len(records):
        kind, size, _, speed = struct.unpack_from("<IIBB", records, place)
        if kind == _WINDOWS_CORE:
            classes.append(speed)
        place += max(size, 1)
    return classes.count(max(classes)) if classes else None


def _windows_cores() -> bytes:
    if sys.platform != "win32":
        return b""
    import ctypes

    ask = ctypes.windll.kernel32.GetLogicalProcessorInformationEx
    size = ctypes.c_ulong(0)
    ask(_WINDOWS_CORE, None, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    return buffer.raw if ask(_WINDOWS_CORE, buffer, ctypes.byref(size)) else b""
