"""An SQLite file that several processes open, also at the same moment."""

from __future__ import annotations

import sqlite3
import time

WAIT_S = 10.0
"""How long opening waits for another process that is doing the same."""
_PAUSE_S = 0.01


def prepare(connection: sqlite3.Connection, schema: str, version: int) -> bool:
    """Make a file ready for several processes, with its tables.

    Args:
        connection: To the file, without transactions of Python's own.
        schema: Statements that make the tables, each where it is missing.
        version: Of the schema.

    Returns:
        Whether it can be used: False where a newer version wrote it.

    Raises:
        sqlite3.DatabaseError: if it is damaged, or another process keeps it.
    """
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found < version:
        connection.executescript(
            f"BEGIN IMMEDIATE; {schema}; PRAGMA user_version={version}; COMMIT;"
        )
    return bool(found <= version)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn the write-ahead log on.

    Where two processes do so at once, each holding what the other needs, SQLite does not wait:
    it fails at once for one of them, whatever timeout is set.
    """
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
