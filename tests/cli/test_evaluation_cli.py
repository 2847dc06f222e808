"""`lutrin eval` over the fake embedder and a language model with a queue of replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from desktop.cli import evaluation, main
from desktop.core.answering.generation import model_manager
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.library.indexing import Indexer
from desktop.core.library.library import Library
from desktop.core.llm.models.store import StoredModel
from tests.core import makers
from tests.fakes import FakeEmbedder, FakeEngine

if TYPE_CHECKING:
    from desktop.paths import Paths

pytestmark = pytest.mark.usefixtures("founded_is_enough")

PAGES = ["Herons wade in shallow water.", "Trout live in cold rivers of the north."]
TROUT = {"id": "1", "question": "Where do trout live?", "pages": [2], "must": [["cold rivers"]]}
NOBODY = {"id": "2", "question": "Who built the tower?", "type": "unanswerable"}
WEAK = {"id": "3", "question": "What wades in water?", "pages": [1], "weak": True}
REFUSAL = "The book does not say."
FIGURES = {
    "n", "page_hit@1", "page_hit@5", "page_hit@10", "mrr", "answer_correct", "citation_precision",
    "citation_recall", "false_answer_rate", "false_refusal_rate", "ttft_s_p50", "ttft_s_p95",
    "total_s_p50", "per_question",
}  # fmt: skip


class OneModel:
    def __init__(self, *_: object) -> None:
        pass

    def get(self, name: str) -> StoredModel:
        return StoredModel(name, name, True, 1, 4096, Path(f"/models/{name}.gguf"), "", False, name)

    def default(self, _preferred: str | None, _machine: object) -> StoredModel:
        return self.get("small")


class Eval:
    """Runs the verb on a library with one small book."""

    def __init__(self, folder: Path, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self._folder = folder
        self._paths = paths
        library = Library(paths, embedder=FakeEmbedder())
        Indexer(library).add(makers.pdf(folder / "a.pdf", PAGES, title="Animals"))
        library.close()

    def __call__(self, *questions: dict[str, Any], more: tuple[str, ...] = (),
                 replies: tuple[str, ...] = ()) -> int:  # fmt: skip
        self.engine = FakeEngine(*replies)
        self._patch.setattr(
            evaluation, "Library", lambda paths: Library(paths, embedder=FakeEmbedder())
        )
        self._patch.setattr(evaluation, "ModelStore", OneModel)
        self._patch.setattr(model_manager, "fitting_context", lambda *_: 4096)
        self._patch.setattr(
            evaluation,
            "AnswerGenerator",
            lambda library, model_store: AnswerGenerator(
                library, model_store, make_engine=lambda *_: self.engine
            ),
        )
        file = self._folder / "questions.jsonl"
        file.write_text("\n".join(json.dumps(row) for row in questions))
        data = ("--data-dir", str(self._paths.data))
        return main(["eval", str(file), "--book", "Animals", *data, *more])


@pytest.fixture
def run(tmp_path: Path, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Eval:
    return Eval(tmp_path, paths, monkeypatch)


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_finding_is_measured_without_a_model(run: Eval, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(TROUT, NOBODY, WEAK, more=("--retrieval-only", "--json")) == 0
    found = report(capsys)
    assert (found["n"], found["page_hit@1"], found["mrr"]) == (2, 1.0, 1.0)
    assert "answer_correct" not in found
    assert set(found["by_type"]) == {"fact", "unanswerable"}
    assert found["weak"]["n"] == 1
    assert [row["id"] for row in found["per_question"]] == ["1", "2", "3"]
    assert found["per_question"][0]["rank"] == 1
    assert run.engine.prompts == []


def test_answers_are_asked_and_scored(run: Eval, capsys: pytest.CaptureFixture[str]) -> None:
    replies = ("Trout live in cold rivers.", REFUSAL)
    assert run(TROUT, NOBODY, more=("--json",), replies=replies) == 0
    found = report(capsys)
    assert set(found) >= FIGURES
    assert (found["answer_correct"], found["citation_recall"]) == (1.0, 1.0)
    assert (found["false_answer_rate"], found["false_refusal_rate"]) == (0.0, 0.0)
    trout, nobody = found["per_question"]
    assert (trout["correct"], trout["abstained"], trout["rounds"]) == (True, False, 1)
    assert trout["citations"] == [{"page": 2, "verdict": "verbatim", "gold": True}]
    assert trout["drafts"][0]["text"] == replies[0]
    assert (nobody["correct"], nobody["abstained"]) == (None, True)
    assert run.engine.replies == []


def test_a_wrong_answer_and_a_false_one_count(
    run: Eval, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = (REFUSAL, "Herons wade in shallow water.")
    assert run(TROUT, NOBODY, more=("--json", "--fresh"), replies=replies) == 0
    found = report(capsys)
    assert (found["answer_correct"], found["citation_recall"]) == (0.0, None)
    assert (found["false_answer_rate"], found["false_refusal_rate"]) == (1.0, 1.0)


def test_people_read_a_table(run: Eval, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(TROUT, NOBODY, WEAK, more=("--retrieval-only",)) == 0
    shown = capsys.readouterr()
    head, *lines = shown.out.splitlines()
    assert head.split() == ["all", "fact", "unanswerable", "(doubtful)"]
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert rows["n"] == ["2", "1", "1", "1"]
    assert rows["page_hit@1"][:3] == ["1.00", "1.00", "-"]
    assert "Only finding was measured" in shown.err


@pytest.mark.parametrize(
    ("text", "says"), [("", "holds no question"), ("nonsense", "Line 1"), (None, "can't be read")]
)
def test_a_file_that_is_no_questions_is_told(
    paths: Paths, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, says: str
) -> None:
    file = tmp_path / "questions.jsonl"
    if text is not None:
        file.write_text(text)
    assert main(["eval", str(file), "--book", "x", "--data-dir", str(paths.data)]) == 1
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.out == ""


def test_a_book_that_is_not_there_is_told(
    run: Eval, tmp_path: Path, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    del run
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps(TROUT))
    assert main(["eval", str(file), "--book", "Nowhere", "--data-dir", str(paths.data)]) == 1
    assert "No book here" in capsys.readouterr().err
