"""Our scoring and the judges' are two implementations of one rule."""

from __future__ import annotations

import importlib.util
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.evaluation import scoring

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def judge(shared: Path) -> Any:
    specification = importlib.util.spec_from_file_location("score", shared / "qa" / "score.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in inner for text in strings(item)]


def test_every_text_of_the_question_files_folds_alike(shared: Path, judge: Any) -> None:
    texts = {
        text
        for path in (shared / "qa").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        for text in strings(json.loads(line))
    }
    assert len(texts) > 2000
    assert [t for t in texts if scoring.fold(t) != judge.fold(t)] == []


@pytest.mark.parametrize("seed", range(20))
def test_any_text_folds_alike(judge: Any, seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        "16⅝", "1/(2N)", r"\frac{1}{2N}", "N_{F}", "x^2", "200kg", "1,000.50", ".85", "½", "Σθ",
        "hypoth`ese", "é", "Smith's", "U.S.", "50 %", "per cent", "量子", "√2", r"\times", "copies",
        "bus", "glass", "rods", "2845.80", "a⁄b", "3 ⁄ 4", "ß", "ﬁ", "İ", "_", "{", "}", " ", "\n",
    ]  # fmt: skip
    for _ in range(200):
        text = "".join(rng.choices(pieces, k=rng.randint(1, 12)))
        assert scoring.fold(text) == judge.fold(text), text


def test_an_answer_states_every_fact(judge: Any) -> None:
    must = [["20", "twenty"], ["48,000"]]
    for text, right in [
        ("20 pins against 48000", True), ("twenty, and 48,000 together", True),
        ("20 pins", False), ("200 pins and 48,000", False), ("", False),
    ]:  # fmt: skip
        assert scoring.correct(text, must) is judge.correct(text, must) is right
    assert scoring.correct("anything", []) is None


@pytest.mark.parametrize("seed", range(20))
def test_any_characters_fold_alike(judge: Any, seed: int) -> None:
    rng = random.Random(seed)
    planes = [(0x20, 0x7F), (0xA0, 0x17F), (0x300, 0x3FF), (0x2000, 0x22FF), (0x3040, 0x30FF),
              (0x4E00, 0x4EFF), (0xFB00, 0xFB06), (0x1D400, 0x1D4FF),

              (0x1F600, 0x1F64F)]  # fmt: skip
    for _ in range(300):
        text = "".join(
            chr(rng.randint(*rng.choice(planes))) if rng.random() < 0.6 else rng.choice("s. ,/^%9")
            for _ in range(rng.randint(1, 24))
        )
        assert scoring.fold(text) == judge.fold(text), ascii(text)


def test_every_real_answer_is_judged_alike(shared: Path, judge: Any) -> None:
    """Each question's own answer, and that of the next one, against its facts."""
    rows = [
        json.loads(line)
        for path in sorted((shared / "qa").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    rows = [row for row in rows if row["must"]]
    assert len(rows) > 90
    own = [scoring.correct(row["answer"], row["must"]) for row in rows]
    for row, following in zip(rows, [*rows[1:], rows[0]], strict=True):
        for text in (row["answer"], following["answer"], row.get("quote", "")):
            assert scoring.correct(text, row["must"]) is judge.correct(text, row["must"])
    assert sum(map(bool, own)) > 0.8 * len(rows)
