"""Prefill in the window: from a card's menu, in the background, and what the card says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from desktop.ui.library import background_prefill

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.paths import Paths
    from desktop.ui.library.book_card import BookCard
    from tests.ui.conftest import Driver


def do(driver: Driver, card: BookCard, text: str) -> None:
    """Choose an entry of a card's menu."""
    card._menu(card.mapToGlobal(card.rect().center()))
    (menu,) = (menu for menu in card.findChildren(QMenu) if menu.isVisible())
    (action,) = (a for a in menu.actions() if a.text().startswith(text))
    assert isinstance(action, QAction)
    menu.hide()
    action.trigger()


@pytest.fixture
def card(driver: Driver) -> BookCard:
    return driver.window.library.cards[driver.add("metals.pdf")]


def go_on(driver: Driver) -> None:
    (driver.folder / "data" / "go_on").touch()


def test_from_the_menu_to_the_end(driver: Driver, card: BookCard) -> None:
    assert not card.prefill.isVisible()
    do(driver, card, "Read ahead now")
    driver.until(lambda: card.prefill.text() == "Reading ahead: 50 % · about 5 min left")
    assert card.prefill.isVisible()
    go_on(driver)
    driver.until(lambda: card.prefill.text() == "Read ahead · 1.2 GB")
    assert "Read ahead · 1.2 GB" in card.accessibleName()


def test_stopped_it_shows_how_far_it_came_and_can_be_deleted(
    driver: Driver, card: BookCard
) -> None:
    do(driver, card, "Read ahead now")
    driver.until(lambda: "50 %" in card.prefill.text())
    do(driver, card, "Stop reading ahead")
    driver.until(lambda: card.prefill.text() == "Read ahead: 50 % · 1.2 GB")
    do(driver, card, "Delete what was read ahead (1.2 GB)")
    driver.until(lambda: not card.prefill.isVisible())


def test_it_is_known_in_the_next_run(
    driver: Driver, card: BookCard, opened: Callable[[], Driver]
) -> None:
    go_on(driver)
    do(driver, card, "Read ahead now")
    driver.until(lambda: card.prefill.text() == "Read ahead · 1.2 GB")
    driver.window.close()
    again = opened()
    cards = again.window.library.cards
    again.until(lambda: card.key in cards)
    again.until(lambda: cards[card.key].prefill.text() == "Read ahead · 1.2 GB")


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user counts as idle as soon as nothing was done between two polls."""
    monkeypatch.setattr(background_prefill, "IDLE_S", 0.0)
    monkeypatch.setattr(background_prefill, "POLL_MS", 20)


@pytest.mark.usefixtures("idle")
def test_the_book_in_use_is_prefilled_when_idle(driver: Driver, card: BookCard) -> None:
    driver.window.library.cards[card.key].chosen.emit(card.key)
    driver.qtbot.wait(200)
    assert not card.prefill.isVisible()  # no question was asked: no model is loaded for it
    driver.ask("which?")
    driver.until(lambda: "50 %" in card.prefill.text())
    driver.window.conversation.composer.box.setPlainText("an")
    driver.until(lambda: card.prefill.text() == "Read ahead: 50 % · 1.2 GB")
    driver.until(lambda: card.prefill.text().startswith("Reading ahead"))  # and goes on
    go_on(driver)
    driver.until(lambda: card.prefill.text() == "Read ahead · 1.2 GB")


@pytest.mark.usefixtures("idle")
def test_switched_off_it_does_not_start_by_itself(driver: Driver, card: BookCard) -> None:
    driver.window.menus.background_prefill.trigger()
    driver.ask("which?")
    driver.qtbot.wait(300)
    assert not card.prefill.isVisible()
    assert not driver.window.preferences.settings.reads_ahead


def test_the_limit_on_the_disk_is_saved_at_once(driver: Driver, paths: Paths) -> None:
    (room,) = (
        action
        for action in driver.window.findChildren(QAction)
        if action.text() == "10.0 GB" and action.isCheckable()
    )
    room.trigger()
    from desktop import settings

    kept = settings.load(paths.settings)
    assert kept.reading_ahead_bytes == 10_000_000_000
