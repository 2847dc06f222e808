from __future__ import annotations

from desktop.core.records import Progress
from desktop.ui.conversation.status_line import status_text


def test_the_status_says_what_is_done_how_far_and_how_long() -> None:
    step = Progress("reading", 40, 100, "tokens", 9.0)
    assert status_text(step) == "Reading the passages… 40 % · 9 s left"
