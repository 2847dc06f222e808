from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import CancelledError
from desktop.core.scheduling import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import sys
from pathlib import Path
from desktop.core.scheduling import Turns
with Turns(Path(sys.argv[1])).hold(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.readline()
print("freed", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def turns(tmp_path: Path) -> Turns:
    return Turns(tmp_path)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Start a process that holds a turn until it is told to let go."""
    children: list[subprocess.Popen[str]] = []

    def start(name: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path), name],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


def release(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    assert child.stdout.readline() == "freed\n"


@pytest.mark.parametrize("name", ["answering", "writing", "book-0123"])
def test_two_processes_take_turns(
    turns: Turns, holder: Callable[[str], subprocess.Popen[str]], name: str
) -> None:
    child = holder(name)
    told = threading.Event()
    held = threading.Event()

    def take() -> None:
        with turns.hold(name, waiting=told.set):
            held.set()

    waiter = threading.Thread(target=take)
    waiter.start()
    assert told.wait(10)
    assert not held.is_set()
    release(child)
    assert held.wait(10)
    waiter.join(10)


def test_a_killed_holder_lets_go_at_once(
    turns: Turns, holder: Callable[[str], subprocess.Popen[str]]
) -> None:
    child = holder("answering")
    assert turns.answer_under_way()
    child.kill()
    child.wait(10)
    assert not turns.answer_under_way()
    with turns.answering(cancelled=lambda: False):
        assert turns.answer_under_way()


def test_an_answer_and_a_writer_dont_wait_for_each_other(turns: Turns) -> None:
    with turns.writing(), turns.answering(), turns.importing():
        assert turns.answer_under_way()
    assert not turns.answer_under_way()


def test_waiting_can_be_given_up(turns: Turns) -> None:
    asked = iter([False, False, True])
    with turns.writing():
        with pytest.raises(CancelledError), turns.writing(cancelled=lambda: next(asked)):
            pytest.fail("two hold it at once")
        with turns.answering():
            pass
    with turns.writing():  # what was given up holds nothing
        pass


def test_a_short_wait_is_not_told(turns: Turns) -> None:
    told: list[str] = []
    done = threading.Event()

    def take() -> None:
        with turns.answering(waiting=lambda: told.append("waiting")):
            done.set()

    with turns.answering():
        waiter = threading.Thread(target=take)
        waiter.start()
        time.sleep(0.05)
    assert done.wait(10)
    waiter.join(10)
    assert told == []


def test_a_long_wait_is_told_once(turns: Turns) -> None:
    told: list[str] = []
    waiter = threading.Thread(
        target=lambda: turns.answering(waiting=lambda: told.append("waiting")).__enter__()
    )
    with turns.answering():
        waiter.start()
        time.sleep(0.6)
        assert told == ["waiting"]
    waiter.join(10)
    assert told == ["waiting"]


def test_an_error_gives_the_turn_back(turns: Turns) -> None:
    with pytest.raises(KeyError), turns.answering():
        raise KeyError
    assert not turns.answer_under_way()


def test_standing_back_returns_at_once_where_nobody_answers(turns: Turns) -> None:
    assert turns.stand_back(lambda: False) < 0.5


def test_standing_back_lasts_as_long_as_the_answer(
    turns: Turns, holder: Callable[[str], subprocess.Popen[str]]
) -> None:
    child = holder("answering")
    timer = threading.Timer(0.3, release, args=(child,))
    timer.start()
    waited = turns.stand_back(lambda: False)
    timer.join()
    assert 0.2 < waited < 10


def test_standing_back_can_be_stopped(turns: Turns) -> None:
    with pytest.raises(CancelledError):
        turns.stand_back(lambda: True)
    asked = iter([False, True])
    with turns.answering(), pytest.raises(CancelledError):
        turns.stand_back(lambda: next(asked))
