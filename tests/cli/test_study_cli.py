"""`lutrin study`: a book is prefilled, stopped, gone on with, and then answered from."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_cli import ROOT, Lutrin

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.model

MODEL = ("--model", "smollm2-135m-instruct")
PART = ("--pages", "5-10")


@pytest.fixture(scope="module")
def lutrin(tmp_path_factory: pytest.TempPathFactory, models_folder: Path) -> Lutrin:
    return Lutrin(tmp_path_factory.mktemp("home"), models_folder)


@pytest.fixture(scope="module")
def book(lutrin: Lutrin, handbook: Path) -> str:
    (added,) = lutrin.json("add", str(handbook))["books"]
    found: str = added["id"]
    return found


def test_a_part_is_read_and_then_spared(lutrin: Lutrin, book: str) -> None:
    studied = lutrin.json("study", book, "--pages", "2-4", *MODEL)
    assert set(studied) == {"book", "model", "passages", "done", "bytes", "tokens_per_s"}
    assert (studied["book"], studied["model"]) == (book, MODEL[1])
    assert studied["done"] == studied["passages"] > 3
    assert studied["bytes"] > 1_000_000
    assert studied["tokens_per_s"] > 0
    answers = [
        lutrin.json("ask", question, "--book", book, "--pages", "2-4", *MODEL)
        for question in ("How is a book added?", "What is a collection?")
    ]
    # A further round reads plainly, in another order, and its answer may be the better one.
    spared = [a for a in answers if a["context"] and all(i["reused"] for i in a["context"])]
    assert spared
    for answer in spared:
        assert answer["timings"]["reused_tokens"] >= sum(i["tokens"] for i in answer["context"])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_stopped_it_goes_on_where_it_was(lutrin: Lutrin, book: str) -> None:
    states = lutrin.data / "states"

    def kept() -> int:
        return sum(path.stat().st_size > 0 for path in states.glob("*/*/*") if path.is_file())

    before = kept()
    running = subprocess.Popen(
        [sys.executable, "-m", "desktop", "study", book, *PART, *MODEL],
        env=lutrin.environment,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    while kept() < before + 2 and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "what was done is kept" in said
    halfway = kept()
    assert halfway >= before + 2
    whole = lutrin.json("study", book, *PART, *MODEL)
    assert whole["done"] == whole["passages"]
    assert kept() > halfway
    assert lutrin.json("study", book, *PART, *MODEL)["tokens_per_s"] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("study", "no such book"), "No book here"),
        (("study", "handbook", "--chapter", "99"), "no chapter"),
        (("study", "handbook", "--model", "nonesuch"), "no model called"),
    ],
)
def test_what_is_wrong_is_said(
    lutrin: Lutrin, book: str, words: tuple[str, ...], says: str
) -> None:
    del book
    done = lutrin(*words)
    assert done.returncode == 1
    assert says in done.stderr
