from __future__ import annotations

import pytest

from desktop.core.retrieval.fusion import scaled, spread, weighted


def test_scores_go_from_zero_to_one() -> None:
    assert scaled({"a": 3.0, "b": 1.0, "c": 2.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}
    assert scaled({"only": 7.0}) == {"only": 1.0}
    assert scaled({}) == {}


def test_parts_add_up_by_their_weight() -> None:
    total = weighted([(0.5, {"a": 1.0, "b": 0.2}), (0.25, {"b": 1.0})])
    assert total == {"a": pytest.approx(0.5), "b": pytest.approx(0.35)}


def test_each_further_one_of_a_group_counts_less() -> None:
    ranked = [("a1", 1.0), ("a2", 0.9), ("b1", 0.7), ("a3", 0.6)]
    groups = {"a1": 1, "a2": 1, "a3": 1, "b1": 2}
    assert spread(ranked, groups, factor=0.5) == [
        ("a1", 1.0),
        ("b1", 0.7),
        ("a2", pytest.approx(0.45)),
        ("a3", pytest.approx(0.15)),
    ]
    assert spread(ranked, groups, factor=1) == ranked
