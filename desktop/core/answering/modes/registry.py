"""The modes by name, and what chooses the sources in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.answering.modes import long_context, map_reduce, retrieval
from desktop.core.records import Mode

if TYPE_CHECKING:
    from desktop.core.answering.modes.mode import BuildContext
    from desktop.core.answering.request import Request

MODES: dict[Mode, BuildContext] = {
    Mode.RETRIEVAL: retrieval.build_context,
    Mode.LONG_CONTEXT: long_context.build_context,
}


def mode_of(request: Request) -> BuildContext | None:
    """Return what chooses the sources for a request; None where there is no such mode yet."""
    if request.map_reduce:
        return map_reduce.build_context
    return MODES.get(request.mode)
