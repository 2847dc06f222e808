"""`lutrin ask --mode long-context`: what it says of what it read, by a real small model.

The program runs in this process, with a window that a few pages fill.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pymupdf
import pytest

from desktop import cli
from desktop.core.answering.generation import answer_generator, loaded_model, model_manager

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.model

LINES = 20
PAGES = 12
WINDOW = 2048
MODEL = ("--model", "smollm2-135m-instruct")
NEW_TOKENS = 60
"""At most so many tokens of a prompt are its question's."""


class Asking:
    """A library with a book in chapters of two pages that the model can't read at once."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data = folder / "home"
        self.capsys = capsys
        path = folder / "herons.pdf"
        with pymupdf.open() as file:
            for number in range(1, PAGES + 1):
                page = file.new_page()
                lines = [
                    f"Heron {number}-{n} waits for fish {n} at pond {number}." for n in range(LINES)
                ]
                heading = f"Chapter {(number + 1) // 2}. The pond" if number % 2 else ""
                page.insert_text((72, 60), heading, fontsize=18)
                page.insert_text((72, 90), lines, fontsize=11)
            toc = [[1, f"Chapter {n}. The pond", 2 * n - 1] for n in range(1, PAGES // 2 + 1)]
            file.set_toc(toc)
            file.save(path)
        (added,) = self.run("add", str(path))["books"]
        self.book: str = added["id"]

    def run(self, *words: str) -> dict[str, Any]:
        assert cli.main([*words, "--data-dir", str(self.data), "--json"]) == 0
        found: dict[str, Any] = json.loads(self.capsys.readouterr().out)
        return found

    def ask(self, question: str, *more: str) -> dict[str, Any]:
        answer = self.run(
            "ask", question, "--book", self.book, "--mode", "long-context", *MODEL, *more
        )
        times = answer["timings"]
        assert answer["mode"] == "long-context"
        assert 0 < times["prefill_s"] <= times["ttft_s"] <= times["total_s"]
        assert 0 <= times["retrieve_s"] < times["ttft_s"]
        assert 0 < times["generated_tokens"] <= times["tokens_per_s"] * times["total_s"]
        assert 0 <= times["reused_tokens"] < times["prompt_tokens"]
        assert sum(item["tokens"] for item in answer["context"]) < times["prompt_tokens"]
        return answer


@pytest.fixture
def asking(
    tmp_path: Path,
    models_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Asking:
    monkeypatch.setenv("LUTRIN_MODELS", str(models_folder))
    monkeypatch.setattr(model_manager, "fitting_context", lambda *_: WINDOW)
    monkeypatch.setattr(loaded_model, "widest_context", lambda *_: WINDOW)
    monkeypatch.setattr(answer_generator, "MOST_ANSWER_TOKENS", 32)
    return Asking(tmp_path, capsys)


def test_a_chapter_is_read_once_for_all_runs(asking: Asking) -> None:
    chapter = ("--chapter", "2")
    first = asking.ask("What does heron 3-7 wait for?", *chapter)
    second = asking.ask("Where does it wait?", *chapter)
    fresh = asking.ask("Where does it wait?", *chapter, "--fresh")
    for answer in (first, second, fresh):
        assert answer["left_out"] is None
        assert {item["page"] for item in answer["context"]} == {3, 4}
    read = [a["timings"]["prompt_tokens"] - a["timings"]["reused_tokens"] for a in (first, second)]
    assert read[0] > sum(item["tokens"] for item in first["context"])
    assert read[1] < NEW_TOKENS
    assert [item["reused"] for item in first["context"]] == [False, False]
    assert [item["reused"] for item in second["context"]] == [True, True]
    assert fresh["timings"]["reused_tokens"] == 0


def test_what_does_not_fit_is_said(asking: Asking) -> None:
    answer = asking.ask("What does heron 9-7 wait for?")
    read = {item["page"] for item in answer["context"]}
    out = [
        page
        for part in answer["left_out"]
        for page in range(part["pages"][0], part["pages"][1] + 1)
    ]
    assert sorted([*read, *out]) == list(range(1, PAGES + 1))
    assert 1 < len(read) < PAGES
    assert all(part["book"] == asking.book and part["tokens"] > 0 for part in answer["left_out"])
    assert f"Read {len(read)} of {PAGES} pages" in answer["notes"][0]


def test_what_does_not_fit_can_be_read_through(asking: Asking) -> None:
    answer = asking.run(
        "ask", "What does heron 5-7 wait for?", "--book", asking.book, "--through", *MODEL,
        "--pages", "3-6",
    )  # fmt: skip
    assert answer["mode"] == "long-context"
    assert answer["left_out"] is None
    assert answer["notes"][0].startswith("Read 4 of 4 pages through")
    assert answer["abstained"] or answer["context"]


@pytest.mark.skipif(sys.platform == "win32", reason="a process can't be sent this there")
def test_stopped_reading_through_keeps_its_notes(asking: Asking) -> None:
    notes = asking.data / "notes" / asking.book

    def stop() -> None:
        while not any(notes.glob("*.json")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop, daemon=True).start()
    words = ("ask", "What do all herons wait for?", "--book", asking.book, "--through", *MODEL)
    code = cli.main([*words, "--data-dir", str(asking.data), "--json"])
    told = asking.capsys.readouterr()
    assert "Stopping" in told.err
    if code == 0:  # something had been found
        answer = json.loads(told.out)
        assert answer["left_out"]
        assert {citation["verdict"] for citation in answer["citations"]} <= {"verbatim"}
    else:
        assert code == 130
