"""A process that saves KV states is killed again and again: each is then sound or not there."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from desktop.core.llm.runtime.kv_store import KVStore

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 100
MOST_KILLS = 1000
BLOCKS = 4
BOOK = "a" * 64
WRITER = """
import sys
from pathlib import Path
from desktop.core.llm.runtime.kv_store import KVStore
from tests.core.llm.runtime.test_kv_store_killed import BOOK, BLOCKS, state
mine = KVStore(Path(sys.argv[1]), quota=lambda: 10**9).of("model", BOOK)
states = [state(number) for number in range(BLOCKS)]
number = int(sys.argv[2])
print("writes", flush=True)
while True:
    mine.save((number % BLOCKS,), states[number % BLOCKS])
    number += 1
"""


def state(number: int) -> bytes:
    """Return a state of some hundred kilobytes that no other block has."""
    return random.Random(number).randbytes(400_000 + number)


def test_killed_while_writing(tmp_path: Path) -> None:
    expected = [state(number) for number in range(BLOCKS)]
    folder = tmp_path / "states"
    chance = random.Random(7)
    torn = kills = 0
    while kills < KILLS or not torn:  # one at least in the middle of a file
        assert kills < MOST_KILLS
        command = [sys.executable, "-c", WRITER, str(folder), str(kills)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            try:
                assert writer.stdout is not None
                assert writer.stdout.readline() == "writes\n"
                time.sleep(chance.uniform(0, 0.02))
            finally:
                writer.kill()
        kills += 1
        left = list(folder.glob("*/*/*.part"))
        torn += len(left)
        mine = KVStore(folder, quota=lambda: 10**9).of("model", BOOK)
        for number in range(BLOCKS):
            assert mine.load((number,)) in (None, expected[number])
        for part in left:
            part.unlink()
    for number, kept in enumerate(expected):  # and it goes on where it was killed
        mine.save((number,), kept)
        assert mine.load((number,)) == kept
