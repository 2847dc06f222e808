from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.gguf.reader import read_header
from desktop.core.llm.hardware.machine_info import Machine
from desktop.core.llm.models import store as shelf_module
from desktop.core.llm.models.catalogue import Catalogue
from desktop.core.llm.models.store import ModelStore, StoredModel, describe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desktop.core.llm.models.catalogue import CatalogueModel
    from desktop.core.records import Progress

    Build = Callable[..., bytes]

GIB = 2**30
PC = Machine("Linux", "a processor", 2, 4, 2, 8 * GIB, 4 * GIB)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "models"
    path.mkdir()
    return path


@pytest.fixture
def offered(gguf: Build, model_of: Callable[..., CatalogueModel]) -> list[CatalogueModel]:
    """A small and a large model of a catalogue; `gguf(fill=…)` makes their files."""
    small = model_of(gguf(fill=b"s"), name="small")
    large = model_of(gguf(fill=b"l", weights=5000), name="large", min_memory_gb=6)
    return [small, large]


@pytest.fixture
def model_store(folder: Path, offered: list[CatalogueModel]) -> ModelStore:
    return ModelStore(folder, Catalogue(tuple(offered)))


def add(model_store: ModelStore, path: Path, memory: int = 4 * GIB) -> StoredModel:
    return model_store.add(
        path, progress=lambda _: None, cancelled=lambda: False, available_memory=memory
    )


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


File = "Callable[[str, bytes], Path]"


def test_an_empty_store_offers_the_catalogue(model_store: ModelStore) -> None:
    models = model_store.models()
    assert [model.name for model in models] == ["small", "large"]
    assert not any(model.installed or model.path or model.note for model in models)
    assert model_store.default("small", PC) is None
    with pytest.raises(UserFacingError, match="isn't installed"):
        model_store.remove("small")
    with pytest.raises(UserFacingError, match="Choose one of: small, large"):
        model_store.get("medium")


def test_a_folder_that_is_not_there_counts_as_empty(
    offered: list[CatalogueModel], tmp_path: Path
) -> None:
    model_store = ModelStore(tmp_path / "none", Catalogue(tuple(offered)))
    assert len(model_store.models()) == 2


def test_a_model_of_the_users_is_added_once_and_removed(
    model_store: ModelStore, file: File, gguf: Build, folder: Path
) -> None:
    seen: list[Progress] = []
    path = file("My Model (v2).GGUF", gguf())
    added = model_store.add(
        path, progress=seen.append, cancelled=lambda: False, available_memory=GIB
    )  # fmt: skip
    assert (added.name, added.title, added.own) == ("my-model-v2", "Tiny Test", True)
    assert added.path == folder / "my-model-v2.gguf"
    assert added.path.read_bytes() == path.read_bytes()
    assert added.sha256
    assert added.context == 2048
    assert seen[-1].stage == "copying"
    assert seen[-1].done == path.stat().st_size
    assert model_store.get("MY-MODEL-V2") == added
    assert add(model_store, path) == added  # twice
    assert add(model_store, file("another name.gguf", gguf())) == added  # the same bytes
    assert add(model_store, added.path) == added  # from the folder itself
    other = add(model_store, file("my model v2.gguf", gguf(fill=b"x")))
    assert other.name == "my-model-v2-2"
    assert list((folder / ".partial").iterdir()) == []
    model_store.remove(added.name)
    assert not added.path.exists()
    assert [model.name for model in model_store.models()] == ["small", "large", "my-model-v2-2"]


def test_a_file_of_the_catalogue_counts_as_installed(
    model_store: ModelStore, file: File, gguf: Build, folder: Path, offered: list[CatalogueModel]
) -> None:
    added = add(model_store, file("download (1).gguf", gguf(fill=b"s")))
    assert (added.name, added.own, added.installed) == ("small", False, True)
    assert added.path == folder / offered[0].file
    assert added.sha256 == offered[0].sha256


def test_names_of_the_catalogue_cannot_be_taken(
    model_store: ModelStore, file: File, gguf: Build, folder: Path
) -> None:
    assert add(model_store, file("small.gguf", gguf(fill=b"1"))).name == "small-2"
    assert add(model_store, file("small-file.gguf", gguf(fill=b"2"))).name == "small-file-2"
    (folder / "large.gguf").write_bytes(gguf(fill=b"3"))
    assert [m.name for m in model_store.models()][2:] == ["large-own", "small-2", "small-file-2"]
    assert model_store.get("large").own is False


def test_what_is_refused(model_store: ModelStore, file: File, gguf: Build, folder: Path) -> None:
    with pytest.raises(UserFacingError, match="not a GGUF"):
        add(model_store, file("book.pdf", b"%PDF" + bytes(100)))
    with pytest.raises(UserFacingError, match="missing at its end"):
        add(model_store, file("cut.gguf", gguf()[:-40]))
    with pytest.raises(UserFacingError, match="LoRA"):
        add(model_store, file("lora.gguf", gguf({"general.type": "adapter"})))
    with pytest.raises(UserFacingError, match=r"needs 2 MB of memory, and 0 MB are free"):
        add(model_store, file("big.gguf", gguf({"qwen2.block_count": ("u32", 8)})), memory=1000)
    with pytest.raises(UserFacingError, match="can't be read"):
        add(model_store, folder / "none.gguf")
    assert list(folder.glob("*")) == []


def test_stopping_leaves_nothing(
    model_store: ModelStore, file: File, gguf: Build, folder: Path
) -> None:
    path = file("model.gguf", gguf())
    with pytest.raises(CancelledError):
        model_store.add(
            path, progress=lambda _: None, cancelled=lambda: True, available_memory=GIB
        )  # fmt: skip
    assert list(folder.glob("*.gguf")) == []
    assert list((folder / ".partial").iterdir()) == []


def test_a_full_disk_while_copying(
    model_store: ModelStore, file: File, gguf: Build, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(shelf_module, "copy_hashed", full)
    with pytest.raises(UserFacingError, match="can't be copied"):
        add(model_store, file("model.gguf", gguf()))
    assert list((folder / ".partial").iterdir()) == []


def test_damaged_files_are_noted(
    model_store: ModelStore, gguf: Build, folder: Path, offered: list[CatalogueModel]
) -> None:
    right = gguf(fill=b"s")
    (folder / offered[0].file).write_bytes(right[:-1] + b"x")
    (folder / offered[1].file).write_bytes(gguf(fill=b"l")[:500])
    (folder / "own.gguf").write_bytes(b"nonsense")
    small, large, own = model_store.models()
    assert not any(model.installed or model.path for model in (small, large, own))
    assert "is damaged" in small.note
    assert "get the model again" in large.note
    assert "not a GGUF" in own.note
    model_store.remove("own")
    model_store.remove("small")
    assert [path.name for path in folder.glob("*.gguf")] == [offered[1].file]
    (folder / offered[0].file).write_bytes(right)
    assert model_store.get("small").installed


def test_remove_takes_a_half_download_along(model_store: ModelStore, folder: Path) -> None:
    half = folder / ".partial" / "large" / "0-hub"
    half.mkdir(parents=True)
    (half / "large-file.gguf.part").write_bytes(b"half")
    with (
        FileLock(folder / ".partial" / "large.lock"),
        pytest.raises(UserFacingError, match="Stop the download first"),
    ):
        model_store.remove("large")
    assert half.exists()
    model_store.remove("large")
    assert not half.exists()


def test_the_default_is_the_preferred_the_suited_or_the_largest_that_fits(
    model_store: ModelStore, gguf: Build, folder: Path, offered: list[CatalogueModel], file: File
) -> None:
    def name(preferred: str | None, machine: Machine = PC) -> str:
        found = model_store.default(preferred, machine)
        return found.name if found else ""

    own = add(model_store, file("own.gguf", gguf(weights=9000))).name
    assert name(None) == own
    (folder / offered[0].file).write_bytes(gguf(fill=b"s"))
    assert name(None) == own  # the largest that fits; "large" isn't installed
    (folder / offered[1].file).write_bytes(gguf(fill=b"l", weights=5000))
    assert name(None) == "large"
    assert name("Small") == "small"
    assert name("gone") == "large"
    weak = Machine("Linux", "old", 1, 1, 1, 2 * GIB, GIB)
    assert name(None, weak) == "small"
    tiny = Machine("Linux", "old", 1, 1, 1, 1000, 1000)
    (folder / offered[0].file).unlink()
    assert name(None, tiny) == "large"  # none fits: the smallest there is


def test_a_description_says_kind_and_context(gguf: Build, file: File) -> None:
    text = describe(read_header(file("model.gguf", gguf())))
    assert "qwen2 model with 2 layers" in text
    assert "2,048 tokens (about 1,500 words)" in text


@pytest.mark.model
def test_the_small_model_is_installed(small_model: Path, folder: Path) -> None:
    from desktop.core.llm.models.catalogue import load

    model_store = ModelStore(small_model.parent, load())
    model = model_store.get("smollm2-135m-instruct")
    assert model.installed
    assert model.path == small_model
