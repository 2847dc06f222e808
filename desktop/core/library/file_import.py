"""Taking a file into the library: its identity, its copy, its entry in the catalogue."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError
from desktop.core.records import Book, BookStatus

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.documents.document import Document
    from desktop.core.library.library import Library

SPARE_DISK_BYTES = 200_000_000
"""Room wanted beside the copy of the file, for text, vectors and the index's own versions."""
UNLOCKED = "The library keeps a copy of this book that opens without its password"


def file_id(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def import_file(library: Library, path: Path, identity: str, document: Document) -> Book:
    """Copy a file into the library and enter it into the catalogue, as still to be read.

    Args:
        library: Where it goes.
        path: The file.
        identity: Its `file_id`.
        document: The open file; where it was locked, the copy is not.

    Raises:
        UserFacingError: if the disk has no room; nothing is left behind.
    """
    target = library.file_of(identity)
    _check_disk(library, path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".part")
        if document.locked:
            document.save_unlocked(partial)
        else:
            shutil.copyfile(path, partial)
        os.replace(partial, target)  # noqa: PTH105 the same on every system, over what is there
    except (OSError, RuntimeError) as error:
        shutil.rmtree(target.parent, ignore_errors=True)
        raise explain(error) from error
    book = Book(
        id=identity,
        title=document.title,
        file=str(path.resolve()),
        status=BookStatus.READING,
        pages=document.page_count,
        warnings=(UNLOCKED,) if document.locked else (),
        added=time.time(),
    )
    library.catalog.put(book)
    return book


def _check_disk(library: Library, path: Path) -> None:
    free = shutil.disk_usage(library.paths.data).free
    needed = path.stat().st_size + SPARE_DISK_BYTES
    if free < needed:
        raise UserFacingError(
            f"The disk has {free / 1e6:.0f} MB left, and “{path.name}” needs {needed / 1e6:.0f} MB",
            "Free some space and add it again",
        )


def explain(error: Exception) -> UserFacingError:
    """Return what an error of the system or of the index means to the user."""
    text = str(error).lower()
    if "no space" in text or "disk is full" in text or "os error 28" in text:
        return UserFacingError(
            "The disk is full", "Free some space; indexing then goes on where it stopped"
        )
    return UserFacingError(f"Indexing stopped ({error})", "Try again; it goes on where it stopped")
