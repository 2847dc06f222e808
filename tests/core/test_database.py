from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from desktop.core import database

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "CREATE TABLE IF NOT EXISTS bird (name TEXT)"


def connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)


def test_opening_waits_for_another_that_does_the_same(tmp_path: Path) -> None:
    first, second = (connect(tmp_path / "birds.sqlite3") for _ in range(2))
    first.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        second.execute("PRAGMA journal_mode=WAL")
    done = threading.Timer(0.05, first.execute, ("COMMIT",))
    done.start()
    assert database.prepare(second, SCHEMA, 1)
    done.join()
    assert database.prepare(first, SCHEMA, 1)
    assert first.execute("SELECT * FROM bird").fetchall() == []
    first.close()
    second.close()


def test_what_is_kept_for_too_long_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_S", 0.02)
    first, second = (connect(tmp_path / "birds.sqlite3") for _ in range(2))
    first.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        database.prepare(second, SCHEMA, 1)
    first.close()
    second.close()


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    connection = connect(tmp_path / "birds.sqlite3")
    assert database.prepare(connection, SCHEMA, 2)
    assert not database.prepare(connection, "nonsense", 1)
    connection.close()
