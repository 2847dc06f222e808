from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.llm.runtime.throughput import DOUBLED_AT, MIN_TOKENS, Throughput

if TYPE_CHECKING:
    from pathlib import Path


def test_an_estimate_follows_from_the_last_measurement(tmp_path: Path) -> None:
    throughput = Throughput(tmp_path / "speeds.json")
    assert throughput.seconds("one", 1000) is None
    throughput.note("one", 10.0, 1000)
    assert throughput.seconds("one", 1000) == pytest.approx(10.0)
    assert Throughput(tmp_path / "speeds.json").seconds("one", 1000) == pytest.approx(10.0)
    assert throughput.seconds("two", 1000) is None


def test_a_longer_context_takes_longer_a_token(tmp_path: Path) -> None:
    throughput = Throughput(tmp_path / "speeds.json")
    throughput.note("one", 10.0, 1000)
    assert (throughput.seconds("one", DOUBLED_AT) or 0.0) > 1.4 * 10.0 * DOUBLED_AT / 1000
    throughput.note("one", 10.0, 1000, before=DOUBLED_AT)
    assert (throughput.seconds("one", 1000) or 10.0) < 6.0


def test_a_short_prefill_says_nothing(tmp_path: Path) -> None:
    throughput = Throughput(tmp_path / "speeds.json")
    throughput.note("one", 10.0, MIN_TOKENS - 1)
    assert throughput.seconds("one", 1000) is None


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"one": "fast"}'])
def test_a_damaged_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    file = tmp_path / "speeds.json"
    file.write_text(text)
    throughput = Throughput(file)
    assert throughput.seconds("one", 1000) is None
    throughput.note("one", 10.0, 1000)
    assert throughput.seconds("one", 1000) == pytest.approx(10.0)


def test_a_file_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "nowhere").touch()  # where a folder would have to be
    throughput = Throughput(tmp_path / "nowhere" / "speeds.json")
    throughput.note("one", 10.0, 1000)
    assert throughput.seconds("one", 1000) is None
