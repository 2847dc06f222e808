"""What the tests of the library share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The place of a library's catalogue, where nothing is yet."""
    return tmp_path / "library.sqlite3"
