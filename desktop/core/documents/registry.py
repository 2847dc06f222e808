"""Reading documents: a reader a format, found by the file's first bytes.

A new format is one new module with a `Reader` and one line in `READERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.documents import pdf
from desktop.core.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.documents.document import Document, Reader

READERS: tuple[Reader, ...] = (pdf.READER,)
"""Tried in order; the first whose `recognises` says yes reads the file."""

SUFFIXES = frozenset(suffix for reader in READERS for suffix in reader.suffixes)
"""File endings worth picking out of a folder, lower case with the dot."""

_HEAD_BYTES = 1024


def open_document(path: Path, *, password: str | None = None) -> Document:
    """Open a file for reading.

    Raises:
        PasswordNeededError: if it is locked and `password` is missing or wrong.
        UserFacingError: if it is missing, empty, of no known kind, or damaged.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except FileNotFoundError:
        raise UserFacingError(
            f"“{path.name}” is not there", "Check the path, or that the disk is connected"
        ) from None
    except IsADirectoryError:
        raise UserFacingError(
            f"“{path.name}” is a folder", "Name the files in it, such as folder/*.pdf"
        ) from None
    except OSError as error:
        raise UserFacingError(
            f"“{path.name}” can't be read ({error.strerror})", "Check that you may open the file"
        ) from error
    if not head:
        raise UserFacingError(
            f"“{path.name}” is empty", "Download or copy it again; it has 0 bytes"
        )
    try:
        str(path).encode()
    except UnicodeEncodeError:  # neither MuPDF nor SQLite takes such a name
        raise UserFacingError(
            f"The name of “{ascii(path.name)[1:-1]}” is not written in proper letters",
            "Rename the file or its folder and add it again",
        ) from None
    for reader in READERS:
        if reader.recognises(head):
            return reader.open(path, password)
    raise UserFacingError(f"“{path.name}” is not a PDF", "Lutrin reads PDF files; convert it first")
