"""The models' folder: what is installed, what could be, and the user's own model files.

Owns the folder's contents and the names of models. Must not know how a model is fetched
(download.py) or run, nor which thread it is asked from: several processes may use one folder.
"""

from __future__ import annotations

import re
import shutil
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from desktop.core.errors import UserFacingError
from desktop.core.llm.gguf.reader import memory_needed, read_header
from desktop.core.llm.models.atomic_import import (
    Meter,
    check_disk,
    copy_hashed,
    install,
    is_whole,
    megabytes,
    remove_stamp,
    stamped_hash,
)
from desktop.core.llm.models.download import PARTIAL, lock_path
from desktop.core.llm.models.selection import recommend

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desktop.core.llm.gguf.reader import ModelHeader
    from desktop.core.llm.hardware.machine_info import Machine
    from desktop.core.llm.models.catalogue import Catalogue, CatalogueModel
    from desktop.core.records import Progress

SMALLEST_WINDOW = 4096  # tokens: system prompt, six passages, a question and its answer


@dataclass(frozen=True)
class StoredModel:
    """A model that is installed or can be.

    Attributes:
        name: What the command line and the settings call it.
        title: What people call it.
        installed: Whether it can be used now.
        size_bytes: Size of its file.
        context: Native context window in tokens; 0 where not known.
        path: Its file; None where it isn't installed.
        description: A sentence for the user.
        own: Whether the user brought it, rather than the catalogue.
        sha256: Hash of the file, hexadecimal; empty for an own file put there by hand.
        note: What is wrong with the file that is there, where something is.
    """

    name: str
    title: str
    installed: bool
    size_bytes: int
    context: int
    path: Path | None
    description: str
    own: bool
    sha256: str = ""
    note: str = ""


class ModelStore:
    """The models of one folder, together with those that the catalogue offers."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self._folder = folder
        self._catalogue = catalogue

    def models(self) -> list[StoredModel]:
        """Return the catalogue's models, smallest first, then the user's own by name.

        Reads headers (milliseconds each). A file of the catalogue that somebody put there by
        hand is hashed once, about a second a gigabyte.
        """
        own = self._own_files()
        return [*map(self._offered, self._catalogue), *map(self._own_model, own, own.values())]

    def get(self, name: str) -> StoredModel:
        """Return the model called `name`, installed or not.

        Raises:
            UserFacingError: if there is none.
        """
        wanted = name.strip().lower()
        models = self.models()
        for model in models:
            if model.name.lower() == wanted:
                return model
        known = ", ".join(model.name for model in models)
        raise UserFacingError(f"There is no model called {name!r}", f"Choose one of: {known}")

    def add(
        self,
        path: Path,
        *,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        available_memory: int,
    ) -> StoredModel:
        """Copy a model file into the folder; the same file twice is there once.

        Args:
            path: A .gguf file anywhere.
            progress: Told of the stage "copying", in bytes.
            cancelled: Asked every few milliseconds.
            available_memory: Bytes that the model may take, as `Machine.memory_available`.

        Raises:
            UserFacingError: if it isn't a model, isn't whole, or needs more memory than there is,
                or more disk.
            CancelledError: if `cancelled` said so; nothing is left.
        """
        header = read_header(path)
        _check_memory(path, header, available_memory)
        if (there := self._by_path(path)) is not None:
            return there
        check_disk(self._folder, header.size_bytes, what=path.name)
        staging = self._folder / PARTIAL / f"adding-{uuid.uuid4().hex[:8]}"
        copy = staging / "copy.gguf"
        meter = Meter("copying", header.size_bytes, progress)
        try:
            staging.mkdir(parents=True)
            digest = copy_hashed(path, copy, report=meter, cancelled=cancelled)
            read_header(copy)  # the original may have changed meanwhile
            final = self._place(path.stem, digest)
            if stamped_hash(final) != digest:
                install(copy, final, sha256=digest)
        except OSError as error:
            raise UserFacingError(
                f"{path.name} can't be copied into {self._folder} ({error.strerror or error})",
                "Check that the disk has room and the folder is yours",
            ) from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        added = self._by_path(final)
        if added is None:
            raise UserFacingError(f"{path.name} vanished after it was copied", "Try again")
        return added

    def remove(self, name: str) -> None:
        """Delete a model's file; a model of the catalogue can be fetched again.

        Raises:
            UserFacingError: if there is no such model or file, or it can't be deleted.
        """
        model = self.get(name)
        offered = next((m for m in self._catalogue if m.name == model.name), None)
        path = self._folder / offered.file if offered else self._own_files().get(model.name)
        staging = self._folder / PARTIAL / model.name
        try:
            if partial := offered is not None and staging.exists():
                with FileLock(lock_path(self._folder, model.name), timeout=0):
                    shutil.rmtree(staging, ignore_errors=True)
            if path is not None and path.exists():
                path.unlink()
                remove_stamp(path)
            elif not partial:
                raise UserFacingError(f"{model.title} isn't installed", "There is nothing to do")
        except Timeout as error:
            raise UserFacingError(
                f"{model.title} is being downloaded", "Stop the download first"
            ) from error
        except OSError as error:
            raise UserFacingError(
                f"{model.title} can't be removed ({error.strerror or error})",
                "Close the programs that use it and try again",
            ) from error

    def default(self, preferred: str | None, machine: Machine) -> StoredModel | None:
        """Return the model to answer with; None where none is installed.

        The user's preference if it is installed; else the one that suits the computer; else the
        largest that takes half its memory at most; else the smallest.
        """
        installed = [model for model in self.models() if model.installed]
        suited = recommend(self._catalogue, machine).model.name
        for name in (preferred, suited):
            for model in installed:
                if name is not None and model.name.lower() == name.strip().lower():
                    return model
        installed.sort(key=lambda model: model.size_bytes)
        fitting = [m for m in installed if _need(m) <= machine.memory_total / 2]
        return fitting[-1] if fitting else next(iter(installed), None)

    def _offered(self, model: CatalogueModel) -> StoredModel:
        path = self._folder / model.file
        note = self._problem(model, path) if path.exists() else ""
        installed = path.exists() and not note
        return StoredModel(
            name=model.name,
            title=model.title,
            installed=installed,
            size_bytes=model.size_bytes,
            context=model.context,
            path=path if installed else None,
            description=model.description,
            own=False,
            sha256=model.sha256,
            note=note,
        )

    def _problem(self, model: CatalogueModel, path: Path) -> str:
        with suppress(OSError):
            if (size := path.stat().st_size) != model.size_bytes:
                return (
                    f"The file {path.name} has {megabytes(size)} instead of "
                    f"{megabytes(model.size_bytes)}; get the model again"
                )
        if not is_whole(path, size=model.size_bytes, sha256=model.sha256):
            return f"The file {path.name} is damaged; get the model again"
        return ""

    def _own_files(self) -> dict[str, Path]:
        """The user's own files by the names of their models."""
        names = {model.name for model in self._catalogue}
        return {
            f"{path.stem}-own" if path.stem.lower() in names else path.stem: path
            for path in sorted(self._folder.glob("*.gguf"))
            if self._catalogue.by_file(path.name) is None and path.is_file()
        }

    def _own_model(self, name: str, path: Path) -> StoredModel:
        try:
            header = read_header(path)
        except UserFacingError as error:
            size = path.stat().st_size if path.exists() else 0
            return StoredModel(
                name, name, False, size, 0, None, "A model file that can't be used.", True,
                note=str(error).rstrip("."),
            )  # fmt: skip
        return StoredModel(
            name=name,
            title=header.name or name,
            installed=True,
            size_bytes=header.size_bytes,
            context=header.context_length,
            path=path,
            description=describe(header),
            own=True,
            sha256=stamped_hash(path),
        )

    def _by_path(self, path: Path) -> StoredModel | None:
        """Return the installed model whose file is `path`, if it is one."""
        wanted = path.resolve()
        for model in self.models():
            if model.path is not None and model.path.resolve() == wanted:
                return model
        return None

    def _place(self, stem: str, digest: str) -> Path:
        """Return where a file with this hash belongs: where it is already, or a free name."""
        for model in self._catalogue:
            if model.sha256 == digest:
                return self._folder / model.file
        for path in sorted(self._folder.glob("*.gguf")):
            if stamped_hash(path) == digest:
                return path
        slug = re.sub(r"[^a-z0-9._]+", "-", stem.lower()).strip("-._")[:80] or "model"
        taken = {model.name for model in self._catalogue}
        taken |= {model.file.lower().removesuffix(".gguf") for model in self._catalogue}
        taken |= {path.stem.lower() for path in self._folder.glob("*.gguf")}
        number, name = 2, slug
        while name in taken:
            name, number = f"{slug}-{number}", number + 1
        return self._folder / f"{name}.gguf"


def describe(header: ModelHeader) -> str:
    """Return a sentence on a model that isn't in the catalogue.

    A token counts as three quarters of an English word, the usual rule of thumb.
    """
    words = round(header.context_length * 0.75, -2)
    kind = f"a {header.architecture} model with {header.layers} layers"
    return (
        f"Your own file: {kind}, {megabytes(header.size_bytes)} ({header.file_type}), "
        f"that reads up to {header.context_length:,} tokens (about {words:,.0f} words) at once."
    )


def _need(model: StoredModel) -> int:
    """Bytes of memory that an installed model needs with the smallest window."""
    if model.path is None:
        return 0
    window = min(SMALLEST_WINDOW, model.context)
    try:
        return memory_needed(read_header(model.path), context_tokens=window).total
    except UserFacingError:  # gone in between
        return model.size_bytes


def _check_memory(path: Path, header: ModelHeader, available: int) -> None:
    window = min(SMALLEST_WINDOW, header.context_length)
    need = memory_needed(header, context_tokens=window).total
    if need > available:
        raise UserFacingError(
            f"{path.name} needs {megabytes(need)} of memory, and {megabytes(available)} are free",
            "Close other programs, or choose a smaller model",
        )
