from __future__ import annotations

import os
from functools import partial

from desktop.core import selftest


def _word(word: str) -> str:
    return word


def test_a_check_that_fails_or_ends_its_process_does_not_end_the_others() -> None:
    checks = [
        ("first", partial(_word, "one")),
        ("abort", os.abort),
        ("wrong", partial(int, "two")),
        ("last", partial(_word, "three")),
    ]
    results = selftest.run(checks)
    assert [(check.name, check.ok) for check in results] == [
        ("first", True), ("abort", False), ("wrong", False), ("last", True),
    ]  # fmt: skip
    assert results[1].detail == "its process ended without a word"
    assert results[2].detail.startswith("ValueError")
