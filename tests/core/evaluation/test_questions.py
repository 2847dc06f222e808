from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.evaluation.questions import Question, read

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_is_a_question(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(
        '{"id": "1", "question": "Why?", "pages": [3], "alt_pages": [9], "exclude_pages": [4], '
        '"must": [["a", "b"]], "unknown": 1}\n\n{"id": "2", "question": "Who?"}\n'
    )
    why, who = read(file)
    assert (why.must, why.answerable, who.answerable) == ((("a", "b"),), True, False)
    assert [why.on_gold(page) for page in (3, 9, 4, 5)] == [True, True, False, False]


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", "3", "{}", '{"question": ""}', '{"question": 3}',
             '{"id": "1", "question": "x", "pages": ["a"]}', '{"question": "x", "pages": 3}'],
)  # fmt: skip
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "1", "question": "Why?"}\n' + line)
    with pytest.raises(UserFacingError, match="Line 2"):
        read(file)


def test_a_file_that_is_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="can't be read"):
        read(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(UserFacingError, match="holds no question"):
        read(tmp_path / "empty.jsonl")


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "1", "question": "Why?"}')
    assert read(file) == [Question("1", "Why?")]


def test_a_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_bytes('{"id": "1", "question": "Où ?"}'.encode("latin-1"))
    with pytest.raises(UserFacingError, match="can't be read"):
        read(file)


def test_an_excluded_page_never_counts() -> None:
    asked = Question("1", "Why?", pages=(3, 4), alt_pages=(9,), exclude_pages=(4, 9))
    assert [page for page in range(12) if asked.on_gold(page)] == [3]


def test_the_shared_questions_are_read(shared: Path) -> None:
    for file in sorted((shared / "qa").glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        found = read(file)
        assert [asked.question for asked in found] == [row["question"] for row in rows]
        assert [list(map(list, asked.must)) for asked in found] == [row["must"] for row in rows]
        assert [asked.answerable for asked in found] == [bool(row["pages"]) for row in rows]
        assert [asked.weak for asked in found] == [bool(row.get("weak")) for row in rows]


@pytest.mark.parametrize("must", ['"blue"', '["blue"]', "[[1980]]", '{"a": 1}', '[{"a": 1}]'])
def test_facts_that_are_no_lists_of_texts_are_named(tmp_path: Path, must: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(f'{{"id": "1", "question": "Why?", "must": {must}}}')
    with pytest.raises(UserFacingError, match="Line 1"):
        read(file)
