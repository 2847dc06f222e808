"""The command line as other programs use it, in processes of its own, with the real parts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymupdf
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.model


class Lutrin:
    """Runs `lutrin` on a library of its own."""

    def __init__(self, data: Path, models: Path) -> None:
        self.data = data
        self.environment = {**os.environ, "LUTRIN_HOME": str(data), "LUTRIN_MODELS": str(models)}

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "desktop", *words],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def json(self, *words: str) -> dict[str, Any]:
        done = self(*words, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="module")
def lutrin(tmp_path_factory: pytest.TempPathFactory, models_folder: Path) -> Lutrin:
    return Lutrin(tmp_path_factory.mktemp("home"), models_folder)


@pytest.fixture(scope="module")
def added(lutrin: Lutrin, handbook: Path) -> dict[str, Any]:
    (book,) = lutrin.json("add", str(handbook))["books"]
    found: dict[str, Any] = book
    return found


def test_add_says_what_it_did(added: dict[str, Any]) -> None:
    assert added["status"] == "indexed"
    assert added["title"] == "Lutrin Handbook"
    assert added["pages"] == 15
    assert added["passages"] > 20
    assert 0 < added["timings"]["askable_s"] < added["timings"]["total_s"]
    assert len(added["id"]) == 64


def test_the_same_bytes_twice_cost_nothing(
    lutrin: Lutrin, added: dict[str, Any], handbook: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "another name.pdf"
    copy.write_bytes(handbook.read_bytes())
    (again,) = lutrin.json("add", str(copy))["books"]
    assert (again["status"], again["id"]) == ("already", added["id"])
    assert len(lutrin.json("books")["books"]) == 1


def test_search_gives_passages_with_offsets_into_their_page(
    lutrin: Lutrin, added: dict[str, Any]
) -> None:
    question = "How are the scores of the two searches weighed?"
    found = lutrin.json("search", question, "--book", "handbook", "-k", "5")
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3, 4, 5]
    assert any("weighted" in hit["text"].lower() for hit in found["hits"])
    for hit in found["hits"]:
        assert hit["book"] == added["id"]
        assert hit["end"] - hit["start"] == len(hit["text"])
    assert set(found["hits"][0]) == {
        "rank", "book", "title", "page", "page_label", "section", "text", "start", "end", "score",
    }  # fmt: skip
    assert found["timings"]["total_s"] > 0


def test_ask_answers_with_citations_on_the_page(
    lutrin: Lutrin, added: dict[str, Any], handbook: Path
) -> None:
    answer = lutrin.json(
        "ask", "How long does the offer to undo the removal of a book stay?",
        "--book", added["id"][:12], "--model", "smollm2-135m-instruct",
    )  # fmt: skip
    assert set(answer) >= {
        "question", "mode", "model", "answer", "abstained", "citations", "context", "left_out",
        "timings",
    }  # fmt: skip
    assert answer["mode"] == "retrieval"
    assert answer["model"] == "smollm2-135m-instruct"
    assert len(answer["context"]) >= 3
    assert answer["timings"]["ttft_s"] >= answer["timings"]["prefill_s"] > 0
    assert answer["abstained"] == (not answer["citations"])
    with pymupdf.open(handbook) as file:
        for citation in answer["citations"]:
            page = file[citation["page"] - 1]
            inside = "".join(page.get_textbox(pymupdf.Rect(r)) for r in citation["rects"])
            quoted = "".join(citation["quote"].split())
            assert quoted[:12] in "".join(inside.split())


def test_ask_keeps_to_a_chapter(lutrin: Lutrin, added: dict[str, Any]) -> None:
    answer = lutrin.json("ask", "What is this about?", "--book", added["id"], "--chapter", "4")
    pages = {item["page"] for item in answer["context"]}
    other = lutrin.json("ask", "What is this about?", "--book", added["id"], "--pages", "2-3")
    assert pages
    assert max(pages) - min(pages) <= 1
    assert {item["page"] for item in other["context"]} <= {2, 3}


def test_a_file_given_as_book_is_added_first(
    handbook: Path, tmp_path: Path, models_folder: Path
) -> None:
    own = Lutrin(tmp_path / "home", models_folder)
    answer = own.json("ask", "What is a passage?", "--book", str(handbook))
    assert answer["context"]
    assert own.json("books")["books"][0]["title"] == "Lutrin Handbook"


def test_ask_streams_for_people(lutrin: Lutrin, added: dict[str, Any]) -> None:
    done = lutrin("ask", "What is a passage?", "--book", added["id"])
    assert done.returncode == 0
    assert done.stdout.strip()
    assert "first word after" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ask", "Why?", "--book", "no such book"), "No book here"),
        (("ask", "  "), "question is empty"),
        (("ask", "Why?", "--mode", "adapter"), "No adapter"),
        (("ask", "Why?", "--book", "handbook", "--chapter", "99"), "no chapter"),
        (("ask", "Why?", "--model", "nonesuch"), "no model called"),
        (("ask", "Why?", "--book", "handbook", "--pages", "900-999"), "no page 900"),
        (("remove", "no such book"), "No book here"),
        (("add", "/nowhere/at/all.pdf"), "is not there"),
        (("models", "get", "nonesuch"), "nonesuch"),
    ],
)
def test_what_is_wrong_and_what_to_do(
    lutrin: Lutrin, added: dict[str, Any], words: tuple[str, ...], says: str
) -> None:
    del added
    done = lutrin(*words)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words", [("ask",), ("nonesuch",), ("ask", "Why?", "--pages", "9-2"), ("search",)]
)
def test_wrong_usage_exits_with_2(lutrin: Lutrin, words: tuple[str, ...]) -> None:
    assert lutrin(*words).returncode == 2


def test_one_bad_file_does_not_keep_the_others_out(
    lutrin: Lutrin, added: dict[str, Any], tmp_path: Path
) -> None:
    bad, good = tmp_path / "bad.pdf", tmp_path / "good.pdf"
    bad.write_bytes(b"%PDF-1.7 nothing")
    with pymupdf.open() as file:
        file.new_page().insert_text((72, 72), "The moon is made of rock.")
        file.save(good)
    done = lutrin("add", str(bad), str(good), "--json")
    rows = json.loads(done.stdout)["books"]
    assert done.returncode == 1
    assert [row["status"] for row in rows] == ["failed", "indexed"]
    assert rows[0]["warnings"]
    assert lutrin.json("remove", rows[1]["id"])["books"][0]["id"] == added["id"]


def test_a_locked_file_wants_its_password(lutrin: Lutrin, tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    with pymupdf.open() as file:
        file.new_page().insert_text((72, 72), "The secret ingredient is cardamom.")
        file.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="sesame", owner_pw="o")
    refused = lutrin("add", str(path), "--json")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["books"][0]["status"] == "needs_password"
    (book,) = lutrin.json("add", str(path), "--password", "sesame")["books"]
    hits = lutrin.json("search", "secret ingredient", "--book", book["id"])["hits"]
    assert "cardamom" in hits[0]["text"]
    lutrin.json("remove", book["id"])


def test_doctor_finds_every_part_working(lutrin: Lutrin) -> None:
    report = lutrin.json("doctor")
    assert report["ok"] is True
    names = {check["name"] for check in report["checks"]}
    assert names >= {"pdf", "torch", "embedder", "index", "llama.cpp", "window", "worker", "model"}
    assert report["default_model"]
    assert report["machine"]["cores_physical"] >= 1
    assert report["paths"]["data"] == str(lutrin.data)


def test_without_a_display_it_points_to_the_command_line(lutrin: Lutrin) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux can be without a display")
    gone = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    environment = {name: value for name, value in os.environ.items() if name not in gone}
    done = subprocess.run(
        [sys.executable, "-m", "desktop"], env={**environment, "LUTRIN_HOME": str(lutrin.data)},
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "lutrin ask" in done.stderr
