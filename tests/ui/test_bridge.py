from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from desktop.ui.bridge import Bridge
from tests.ui.fake_services import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from desktop.paths import Paths
    from desktop.worker.process import Delivery

pytestmark = pytest.mark.slow


@pytest.fixture
def bridge(paths: Paths, qtbot: QtBot) -> Iterator[Bridge]:
    made = Bridge("fetcher", KINDS["fetcher"], paths)
    yield made
    made.close()


def test_deliveries_come_in_the_windows_thread(bridge: Bridge, qtbot: QtBot) -> None:
    threads: list[threading.Thread] = []
    events: list[str] = []

    def listen(delivery: Delivery) -> None:
        threads.append(threading.current_thread())
        events.append(delivery.event)

    handle = bridge.request("get", {"name": "tiny"}, on_event=listen)
    qtbot.waitUntil(lambda: not handle.running, timeout=10_000)
    assert set(threads) == {threading.main_thread()}
    assert events == ["progress"] * 50 + ["done"]


def test_cancelled_job_says_so_and_a_dropped_one_is_not_heard(bridge: Bridge, qtbot: QtBot) -> None:
    events: list[str] = []
    dropped: list[str] = []
    second = bridge.request("get", {"name": "a"}, on_event=lambda d: dropped.append(d.event))
    qtbot.waitUntil(lambda: bool(dropped), timeout=10_000)
    second.drop()
    count = len(dropped)
    first = bridge.request("get", {"name": "b"}, on_event=lambda d: events.append(d.event))
    qtbot.waitUntil(lambda: bool(events), timeout=10_000)
    first.cancel()
    qtbot.waitUntil(lambda: not first.running, timeout=10_000)
    assert events[-1] == "cancelled"
    assert len(dropped) == count


def test_death_is_told_to_every_job_and_to_the_window(bridge: Bridge, qtbot: QtBot) -> None:
    events: list[str] = []
    deaths: list[tuple[str, object]] = []
    bridge.died.connect(lambda kind, news: deaths.append((kind, news)))
    handles = [
        bridge.request("get", {"name": name}, on_event=lambda d: events.append(d.event))
        for name in ("a", "b")
    ]
    qtbot.waitUntil(lambda: bool(events), timeout=10_000)
    assert bridge.pid is not None
    os.kill(bridge.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: bool(deaths), timeout=10_000)
    assert events[-2:] == ["died", "died"]
    assert not any(handle.running for handle in handles)
    assert deaths == [("fetcher", {"exitcode": -9, "given_up": False})]
    again: list[str] = []
    bridge.request("models", on_event=lambda d: again.append(d.event))
    qtbot.waitUntil(lambda: again == ["done"], timeout=10_000)


def test_closed_bridge_starts_nothing(paths: Paths, qtbot: QtBot) -> None:
    bridge = Bridge("fetcher", KINDS["fetcher"], paths)
    bridge.close()
    bridge.start()
    bridge.request("models", on_event=lambda _: None)
    assert bridge.pid is None
