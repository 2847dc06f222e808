"""Fixtures for all tests: a data folder each, the pinned small model, the shared books."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUARD = ROOT / "tests" / "guard"
SMALL_MODEL = "smollm2-135m-instruct"

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# With the last two, pytest works for hours at how two states of megabytes differ.
for name in ("LUTRIN_HOME", "LUTRIN_MODELS", "CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)
# Children see the checkout, and can't reach the network.
os.environ["PYTHONPATH"] = os.pathsep.join([str(GUARD), str(ROOT)])

from desktop import environment  # noqa: E402

environment.prepare()

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.core.library.library import Library
    from desktop.paths import Paths


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the pinned model, so that `-m "not model"` fetches nothing, and kills."""
    for item in items:
        if "models_folder" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.model)
        if item.path.stem.endswith("_killed"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """The folder of models; the pinned small one is fetched into it once, before all else."""
    given = os.environ.get("LUTRIN_TEST_MODELS")
    folder = Path(given) if given else ROOT / ".cache" / "models"
    environment_of_child = {**os.environ, "LUTRIN_MODELS": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "desktop", "models", "get", SMALL_MODEL],
        env=environment_of_child,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"the pinned model could not be fetched: {done.stderr}"
    return folder


@pytest.fixture(scope="session")
def small_model(models_folder: Path) -> Path:
    """The file of SmolLM2-135M-Instruct."""
    from desktop.core.llm.models import catalogue

    return models_folder / catalogue.load().get(SMALL_MODEL).file


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A library folder of the test's own, empty, with no model installed."""
    from desktop import paths as places

    monkeypatch.setenv("LUTRIN_MODELS", str(tmp_path / "models"))
    return places.choose(tmp_path / "library").create()


@pytest.fixture
def library(paths: Paths) -> Iterator[Library]:
    """An empty library with the fake embedder."""
    from desktop.core.library.library import Library
    from tests.fakes import FakeEmbedder

    opened = Library(paths, embedder=FakeEmbedder())
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def handbook() -> Path:
    """The handbook that ships with the program."""
    from desktop.paths import resource

    return resource("handbook/handbook.pdf")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real books, hard files and questions; skips where it is not there."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared books are not on this machine")
    return folder


@pytest.fixture
def founded_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every answer of which anything is proved: the fitted weights are data, and change."""
    from desktop.core.answering.attribution import abstention

    made = abstention.Calibration({}, bias=9.0)
    monkeypatch.setattr(abstention, "load", lambda _embedder, _model: made)
