"""Which model suits this computer, and why, in words that a student understands.

Owns the rule and its sentence. Must not know what is installed or how a model is run.

The thresholds are data (`min_memory_gb` and `min_cores` in the catalogue) and come from figures
measured on a computer with two cores: the 1.5B model writes 27 tokens a second (people read at 5
to 8), reads 100, answers well from passages, and holds 2.0 GB while it answers; beside it stand
the system, a browser, the window and the embedder, some 4 GB, hence 6 GiB in all. With one core it
would halve its pace, and the wait for the first word with it, hence two cores. The 0.5B model
(44 and 210 tokens a second, 0.7 GB) serves computers of 3 GiB and more, the 135M one the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from desktop.core.llm.hardware.machine_info import Machine
    from desktop.core.llm.models.catalogue import CatalogueModel

GIB = 2**30


@dataclass(frozen=True)
class Recommendation:
    """What to use on a computer.

    Attributes:
        model: The one to use.
        small: The next smaller one, for those in a hurry; None where `model` is the smallest.
        reason: Why, one sentence for the user.
    """

    model: CatalogueModel
    small: CatalogueModel | None
    reason: str


def recommend(models: Iterable[CatalogueModel], machine: Machine) -> Recommendation:
    """Return the largest model that suits the computer, or the smallest where none does.

    Args:
        models: At least one.
        machine: Its memory in all and its logical cores decide, not what happens to be free.

    Raises:
        ValueError: if there are no models.
    """
    ordered = sorted(models, key=lambda model: model.size_bytes)
    if not ordered:
        message = "no models to choose from"
        raise ValueError(message)
    fitting = [model for model in ordered if suits(model, machine)]
    chosen = fitting[-1] if fitting else ordered[0]
    at = ordered.index(chosen)
    return Recommendation(
        model=chosen,
        small=ordered[at - 1] if at else None,
        reason=_reason(chosen, machine, best=at == len(ordered) - 1, fits=bool(fitting)),
    )


def suits(model: CatalogueModel, machine: Machine) -> bool:
    """Return whether the computer has the memory and the cores that the model asks for."""
    enough_memory = machine.memory_total >= model.min_memory_gb * GIB
    return enough_memory and machine.cores_logical >= model.min_cores


def _reason(model: CatalogueModel, machine: Machine, *, best: bool, fits: bool) -> str:
    cores = "1 core" if machine.cores_logical == 1 else f"{machine.cores_logical} cores"
    memory = machine.memory_total / GIB
    has = f"{round(memory)} GB of memory" if memory >= 1 else "less than 1 GB of memory"
    used = f"about {_about(model.memory_bytes)} are used while answering"
    if not fits:
        return (
            f"This computer has {has} and {cores}, less than any model asks for; "
            f"the smallest one may still work, and {used}."
        )
    if best:
        return f"This computer has {has} and {cores}, enough for the best answers; {used}."
    return (
        f"This computer has {has} and {cores}, too little for the larger models; "
        f"this one runs well, and {used}."
    )


def _about(size: int) -> str:
    """`size` bytes in words: "300 MB", "2 GB"."""
    if size < 950_000_000:
        return f"{round(size / 1e8) * 100} MB"
    return f"{size / 1e9:.1f}".removesuffix(".0") + " GB"
