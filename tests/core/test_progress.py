from __future__ import annotations

import pytest

from desktop.core import progress
from desktop.core.progress import Pace
from desktop.core.records import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress.time, "monotonic", clock.monotonic)
    return clock


@pytest.fixture
def reports() -> list[Progress]:
    return []


def test_the_start_is_reported(clock: Clock, reports: list[Progress]) -> None:
    Pace(reports.append, "reading", total=10, unit="pages", done=4)
    assert reports == [Progress("reading", 4, 10, "pages")]


def test_a_steady_pace_tells_the_time_left(clock: Clock, reports: list[Progress]) -> None:
    pace = Pace(reports.append, "reading", total=100, unit="pages")
    for done in range(10, 101, 10):
        clock.now += 1
        pace.at(done)
    assert [r.done for r in reports] == list(range(0, 101, 10))
    assert [r.seconds_left for r in reports[1:]] == [pytest.approx(n) for n in range(9, -1, -1)]
    assert {(r.stage, r.total, r.unit) for r in reports} == {("reading", 100, "pages")}


def test_what_was_there_before_tells_nothing_of_the_pace(
    clock: Clock, reports: list[Progress]
) -> None:
    pace = Pace(reports.append, "reading", total=100, unit="pages", done=90)
    clock.now += 1
    pace.at(95)
    assert reports[-1].seconds_left == pytest.approx(1)


def test_no_estimate_before_the_work_is_warm(clock: Clock, reports: list[Progress]) -> None:
    pace = Pace(reports.append, "reading", total=100, unit="pages")
    clock.now += progress.WARM_UP_S / 2
    pace.at(10)
    assert reports[-1].seconds_left is None
    clock.now += progress.WARM_UP_S
    pace.at(20)
    assert reports[-1].seconds_left is not None


def test_no_estimate_where_the_total_is_not_known(clock: Clock, reports: list[Progress]) -> None:
    pace = Pace(reports.append, "downloading", total=0, unit="bytes")
    clock.now += 5
    pace.at(500)
    assert (reports[-1].done, reports[-1].seconds_left) == (500, None)


def test_reports_close_together_are_dropped_but_for_the_last(
    clock: Clock, reports: list[Progress]
) -> None:
    pace = Pace(reports.append, "reading", total=1000, unit="pages")
    for done in range(1, 1001):
        clock.now += progress.REPORT_S / 20
        pace.at(done)
    assert 45 <= len(reports) <= 55
    assert reports[-1].done == 1000


def test_time_spent_standing_back_is_left_out(clock: Clock, reports: list[Progress]) -> None:
    pace = Pace(reports.append, "embedding", total=100, unit="passages")
    clock.now += 1
    pace.at(10)
    clock.now += 601
    pace.idle(600)
    pace.at(20)
    assert reports[-1].seconds_left == pytest.approx(8)


def test_the_estimate_follows_a_change_of_pace(clock: Clock, reports: list[Progress]) -> None:
    pace = Pace(reports.append, "embedding", total=10_000, unit="passages")
    done = 0
    for step, seconds in ((100, 1.0), (10, 1.0)):
        for _ in range(20):
            done += step
            clock.now += seconds
            pace.at(done)
    assert reports[-1].seconds_left == pytest.approx((10_000 - done) / 10, rel=0.05)


def test_no_progress_makes_no_estimate_worse(clock: Clock, reports: list[Progress]) -> None:
    pace = Pace(reports.append, "x", total=10, unit="pages")
    clock.now += 1
    pace.at(5)
    clock.now += 1
    pace.at(5)
    assert reports[-1].seconds_left == pytest.approx(1)
    clock.now += 1
    pace.at(12)  # more than there were
    assert reports[-1].seconds_left == 0
