from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from desktop.core.evaluation import claims, questions

TESTS = Path(__file__).parent
PASSAGES = sorted((TESTS.parent / "packaging" / "verifier").glob("*.jsonl"))
UNANSWERABLE = sorted((TESTS / "data" / "unanswerable").glob("*.jsonl"))


@pytest.mark.parametrize("file", PASSAGES, ids=lambda file: file.stem)
def test_each_passage_has_claims_of_both_sorts(file: Path) -> None:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 100
    for row in rows:
        assert row["heading"]
        assert 2 <= len(row["sentences"]) <= 5
        labels = Counter(claim["label"] for claim in row["claims"])
        assert labels[claims.SUPPORTED] >= 2
        assert labels[claims.CONTRADICTED] + labels[claims.ABSENT] >= 4
        assert set(labels) <= set(claims.LABELS)


def test_no_claim_is_learnt_from_twice_nor_measured_by() -> None:
    learnt = [
        claim["claim"]
        for file in PASSAGES
        for line in file.read_text(encoding="utf-8").splitlines()
        for claim in json.loads(line)["claims"]
    ]
    assert len(set(learnt)) == len(learnt)
    measured = {c.claim for file in (TESTS / "data" / "claims").glob("*.jsonl")
                for c in claims.read(file)}  # fmt: skip
    assert not measured & set(learnt)


@pytest.mark.parametrize("file", UNANSWERABLE, ids=lambda file: file.stem)
def test_unanswerable_questions_are_read_as_such(file: Path) -> None:
    asked = questions.read(file)
    assert asked
    assert not any(question.answerable for question in asked)
