from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.llm.runtime.throughput import DOUBLED_AT, LEAST_TOKENS, Throughput

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_measured_is_what_is_expected(tmp_path: Path) -> None:
    speeds = Throughput(tmp_path / "speeds.json")
    assert speeds.seconds("one", 1000) is None
    speeds.note("one", 10.0, 1000)
    assert speeds.seconds("one", 1000) == pytest.approx(10.0)
    assert Throughput(tmp_path / "speeds.json").seconds("one", 1000) == pytest.approx(10.0)
    assert speeds.seconds("two", 1000) is None


def test_a_longer_text_takes_longer_a_token(tmp_path: Path) -> None:
    speeds = Throughput(tmp_path / "speeds.json")
    speeds.note("one", 10.0, 1000)
    assert (speeds.seconds("one", DOUBLED_AT) or 0.0) > 1.4 * 10.0 * DOUBLED_AT / 1000
    speeds.note("one", 10.0, 1000, before=DOUBLED_AT)
    assert (speeds.seconds("one", 1000) or 10.0) < 6.0


def test_a_short_reading_says_nothing(tmp_path: Path) -> None:
    speeds = Throughput(tmp_path / "speeds.json")
    speeds.note("one", 10.0, LEAST_TOKENS - 1)
    assert speeds.seconds("one", 1000) is None


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"one": "fast"}'])
def test_a_damaged_file_is_as_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "speeds.json"
    file.write_text(text)
    speeds = Throughput(file)
    assert speeds.seconds("one", 1000) is None
    speeds.note("one", 10.0, 1000)
    assert speeds.seconds("one", 1000) == pytest.approx(10.0)


def test_no_room_for_it_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "nowhere").touch()  # where a folder would have to be
    speeds = Throughput(tmp_path / "nowhere" / "speeds.json")
    speeds.note("one", 10.0, 1000)
    assert speeds.seconds("one", 1000) is None
