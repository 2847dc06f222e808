"""What this computer is: processor, cores, memory, disk.

Owns the questions put to the operating system, limits of containers included. Must not know of
models; must not import llama_cpp (whoever knows the accelerator passes its name in).
"""

from __future__ import annotations

import math
import os
import platform
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from desktop.core.llm.hardware.cores import fast_cores


@dataclass(frozen=True)
class Machine:
    """A computer as this process may use it.

    Attributes:
        system: For people, such as "Linux 6.1 (x86_64)".
        processor: Its name as its maker gives it.
        cores_physical: Cores that this process may use, without hyper-threads; at least 1.
        cores_logical: The same with hyper-threads.
        cores_fast: How many cores to compute with: where some are slow, the fast ones.
        memory_total: Bytes in all, or the limit of the container.
        memory_available: Bytes that can be had without swapping.
        accelerator: What the language models run on besides the processor, or "none".
    """

    system: str
    processor: str
    cores_physical: int
    cores_logical: int
    cores_fast: int
    memory_total: int
    memory_available: int
    accelerator: str = "none"


def on_battery() -> bool:
    """Return whether the computer runs on its battery; False where that is not known."""
    with suppress(Exception):  # of some systems and machines, each in its own way
        battery = psutil.sensors_battery()
        return battery is not None and battery.power_plugged is False
    return False


def survey(accelerator: str = "none") -> Machine:
    """Return what this computer is; takes a few milliseconds.

    Args:
        accelerator: What the caller learnt from the engine.
    """
    logical = _usable_cores()
    physical = max(1, min(psutil.cpu_count(logical=False) or logical, logical))
    memory = psutil.virtual_memory()
    total, available = int(memory.total), int(memory.available)
    limit, used = _container_memory()
    if 0 < limit < total:
        total, available = limit, min(available, max(limit - used, 0))
    return Machine(
        system=f"{platform.system()} {platform.release()} ({platform.machine()})",
        processor=_processor(),
        cores_physical=physical,
        cores_logical=logical,
        cores_fast=min(_fast(_allowed()) or physical, logical),
        memory_total=total,
        memory_available=available,
        accelerator=accelerator,
    )


def free_disk(path: Path) -> int:
    """Return the bytes free where `path` lies or, where it isn't there yet, would lie."""
    folder = path.absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _allowed() -> frozenset[int] | None:
    """Return the logical processors that this process may use; None where the system can't say."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


_fast = cache(fast_cores)
"""Asked once: a computer is surveyed at each answer, and its cores stay what they are."""


def _usable_cores() -> int:
    cores = len(_allowed() or ()) or os.cpu_count() or 1
    quota = _cpu_quota()
    return max(1, min(cores, math.ceil(quota))) if quota > 0 else cores


def _cgroup_folders() -> list[Path]:
    """Folders of this process' control group and its ancestors (version 2); empty elsewhere."""
    root = Path("/sys/fs/cgroup")
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
            if line.startswith("0::") and (root / "cgroup.controllers").exists():
                own = root / line[3:].lstrip("/")
                return [own, *(p for p in own.parents if p.is_relative_to(root))]
    return []


def _number(path: Path) -> int:
    """The number that a file of the kernel holds; 0 where there is none ("max", no file)."""
    try:
        return int(path.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 0


def _container_memory() -> tuple[int, int]:
    """The smallest memory limit above this process and what is used of it, in bytes; else 0, 0."""
    limits = [
        (limit, max(_number(folder / "memory.current") - _reclaimable(folder), 0))
        for folder in _cgroup_folders()
        if (limit := _number(folder / "memory.max"))
    ]
    old = Path("/sys/fs/cgroup/memory")
    if limit := _number(old / "memory.limit_in_bytes"):
        limits.append((limit, _number(old / "memory.usage_in_bytes")))
    return min(limits, default=(0, 0))


def _reclaimable(folder: Path) -> int:
    """Bytes of cached files that count as used and are given back under pressure."""
    with suppress(OSError, ValueError):
        for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines():
            if line.startswith("inactive_file "):
                return int(line.split()[1])
    return 0


def _cpu_quota() -> float:
    """Processors' worth of time that the container allows; 0 where it sets no limit."""
    quotas = []
    for folder in _cgroup_folders():
        with suppress(OSError, ValueError):
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
            if quota != "max":
                quotas.append(int(quota) / int(period))
    old = Path("/sys/fs/cgroup/cpu")
    quota_us, period_us = _number(old / "cpu.cfs_quota_us"), _number(old / "cpu.cfs_period_us")
    if quota_us > 0 and period_us > 0:
        quotas.append(quota_us / period_us)
    return min(quotas, default=0.0)


def _processor() -> str:
    name = ""
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        if sys.platform == "linux":
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
                if line.startswith("model name"):
                    name = line.partition(":")[2].strip()
                    break
        elif sys.platform == "darwin":
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            found = subprocess.run(command, capture_output=True, text=True, timeout=2, check=True)
            name = found.stdout.strip()
        elif sys.platform == "win32":
            name = _windows_processor()
    return name or platform.processor() or platform.machine() or "unknown"


def _windows_processor() -> str:
    if sys.platform != "win32":
        return ""
    import winreg

    place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
        return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
