"""Records as plain JSON values and back: over a process boundary, or into a database."""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from desktop.core.records import Word

R = TypeVar("R")


def encode(value: Any) -> Any:
    """Return `value` (a record, or lists and dicts of records) as plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Word):
        return {name: encode(item) for name, item in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(record: type[R], data: Any) -> R:
    """Return the record of class `record` that `encode` made `data` from.

    Unknown keys are dropped and missing ones take their default, so that data written by
    another version can be read.
    """
    return typing.cast("R", _decode(record, data))


@cache
def _hints(record: type) -> dict[str, Any]:
    return typing.get_type_hints(record)


def _decode(hint: Any, data: Any) -> Any:
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return None if data is None else _decode(arguments[0], data)
    if origin is tuple:
        kinds = arguments[:1] * len(data) if arguments[-1] is Ellipsis else arguments
        return tuple(_decode(kind, item) for kind, item in zip(kinds, data, strict=True))
    if dataclasses.is_dataclass(hint) or hint is Word:
        hints = _hints(typing.cast("type", hint))
        return typing.cast("type", hint)(
            **{k: _decode(hints[k], v) for k, v in data.items() if k in hints}
        )
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(data)
    return data
