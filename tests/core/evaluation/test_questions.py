from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.evaluation.questions import read

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
