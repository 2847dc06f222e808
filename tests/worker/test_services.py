"""The real services in real processes, with the real embedder and the small model; kills."""

from __future__ import annotations

import os
import signal
import sqlite3
from typing import TYPE_CHECKING, Any

import pymupdf
import pytest

from desktop.core.library.library import Library
from desktop.worker.process import WorkerProcess
from tests.core import makers
from tests.worker.inbox import Inbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.paths import Paths

pytestmark = pytest.mark.model

PAGES = 60


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def librarian(paths: Paths, inbox: Inbox) -> Iterator[WorkerProcess]:
    worker = WorkerProcess("librarian", paths, inbox.queue.put)
    yield worker
    worker.close()


@pytest.fixture
def answerer(
    paths: Paths, small_model: Path, monkeypatch: pytest.MonkeyPatch, inbox: Inbox
) -> Iterator[WorkerProcess]:
    from dataclasses import replace

    monkeypatch.setenv("LUTRIN_MODELS", str(small_model.parent))
    worker = WorkerProcess("answerer", replace(paths, models=small_model.parent), inbox.queue.put)
    yield worker
    worker.close()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of some hundred passages, so that its vectors take a while."""
    path = tmp_path / "long.pdf"
    with pymupdf.open() as file:
        for number in range(1, PAGES + 1):
            page = file.new_page()
            for line in range(40):
                text = f"Line {line} of page {number} speaks of subject {number * 41 + line}."
                page.insert_text((72, 72 + 16 * line), text + " It goes on with more words.")
        file.save(path)
    return path


def embedded(paths: Paths, identity: str) -> int:
    with sqlite3.connect(paths.catalog) as connection:
        row = connection.execute(
            "SELECT passages_embedded FROM books WHERE id = ?", (identity,)
        ).fetchone()
    connection.close()
    return int(row[0])


def test_indexing_goes_on_from_its_checkpoint_after_a_kill(
    librarian: WorkerProcess, inbox: Inbox, paths: Paths, book: Path
) -> None:
    job = librarian.request("add", {"path": str(book)})
    progress = inbox.wait(
        lambda d: d.job == job and d.event == "progress"
        and d.data["stage"] == "embedding" and d.data["done"] > 130
    )  # fmt: skip
    identity = progress.data["book"]
    assert librarian.pid is not None
    os.kill(librarian.pid, signal.SIGKILL)
    inbox.of(job, "died")
    kept = embedded(paths, identity)
    assert kept >= 128
    again = librarian.request("resume")
    first = inbox.wait(lambda d: d.job == again and d.event == "progress"
                       and d.data["stage"] == "embedding")  # fmt: skip
    assert first.data["done"] >= kept
    assert inbox.of(again, "done").data == {"resumed": 1}
    library = Library(paths)
    found = library.catalog.find(identity)
    assert found is not None
    assert found.status == "indexed"
    assert library.store.vectors(identity) == library.store.texts(identity) == found.passages
    library.close()


def test_a_second_book_can_be_asked_while_the_first_gets_its_vectors(
    librarian: WorkerProcess, inbox: Inbox, book: Path, handbook: Path
) -> None:
    first = librarian.request("add", {"path": str(book)})
    inbox.wait(lambda d: d.job == first and d.event == "progress"
               and d.data["stage"] == "embedding")  # fmt: skip
    second = librarian.request("add", {"path": str(handbook)})
    inbox.wait(lambda d: d.job == second and d.event == "book" and d.data["status"] == "askable")
    search = librarian.request(
        "retrieve", {"question": "How are the scores of both searches weighed?"}
    )
    found = inbox.of(search, "done").data
    assert any("weigh" in hit["passage"]["text"].lower() for hit in found["hits"])
    assert found["complete"] is False
    assert not any(d.job == first and d.event == "done" for d in inbox.seen)


def retrieved(librarian: WorkerProcess, inbox: Inbox, question: str) -> dict[str, Any]:
    job = librarian.request("retrieve", {"question": question})
    found: dict[str, Any] = inbox.of(job, "done").data
    return {"question": question, "mode": "retrieval", "found": found}


def test_an_answer_can_be_asked_again_after_a_kill(
    librarian: WorkerProcess, answerer: WorkerProcess, inbox: Inbox, handbook: Path
) -> None:
    added = librarian.request("add", {"path": str(handbook)})
    inbox.of(added, "done")
    request = retrieved(librarian, inbox, "What does Lutrin do with a book that is removed?")
    job = answerer.request("generate", {"request": request})
    inbox.of(job, "token")
    assert answerer.pid is not None
    os.kill(answerer.pid, signal.SIGKILL)
    inbox.of(job, "died")
    again = answerer.request("generate", {"request": request})
    draft = inbox.of(again, "done").data
    assert draft["text"]
    assert draft["timings"]["generated_tokens"] > 0
    checked = librarian.request("verify", {"request": request, "draft": draft})
    answer = inbox.of(checked, "done").data
    assert answer["answer"]
    assert answer["abstained"] or answer["citations"]
    assert "".join(d.data["text"] for d in inbox.seen if d.job == again and d.event == "token")


def test_a_stopped_answer_keeps_its_text(
    librarian: WorkerProcess, answerer: WorkerProcess, inbox: Inbox, handbook: Path
) -> None:
    inbox.of(librarian.request("add", {"path": str(handbook)}), "done")
    request = retrieved(librarian, inbox, "Explain all modes of answering in detail.")
    job = answerer.request("generate", {"request": {**request, "attempt": 1}})
    inbox.of(job, "token")
    answerer.cancel(job)
    answer = inbox.of(job, "done").data
    assert answer["stopped"] is True
    assert answer["timings"]["generated_tokens"] < 60


def test_a_name_that_the_book_never_names_is_told(
    librarian: WorkerProcess, inbox: Inbox, handbook: Path
) -> None:
    inbox.of(librarian.request("add", {"path": str(handbook)}), "done")
    request = retrieved(librarian, inbox, "What did the chemist Mendeleev discover?")
    assert request["found"]["absent"] == ["Mendeleev"]
    assert request["found"]["hits"]


def test_prefill_stands_back_for_an_answer_and_survives_a_kill(
    librarian: WorkerProcess, answerer: WorkerProcess, inbox: Inbox, tmp_path: Path
) -> None:
    texts = [
        "\n".join(f"Heron {page}-{n} waits for fish {n} at pond {page}." for n in range(12))
        for page in range(1, 9)
    ]
    book = makers.pdf(tmp_path / "herons.pdf", texts, title="Herons")
    added = librarian.request("add", {"path": str(book)})
    identity = inbox.of(added, "done").data["book"]["id"]
    request = retrieved(librarian, inbox, "What does heron 6-7 wait for?")

    def prefilled() -> float:
        found = inbox.of(librarian.request("prefill_progress"), "done").data
        return float(found[0]["share"]) if found else 0.0

    prefill = answerer.request("prefill", {"book": identity, "near": [6]})
    inbox.wait(lambda d: d.job == prefill and d.event == "stage" and d.data["done"] > 0)
    write = answerer.request("generate", {"request": request})
    assert inbox.of(write, "done").data["text"]
    assert not any(d.job == prefill and d.event == "done" for d in inbox.seen)
    before = inbox.seen[-1]
    assert before.job == write
    inbox.wait(lambda d: d.job == prefill and d.event == "stage" and d.data["stage"] == "studying")
    assert answerer.pid is not None
    os.kill(answerer.pid, signal.SIGKILL)
    inbox.of(prefill, "died")
    kept = prefilled()
    assert 0 < kept < 1
    again = answerer.request("prefill", {"book": identity})
    finished = inbox.of(again, "done").data
    assert finished["done"] == finished["passages"] > 0
    assert prefilled() == 1.0
    job = librarian.request("forget_prefill", {"book": identity})
    assert inbox.of(job, "done").data == []
