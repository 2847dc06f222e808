"""How much of a book is prefilled: what its card shows."""

from __future__ import annotations

from dataclasses import dataclass

_COMPLETE = 0.999


@dataclass(frozen=True)
class PrefillProgress:
    """How much of a book is prefilled, as far as that shows without its model.

    Attributes:
        book: Its id.
        share: How much of it, 0 to 1, by the model with most saved states.
        bytes: Size of its saved key/value (KV) states on the disk, those of its chapters included.
    """

    book: str
    share: float
    bytes: int

    @property
    def complete(self) -> bool:
        """Whether nothing of the book is left to prefill."""
        return self.share >= _COMPLETE
