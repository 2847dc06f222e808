"""`lutrin ask --mode long-context`: what it says of what it read, over runs of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pymupdf
import pytest

from tests.cli.test_cli import Lutrin

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.model

LINES = 45
PAGES = 16
OVER_THE_WINDOW = range(PAGES // 2, PAGES)
"""How many pages may be read of a book of some 14,000 tokens, with a window of 8,192."""
MODEL = ("--model", "smollm2-135m-instruct")
NEW_TOKENS = 60
"""At most so many tokens of a prompt are its question's."""


@pytest.fixture(scope="module")
def lutrin(tmp_path_factory: pytest.TempPathFactory, models_folder: Path) -> Lutrin:
    return Lutrin(tmp_path_factory.mktemp("home"), models_folder)


@pytest.fixture(scope="module")
def book(lutrin: Lutrin, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A book that the small model can't read at once, in chapters of two pages."""
    path = tmp_path_factory.mktemp("book") / "herons.pdf"
    with pymupdf.open() as file:
        for number in range(1, PAGES + 1):
            page = file.new_page()
            lines = [
                f"Heron {number}-{n} waits for fish {n} at pond {number}." for n in range(LINES)
            ]
            heading = f"Chapter {(number + 1) // 2}. The pond" if number % 2 else ""
            page.insert_text((72, 60), heading, fontsize=18)
            page.insert_text((72, 90), lines, fontsize=11)
        file.set_toc([[1, f"Chapter {n}. The pond", 2 * n - 1] for n in range(1, PAGES // 2 + 1)])
        file.save(path)
    (added,) = lutrin.json("add", str(path))["books"]
    found: str = added["id"]
    return found


def ask(lutrin: Lutrin, book: str, question: str, *more: str) -> dict[str, Any]:
    answer = lutrin.json("ask", question, "--book", book, "--mode", "long-context", *MODEL, *more)
    times = answer["timings"]
    assert answer["mode"] == "long-context"
    assert 0 < times["prefill_s"] <= times["ttft_s"] <= times["total_s"]
    assert 0 <= times["retrieve_s"] < times["ttft_s"]
    assert 0 < times["generated_tokens"] <= times["tokens_per_s"] * times["total_s"]
    assert 0 <= times["reused_tokens"] < times["prompt_tokens"]
    assert sum(item["tokens"] for item in answer["context"]) < times["prompt_tokens"]
    return answer


def test_a_chapter_is_read_once_for_all_runs(lutrin: Lutrin, book: str) -> None:
    chapter = ("--chapter", "2")
    first = ask(lutrin, book, "What does heron 3-7 wait for?", *chapter)
    second = ask(lutrin, book, "Where does it wait?", *chapter)
    fresh = ask(lutrin, book, "Where does it wait?", *chapter, "--fresh")
    for answer in (first, second, fresh):
        assert answer["left_out"] is None
        assert {item["page"] for item in answer["context"]} == {3, 4}
    read = [a["timings"]["prompt_tokens"] - a["timings"]["reused_tokens"] for a in (first, second)]
    assert read[0] > sum(item["tokens"] for item in first["context"])
    assert read[1] < NEW_TOKENS
    assert [item["reused"] for item in first["context"]] == [False, False]
    assert [item["reused"] for item in second["context"]] == [True, True]
    assert fresh["timings"]["reused_tokens"] == 0
    assert fresh["answer"] == second["answer"]


def test_what_does_not_fit_is_said(lutrin: Lutrin, book: str) -> None:
    answer = ask(lutrin, book, "What does heron 9-7 wait for?")
    read = {item["page"] for item in answer["context"]}
    out = [
        page
        for part in answer["left_out"]
        for page in range(part["pages"][0], part["pages"][1] + 1)
    ]
    assert sorted([*read, *out]) == list(range(1, PAGES + 1))
    assert len(read) in OVER_THE_WINDOW
    assert all(part["book"] == book and part["tokens"] > 0 for part in answer["left_out"])
    told = lutrin(
        "ask", "What does heron 9-7 wait for?", "--book", book, "--mode", "long-context", *MODEL
    )
    assert "did not fit" in told.stderr
