from __future__ import annotations

import argparse
import io
import json
from typing import TYPE_CHECKING

import pytest

from desktop.cli import models
from desktop.cli.options import common
from desktop.cli.output import ProgressLine, describe, duration, notice, print_json
from desktop.core.errors import UserFacingError
from desktop.core.records import Progress
from desktop.paths import Paths

if TYPE_CHECKING:
    from pathlib import Path

KEYS = ["name", "installed", "size_bytes", "context", "path", "recommended"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path, tmp_path / "models", tmp_path / "logs").create()


def call(paths: Paths, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    common(parser)
    verbs = parser.add_subparsers(required=True)
    models.register(verbs)
    args = parser.parse_args(["models", *arguments])
    assert isinstance(args.json, bool)
    assert args.data_dir is None or isinstance(args.data_dir, str)
    status = args.run(args, paths)
    assert isinstance(status, int)
    return status


@pytest.mark.parametrize("arguments", [["--json"], ["list", "--json"], ["--json", "list"]])
def test_models_are_listed_as_json(
    paths: Paths, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert call(paths, *arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["models"]
    assert [list(row) for row in found["models"]] == [KEYS] * 3
    assert sum(row["recommended"] for row in found["models"]) == 1
    assert not any(row["installed"] or row["path"] for row in found["models"])


def test_models_are_listed_for_people(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(paths) == 0
    out = capsys.readouterr().out
    assert "smollm2-135m-instruct" in out
    assert "1,117 MB  not installed" in out
    assert "This computer has" in out


def test_wrong_use_is_told(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        call(paths, "get")
    assert caught.value.code == 2
    assert "NAME" in capsys.readouterr().err
    for arguments in (["get", "nothing"], ["remove", "nothing"], ["add", "nothing.gguf"]):
        with pytest.raises(UserFacingError):
            call(paths, *arguments)


@pytest.mark.model
def test_a_model_is_added_got_and_removed(
    paths: Paths, small_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "smollm2-135m-instruct"
    assert call(paths, "add", str(small_model), "--json") == 0
    found = capsys.readouterr()
    row = json.loads(found.out)["models"][0]
    assert row["name"] == name
    assert row["installed"] is True
    assert row["path"].startswith(str(paths.models))
    assert "copying" in found.err
    assert call(paths, "get", name) == 0
    assert "is installed" in capsys.readouterr().err
    assert call(paths, "remove", name, "--json") == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["installed"] is False


def test_flags_may_stand_before_or_behind_the_verb() -> None:
    parser = argparse.ArgumentParser()
    common(parser)
    verb = parser.add_subparsers().add_parser("verb")
    common(verb, nested=True)
    args = parser.parse_args(["--data-dir", "a", "verb", "--json"])
    assert (args.data_dir, args.json) == ("a", True)
    assert parser.parse_args(["verb", "--data-dir", "b"]).data_dir == "b"
    assert parser.parse_args(["verb"]).json is False


def test_progress_in_a_log_is_sparse() -> None:
    stream = io.StringIO()
    with ProgressLine("tiny", stream=stream) as line:
        for done in range(0, 100, 10):
            line(Progress("downloading", done * 10**6, 100 * 10**6, "bytes", 3.0))
        line(Progress("verifying", 0, 0, "bytes"))
    lines = stream.getvalue().splitlines()
    assert lines == [
        "tiny: downloading   0%  0 of 100 MB, 3 s left",
        "tiny: verifying…",
    ]


def test_progress_in_a_terminal_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    with ProgressLine(stream=stream) as line:
        line(Progress("reading", 5, 10, "pages", 100.0))
        line(Progress("reading", 10, 10, "pages", 0.0))
    first, second, last, end = stream.getvalue().split("\r")[1:]
    assert first == "reading [############            ]  50%  5 of 10 pages, 1 min 40 s left"
    assert second.startswith("reading [########################] 100%  10 of 10 pages")
    assert last.strip() == ""
    assert end == ""


def test_progress_without_a_console_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with ProgressLine() as line:
        line(Progress("reading", 1, 2, "pages"))


def test_amounts_and_durations_are_in_words() -> None:
    assert describe(Progress("reading", 1234, 0, "pages")) == "reading 1,234 pages"
    assert [duration(s) for s in (0.4, 59, 61, 7500)] == ["0 s", "59 s", "1 min 1 s", "2 h 5 min"]


def test_json_goes_to_output_and_notices_to_errors(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"progress": Progress("é", 1, 2, "pages")})
    notice("careful")
    found = capsys.readouterr()
    assert json.loads(found.out)["progress"]["stage"] == "é"
    assert found.err == "careful\n"
