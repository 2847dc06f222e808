"""Saved key/value (KV) states on the disk, so that a text is prefilled once.

A file a state, under the model's folder and the book's. Each carries a digest over all that
changes its bytes and over the bytes, so one that is damaged, cut off or of something else is no
state: it is deleted and computed again. Files are written beside and renamed; half files of a kill
are deleted later. Knows nothing of llama.cpp: a state is a string of bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

logger = logging.getLogger(__name__)

MAGIC = b"lutrinkv"
_HEAD = struct.Struct("<8s32sQ")
DEFAULT_BYTES = 8 * 1000**3
DEFAULT_SHARE = 10
"""By default the states take 8 GB, or a tenth of what is free and theirs, if that is less."""
AFTER_EVICTION = 0.95
"""Share of the quota that is used after an eviction, so that not every new state needs one."""
DISK_RESERVE = 500 * 1000**2
"""Left free on the disk whatever the quota says: a full disk hurts more than a slow answer."""
_PART = ".part"
_STALE_S = 3600.0


@dataclass(frozen=True)
class Usage:
    """Number and size of some saved states."""

    states: int
    bytes: int


class KVStore:
    """All saved KV states of one library.

    Args:
        folder: Where they lie; made with the first state.
        quota: Returns the most bytes of all together; None for the default.
    """

    def __init__(self, folder: Path, *, quota: Callable[[], int | None] = lambda: None) -> None:
        self._folder = folder
        self._quota = quota
        self._total: int | None = None
        self.full = False

    def of(self, model: str, book: str) -> BookKVStore:
        """Return the KV states of one book for one model.

        Args:
            model: All that changes the bytes of a state but the tokens: see `Engine.identity`.
            book: The book's id; "" for what is of none.
        """
        return BookKVStore(
            self, self._folder / hashlib.sha256(model.encode()).hexdigest()[:16], model, book
        )

    def load(self, path: Path, key: bytes) -> bytes | None:
        """Return a state, marked as used; None where there is no sound one."""
        try:
            with path.open("rb") as file:
                magic, digest, length = _HEAD.unpack(file.read(_HEAD.size))
                state = file.read()
        except FileNotFoundError:
            return None
        except (OSError, struct.error) as error:
            logger.warning("a saved state can't be read: %s", error)
            self._delete(path)
            return None
        if magic != MAGIC or length != len(state) or digest != _digest(key, state):
            logger.warning("a saved state is damaged and is computed again: %s", path.name)
            self._delete(path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return state

    def save(self, path: Path, key: bytes, state: bytes | bytearray) -> bool:
        """Save a state, evicting the least recently used; return whether it is saved.

        `full` says so too, until the next one that is.
        """
        size = _HEAD.size + len(state)
        part = path.with_name(f"{path.name}.{os.getpid()}{_PART}")
        try:
            if not self._evict(size):
                self.full = True
                return False
            path.parent.mkdir(parents=True, exist_ok=True)
            # Not forced to the disk: what a power failure cuts off fails its digest.
            with part.open("wb") as file:
                file.write(_HEAD.pack(MAGIC, _digest(key, state), len(state)))
                file.write(state)
            part.replace(path)
        except OSError as error:
            logger.warning("a state can't be saved: %s", error)
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            self.full = True
            return False
        self.full = False
        self._total = (self._total or 0) + size
        return True

    def usage(self, book: str | None = None) -> Usage:
        """Return number and size of a book's states, or of all."""
        sizes = [size for _, _, size in self._files("*" if book is None else _book_folder(book))]
        return Usage(len(sizes), sum(sizes))

    def has_room(self, book: str) -> bool:
        """Whether one more state of a book can be saved without one of its own being evicted."""
        held = self.usage(book)
        return held.bytes + held.bytes // max(1, held.states) <= self.quota()

    def most(self, book: str) -> int:
        """Return how many states of a book there are of the model that has most of them."""
        folders = self._folder.glob(f"*/{_book_folder(book)}")
        return max((sum(1 for _ in folder.iterdir()) for folder in folders), default=0)

    def forget(self, book: str) -> None:
        """Delete the states of a book, of all models."""
        for folder in self._folder.glob(f"*/{_book_folder(book)}"):
            shutil.rmtree(folder, ignore_errors=True)
        self._total = None

    def clear(self) -> None:
        """Delete all states."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._total = None

    def quota(self) -> int:
        """Return the most bytes that all states may take now."""
        chosen = self._quota()
        if chosen is not None:
            return chosen
        free = shutil.disk_usage(_existing(self._folder)).free
        return min(DEFAULT_BYTES, (free + self._used()) // DEFAULT_SHARE)

    def _used(self) -> int:
        if self._total is None:
            self._total = sum(size for _, _, size in self._files())
        return self._total

    def _evict(self, size: int) -> bool:
        """Evict the least recently used states until a new one fits; return whether it does."""
        quota = self.quota()
        free = shutil.disk_usage(_existing(self._folder)).free

        def missing(used: int) -> int:
            return max(used + size - quota, DISK_RESERVE + size - free)

        if missing(self._used()) <= 0:
            return True
        files = sorted(self._files(), key=lambda file: file[1])
        self._total = sum(held for _, _, held in files)  # others may have written, too
        too_much = missing(self._total)
        spare = int((1 - AFTER_EVICTION) * quota) if too_much > 0 else 0
        for path, _, held in files:
            if too_much + spare <= 0:
                break
            self._delete(path)
            too_much -= held
        return too_much <= 0

    def _files(self, folder: str = "*") -> Iterator[tuple[Path, float, int]]:
        """Yield each state's path, time of last use and size; delete half files of a kill."""
        for path in self._folder.glob(f"*/{folder}/*"):
            try:
                found = path.stat()
            except OSError:
                continue
            if path.name.endswith(_PART):
                if time.time() - found.st_mtime > _STALE_S:
                    self._delete(path)
                continue
            yield path, found.st_mtime, found.st_size

    def _delete(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            size = path.stat().st_size
            path.unlink()
            self._total = None if self._total is None else max(0, self._total - size)


class BookKVStore:
    """The KV states of one book for one model; see `kv_cache.KVStates`."""

    def __init__(self, store: KVStore, folder: Path, model: str, book: str) -> None:
        self._store = store
        self._folder = folder / _book_folder(book)
        self._model = model

    def load(self, tokens: Sequence[int]) -> bytes | None:
        """Return the state of some tokens, if it is there and sound."""
        key = self._key(tokens)
        return self._store.load(self._path(key), key)

    def save(self, tokens: Sequence[int], state: bytes | bytearray) -> None:
        """Save the state of some tokens, or don't: see `KVStore.full`."""
        key = self._key(tokens)
        self._store.save(self._path(key), key, state)

    def has(self, tokens: Sequence[int]) -> bool:
        """Return whether there is a state of some tokens, sound or not."""
        return self._path(self._key(tokens)).exists()

    def _key(self, tokens: Sequence[int]) -> bytes:
        packed = struct.pack(f"<{len(tokens)}i", *tokens)
        return hashlib.sha256(self._model.encode() + b"\0" + packed).digest()

    def _path(self, key: bytes) -> Path:
        return self._folder / key.hex()[:40]


def _digest(key: bytes, state: bytes | bytearray) -> bytes:
    digest = hashlib.sha256(key)
    digest.update(state)
    return digest.digest()


def _book_folder(book: str) -> str:
    return book[:32] or "start"


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
