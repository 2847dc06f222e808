"""Putting the scores of several searches together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

Key = TypeVar("Key", bound="Hashable")


def scaled(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Return scores from 0, the lowest of them, to 1, the highest.

    Min-max scaling, as in Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
    Retrieval" (TOIS 2023), where a weighted sum of scaled scores finds better than the fusion of
    ranks, which forgets by how much one passage fits better than the next.
    """
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    width = high - low
    return {key: (score - low) / width if width else 1.0 for key, score in scores.items()}


def weighted(parts: Iterable[tuple[float, Mapping[Key, float]]]) -> dict[Key, float]:
    """Return the weighted sum of scores; what a part does not have counts as 0 there."""
    total: dict[Key, float] = {}
    for weight, scores in parts:
        for key, score in scores.items():
            total[key] = total.get(key, 0.0) + weight * score
    return total


def spread(
    ranked: Sequence[tuple[Key, float]], groups: Mapping[Key, Hashable], *, factor: float
) -> list[tuple[Key, float]]:
    """Rank anew, each further member of a group at `factor` of the weight of the one before.

    Args:
        ranked: Keys with their scores, best first.
        groups: The group of each key.
        factor: From 0 (one of a group only) to 1 (no change).
    """
    seen: dict[Hashable, int] = {}
    result = []
    for key, score in ranked:
        before = seen.get(groups[key], 0)
        seen[groups[key]] = before + 1
        result.append((key, score * factor**before))
    return sorted(result, key=lambda pair: -pair[1])
