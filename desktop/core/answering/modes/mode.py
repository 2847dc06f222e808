"""What every mode is given, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.answering.generation.loaded_model import LoadedModel
    from desktop.core.answering.prompt.blocks import PromptBlocks
    from desktop.core.answering.prompt.context import Context
    from desktop.core.answering.request import Listener, Request
    from desktop.core.library.library import Library

    BuildContext = Callable[["ModeInput"], Context]


@dataclass(frozen=True)
class ModeInput:
    """What a mode chooses from, all of it made before the mode is called.

    Attributes:
        library: Where the pages and what was saved of them are.
        loaded: The model that is to answer.
        blocks: The blocks of that model.
        request: What is asked, with what was found.
        listener: Told of progress, by a mode that itself reads.
        reserved: Tokens of the prompt beside its sources, and of the longest answer.
    """

    library: Library
    loaded: LoadedModel
    blocks: PromptBlocks
    request: Request
    listener: Listener
    reserved: int

    @property
    def room(self) -> int:
        """Most tokens of all sources together in the model's default window."""
        return self.loaded.default_window - self.reserved

    @property
    def widest_room(self) -> int:
        """Most tokens of all sources together in the widest window that the memory allows."""
        return self.loaded.widest() - self.reserved

    @property
    def books(self) -> list[str]:
        """Ids of the books that are asked."""
        return [book for book, _ in self.request.found.books]

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        return len(self.loaded.engine.tokenize(text))
