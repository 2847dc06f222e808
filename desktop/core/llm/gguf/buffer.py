"""The bytes of a GGUF header, read forward by small steps and within bounds.

Owns the buffer and the bounds on length and time. Must not know what is read.

The bounds keep a hostile file from costing memory or time; real models stay far below them (the
largest vocabularies have 262,144 tokens and twice as many merges).
"""

from __future__ import annotations

import struct
from typing import BinaryIO

Scalar = int | float
Value = Scalar | str | list[Scalar]

MAX_STRINGS = 4_194_304  # strings in all arrays together: bounds the time at about a second
MAX_HEADER = 256 * 2**20  # bytes before the weights
BLOCK = 256 * 1024  # bytes read at a time

U32 = struct.Struct("<I")
U64 = struct.Struct("<Q")


class BadFileError(Exception):
    """The bytes can't be a whole GGUF file; the text says why, without a full stop."""


class Reader:
    """Reads forward by small steps over a buffer, and never past the end."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.size = size
        self._file = file
        self._buffer = b""
        self._at = 0
        self._start = 0  # offset of the buffer in the file
        self._strings = 0

    @property
    def position(self) -> int:
        """Offset of the next byte."""
        return self._start + self._at

    @property
    def left(self) -> int:
        """Bytes after the position."""
        return self.size - self.position

    def scalar(self, kind: struct.Struct) -> Scalar:
        """Read a number."""
        self._need(kind.size)
        value: Scalar = kind.unpack_from(self._buffer, self._at)[0]
        self._at += kind.size
        return value

    def number(self, kind: struct.Struct) -> int:
        """Read a whole number."""
        return int(self.scalar(kind))

    def take(self, count: int) -> bytes:
        """Read `count` bytes."""
        self._need(count)
        taken = self._buffer[self._at : self._at + count]
        self._at += count
        return taken

    def text(self, limit: int) -> str:
        """Read a text of `limit` bytes at most: its length in eight bytes, and its bytes."""
        length = self.number(U64)
        if length > limit:
            message = "its header holds an impossibly long text"
            raise BadFileError(message)
        return self.take(length).decode("utf-8", errors="replace")

    def skip(self, count: int) -> None:
        """Go on by `count` bytes."""
        self._check(count)
        if self._at + count <= len(self._buffer):
            self._at += count
            return
        self._start = self._file.seek(self.position + count)
        self._buffer, self._at = b"", 0

    def skip_strings(self, count: int) -> None:
        """Skip `count` texts, each a length of eight bytes and its bytes."""
        self._strings += count
        if self._strings > MAX_STRINGS:
            message = "its header claims an impossible number of texts"
            raise BadFileError(message)
        self._check(8 * count)
        unpack = U64.unpack_from
        buffer, at, end = self._buffer, self._at, len(self._buffer)
        for _ in range(count):
            if at + 8 > end:
                self._at = at
                self._need(8)
                buffer, at, end = self._buffer, self._at, len(self._buffer)
            length = unpack(buffer, at)[0]
            at += 8
            if at + length > end:
                self._at = at
                self.skip(length)
                buffer, at, end = self._buffer, self._at, len(self._buffer)
            else:
                at += length
        self._at = at

    def _check(self, count: int) -> None:
        if count > self.left:
            message = "it is not whole: it ends in the middle of its header"
            raise BadFileError(message)
        if self.position + count > MAX_HEADER:
            message = "its header is impossibly large"
            raise BadFileError(message)

    def _need(self, count: int) -> None:
        """Have `count` bytes in the buffer."""
        if self._at + count <= len(self._buffer):
            return
        self._check(count)
        kept = self._buffer[self._at :]
        self._start, self._at = self.position, 0
        self._buffer = kept + self._file.read(max(BLOCK, count - len(kept)))
        if len(self._buffer) < count:
            message = "it is not whole: it ends in the middle of its header"
            raise BadFileError(message)
