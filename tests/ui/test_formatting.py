from __future__ import annotations

import dataclasses

from desktop.core.answering.modes.budget import Estimate
from desktop.core.llm.hardware.memory_plan import Shortage
from desktop.ui import formatting


def test_numbers_and_times_are_plain() -> None:
    assert formatting.size(98_400_000) == "98 MB"
    assert formatting.size(1_117_000_000) == "1.1 GB"
    assert formatting.time_left(4.2) == "4 s left"
    assert formatting.time_left(52) == "about 50 s left"
    assert formatting.time_left(200) == "about 3 min left"
    assert formatting.time_left(8000) == "about 2 h left"
    assert formatting.time_left(None) == ""
    assert formatting.reading_state(312, 1087, 4) == "Reading page 312 of 1,087 · 4 s left"
    assert formatting.listed(["a", "b", "c", "d"]) == "a, b, c and 1 more"


def test_the_estimate_says_what_lacks_where_memory_is_short() -> None:
    measure = Estimate(20, 31_234, 7_912, 300.0, False, Shortage(32_768, 2_450_000_000, 10**9))
    assert formatting.context_estimate(measure) == (
        "31,000 tokens; with the 1.0 GB of memory that are free this model reads 7,900 at once "
        "here, and 33,000 would need 2.5 GB. Close other programs, choose less, or read it through "
        "afterwards (about 5 min the first time)."
    )
    enough = dataclasses.replace(measure, short=None)
    assert "Only the pages around the best finds are read" in formatting.context_estimate(enough)
    assert "afterwards (about 5 min the first time)." in formatting.context_estimate(enough)
    unknown = dataclasses.replace(enough, seconds=None)
    assert "afterwards." in formatting.context_estimate(unknown)
    fits = dataclasses.replace(measure, tokens=5_000)
    assert formatting.context_estimate(fits) == (
        "5,000 tokens; this model reads 7,900 at once here. About 5 min the first time, then at "
        "once."
    )
