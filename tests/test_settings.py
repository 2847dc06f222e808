from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from desktop import settings
from desktop.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "settings.json"
    kept = Settings(theme="dark", geometry="AAAA", page_width=420, conversation=7, model="tiny")
    settings.save(file, kept)
    assert settings.load(file) == kept
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_missing_file_gives_defaults(tmp_path: Path) -> None:
    assert settings.load(tmp_path / "none.json") == Settings()


@pytest.mark.parametrize("content", [b"{", b"[1, 2]", b"\xff\xfe\x00", b""])
def test_damaged_file_is_set_aside(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(content)
    assert settings.load(file) == Settings()
    assert not file.exists()
    assert (tmp_path / "settings.json.broken").read_bytes() == content


def test_unknown_and_wrong_values_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"theme": 3, "page_width": "wide", "model": "a", "future": 1}))
    assert settings.load(file) == Settings(model="a")


def test_what_an_older_version_did_not_write_takes_its_default(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"theme": "dark"}))
    assert settings.load(file) == Settings(theme="dark")


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.json"
    settings.save(file, Settings(theme="dark"))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space"):
        settings.save(file, Settings(theme="light"))
    assert json.loads(file.read_text())["theme"] == "dark"
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]
