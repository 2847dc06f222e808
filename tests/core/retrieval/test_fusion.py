from __future__ import annotations

import pytest

from desktop.core.retrieval.fusion import RRF_K, reciprocal_rank


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    assert reciprocal_rank([["a", "b"], ["b", "c"]]) == [
        ("b", pytest.approx(1 / (RRF_K + 2) + 1 / (RRF_K + 1))),
        ("a", pytest.approx(1 / (RRF_K + 1))),
        ("c", pytest.approx(1 / (RRF_K + 2))),
    ]


def test_one_ranking_keeps_its_order() -> None:
    assert [item for item, _ in reciprocal_rank([["x", "y", "z"]])] == ["x", "y", "z"]


def test_equal_scores_keep_the_order_of_appearance() -> None:
    assert [item for item, _ in reciprocal_rank([["p"], ["q"], ["r"]])] == ["p", "q", "r"]


def test_good_places_in_both_beat_the_best_place_in_one() -> None:
    first, second = ["only", "both"], ["other", "both"]
    assert reciprocal_rank([first, second])[0][0] == "both"


def test_a_small_constant_favours_the_top() -> None:
    rankings = [["top", "both"], ["x", "y", "both"]]
    assert reciprocal_rank(rankings, k=60)[0][0] == "both"
    assert reciprocal_rank(rankings, k=0)[0][0] == "top"


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank([]) == reciprocal_rank([[], []]) == []
