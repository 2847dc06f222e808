"""A process that writes states is killed again and again: what it leaves is sound or not there."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from desktop.core.llm.states import StateStore

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 100
PIECES = 4
BOOK = "a" * 64
WRITER = """
import sys
from pathlib import Path
from desktop.core.llm.states import StateStore
from tests.core.llm.test_states_killed import BOOK, PIECES, state
mine = StateStore(Path(sys.argv[1]), quota=lambda: 10**9).of("model", BOOK)
print("writes", flush=True)
while True:
    for number in range(PIECES):
        mine.save((number,), state(number))
"""


def state(number: int) -> bytes:
    """Return a state of some hundred kilobytes that no other piece has."""
    return random.Random(number).randbytes(400_000 + number)


def test_killed_while_writing(tmp_path: Path) -> None:
    expected = [state(number) for number in range(PIECES)]
    folder = tmp_path / "states"
    chance = random.Random(7)
    torn = 0
    for _ in range(KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writes\n"
        time.sleep(chance.uniform(0, 0.02))
        writer.kill()
        writer.wait()
        writer.stdout.close()
        left = list(folder.glob("*/*/*.part"))
        torn += len(left)
        mine = StateStore(folder, quota=lambda: 10**9).of("model", BOOK)
        for number in range(PIECES):
            assert mine.load((number,)) in (None, expected[number])
        for part in left:
            part.unlink()
    assert torn > KILLS // 10  # it was killed in the middle of a file, too
    assert [mine.load((number,)) for number in range(PIECES)] == expected  # and much was kept
