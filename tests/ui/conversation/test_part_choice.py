from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from desktop.core.records import Mode
from desktop.ui.conversation.parts_dialog import PartsDialog

if TYPE_CHECKING:
    from PySide6.QtWidgets import QToolButton

    from desktop.ui.conversation.composer import Composer
    from tests.ui.conftest import Driver


def opened(driver: Driver) -> PartsDialog:
    """Open the dialog as a user does."""
    composer = driver.window.conversation.composer
    driver.until(composer.part.isVisible)
    composer.part.click()
    driver.until(lambda: driver.window.findChild(PartsDialog))
    dialog = driver.window.findChild(PartsDialog)
    assert isinstance(dialog, PartsDialog)
    return dialog


def tick(dialog: PartsDialog, label: str) -> None:
    (item,) = dialog.tree.findItems(label, Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive)
    item.setCheckState(0, Qt.CheckState.Checked)


@pytest.fixture
def composer(driver: Driver) -> Composer:
    driver.add("metals.pdf")
    return driver.window.conversation.composer


def test_answers_keep_to_the_chapter_that_is_chosen(driver: Driver, composer: Composer) -> None:
    driver.until(lambda: composer.part.text() == "Whole book")
    dialog = opened(driver)
    assert not dialog.use.isEnabled()
    tick(dialog, "Gases")
    driver.until(lambda: "About 2 min" in dialog.estimate_text.text())
    dialog.use.click()
    driver.until(lambda: "Gases" in composer.part.text())
    message = driver.ask("At what heat does osmium melt?")
    assert message.answer is not None
    assert message.answer.notes[1:] == ("Gases",)
    again = opened(driver)
    assert [part.label for part in again.ticked()] == ["Chapter 2 \u00b7 Gases"]
    again._use_all()
    driver.until(lambda: composer.part.text() == "Whole book")
    message = driver.ask("At what heat does osmium melt?")
    assert message.answer is not None
    assert not message.answer.notes[1:]


def test_what_is_below_an_entry_goes_with_it(driver: Driver, composer: Composer) -> None:
    del composer
    dialog = opened(driver)
    tick(dialog, "Heavy")  # the only entry below Metals
    assert [part.label for part in dialog.ticked()] == ["Chapter 1 \u00b7 Metals"]
    dialog.reject()


def test_the_estimate_says_what_reading_takes(driver: Driver, composer: Composer) -> None:
    composer.modes[Mode.LONG_CONTEXT].click()
    driver.until(lambda: "240,000 tokens; this model reads 31,000" in composer.hint.text())
    assert "choose less" in composer.hint.text()
    dialog = opened(driver)
    tick(dialog, "Metals")
    dialog.use.click()
    driver.until(lambda: "10,000 tokens" in composer.hint.text())
    composer.modes[Mode.RETRIEVAL].click()
    assert "tokens" not in composer.hint.text()


def test_another_scope_is_a_whole_book_again(driver: Driver, composer: Composer) -> None:
    dialog = opened(driver)
    tick(dialog, "Gases")
    dialog.use.click()
    driver.until(lambda: "Gases" in composer.part.text())
    driver.add("other.pdf")
    session = driver.window.session
    assert session is not None
    session.set_scope(())
    assert session.conversation.part is None
    driver.until(lambda: not composer.part.isVisible())


def test_a_question_is_asked_again_of_its_chapter(driver: Driver, composer: Composer) -> None:
    driver.ask("At what heat does osmium melt?")
    button: QToolButton = next(
        b
        for b in driver.view.findChildren(type(composer.part))
        if b.text() == "Ask again by reading the chapter"
    )
    button.click()
    driver.until(lambda: composer.mode is Mode.LONG_CONTEXT)
    driver.until(lambda: not driver.question_runner.running)
    message = driver.window.conversation.view.last()
    assert message is not None
    assert message.mode is Mode.LONG_CONTEXT
    assert "Metals" in composer.part.text()
    assert message.answer is not None
    assert message.answer.notes[1:] == ("Metals", "Metals \u203a Heavy")
