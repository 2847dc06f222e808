from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtWidgets import QToolButton

from desktop.core.conversations import MessageState
from desktop.core.records import Mode
from tests.ui.fake_services import QUOTE, words_of_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.records import Progress
    from tests.ui.conftest import Driver


def test_question_streams_and_is_answered(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.type_question("At what heat does osmium melt?")
    driver.until(lambda: driver.view.answer.toPlainText().startswith("word0 word1"))
    assert driver.view.stage.isVisible()
    driver.until(lambda: not driver.question_runner.running)
    message = driver.view.message
    assert message.state is MessageState.DONE
    assert "Osmium melts at 3306 K" in driver.view.answer.toPlainText()
    assert "p. 12 (printed 8)" in driver.view.sources.toPlainText()
    assert "word for word" in driver.view.sources.toPlainText()
    assert not driver.view.stage.isVisible()


def test_click_on_citation_opens_the_page_with_its_words_marked(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.ask("At what heat does osmium melt?")
    page = driver.window.page
    assert not page.isVisible()
    driver.view.answer.anchorClicked.emit(QUrl("cite:1"))
    driver.until(lambda: page.sheet.picture is not None)
    assert page.isVisible()
    assert page.toolbar.number.text() == "12"
    assert "(printed 8)" in page.toolbar.total.text()
    rects = tuple(word.rect for word in words_of_page() if word.end <= QUOTE[1])
    assert page.sheet.marks.cited == [rects]
    bar = page.scroller.verticalScrollBar()
    shown = page.sheet.place(rects[0])
    assert bar.value() <= shown.top() <= bar.value() + page.scroller.viewport().height()


def test_marker_can_be_reached_and_pressed_by_keys(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.ask("At what heat does osmium melt?")
    driver.view.answer.setFocus(Qt.FocusReason.TabFocusReason)
    driver.qtbot.keyClick(driver.view.answer, Qt.Key.Key_Tab)
    driver.qtbot.keyClick(driver.view.answer, Qt.Key.Key_Return)
    driver.until(lambda: driver.window.page.sheet.picture is not None)


def test_abstention_shows_the_nearest_pages(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.ask("nothing of this is there")
    assert "Nearest pages" in driver.view.sources.toPlainText()
    driver.view.sources.anchorClicked.emit(QUrl("near:0"))
    driver.until(lambda: driver.window.page.sheet.picture is not None)
    assert driver.window.page.toolbar.number.text() == "12"


def test_stop_keeps_the_text(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.type_question("slow please")
    driver.until(lambda: "word5" in driver.view.answer.toPlainText())
    driver.qtbot.keyClick(driver.window, Qt.Key.Key_Escape)
    driver.until(lambda: not driver.question_runner.running)
    assert driver.view.message.state is MessageState.STOPPED


def test_worker_death_is_told_and_one_click_asks_again(driver: Driver) -> None:
    driver.add("metals.pdf")
    message = driver.ask("die here")
    assert message.state is MessageState.INTERRUPTED
    assert "stopped unexpectedly. It has been started again" in message.error
    assert "word5" in driver.view.answer.toPlainText()
    driver.view.regenerate_wanted.emit(message)
    driver.until(lambda: driver.question_runner.running)
    driver.until(lambda: "word3" in driver.view.answer.toPlainText())
    driver.window.conversation.composer.stop_wanted.emit()
    driver.until(lambda: not driver.question_runner.running)


def test_librarian_death_while_looking_things_up(driver: Driver) -> None:
    driver.add("metals.pdf")
    message = driver.ask("lose the librarian")
    assert message.state is MessageState.INTERRUPTED
    driver.until(lambda: "was started" in driver.window.notices.text.text())
    driver.until(lambda: driver.window.workers.librarian.pid)
    assert driver.ask("and now?").state is MessageState.DONE


def test_failure_is_told_with_its_remedy(driver: Driver) -> None:
    driver.add("metals.pdf")
    message = driver.ask("fail now")
    assert message.state is MessageState.FAILED
    assert message.error == "The model's file is damaged. Download it again."


def test_earlier_turns_go_along_and_modes_are_kept(driver: Driver) -> None:
    driver.add("metals.pdf")
    for number in range(4):
        driver.ask(f"question {number}")
    message = driver.ask("the last")
    assert message.answer is not None
    assert message.answer.notes == ("3 earlier turns",)
    driver.view.mode_wanted.emit(message, Mode.LONG_CONTEXT)
    driver.until(lambda: driver.view.message.id != message.id)
    driver.until(lambda: not driver.question_runner.running)
    assert driver.view.message.mode is Mode.LONG_CONTEXT
    assert driver.window.conversation.composer.mode is Mode.LONG_CONTEXT


def test_what_was_left_out_can_be_read_through(driver: Driver) -> None:
    def shown() -> list[QToolButton]:
        buttons = driver.view.findChildren(QToolButton)
        return [button for button in buttons if button.text() == "Read it through"]

    driver.add("metals.pdf")
    first = driver.ask("what?")
    (button,) = shown()
    button.click()
    driver.until(lambda: driver.question_runner.running)
    driver.until(lambda: not driver.question_runner.running)
    assert driver.view.message.id == first.id
    assert driver.view.message.answer is not None
    assert driver.view.message.answer.left_out is None
    driver.until(lambda: not shown())


def test_regenerate_answers_in_place(driver: Driver) -> None:
    driver.add("metals.pdf")
    first = driver.ask("what?")
    driver.window.menus.regenerate.trigger()
    driver.until(lambda: driver.question_runner.running)
    driver.until(lambda: not driver.question_runner.running)
    assert driver.view.message.id == first.id
    assert len(driver.window.conversation.view.views) == 1


def test_closing_during_an_answer_is_quick_and_keeps_the_text(
    driver: Driver, opened: Callable[[], Driver]
) -> None:
    driver.add("slow.pdf")
    driver.type_question("slow please")
    driver.until(lambda: "word20" in driver.view.answer.toPlainText())
    start = time.monotonic()
    driver.window.close()
    assert time.monotonic() - start < 2
    again = opened()
    again.until(lambda: again.window.conversation.view.views)
    assert again.view.message.state is MessageState.INTERRUPTED
    assert "word20" in again.view.answer.toPlainText()


def test_answer_goes_on_behind_another_conversation(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.type_question("slow please")
    driver.until(lambda: "word5" in driver.view.answer.toPlainText())
    session = driver.window.session
    assert session is not None
    first = session.conversation.id
    session.new()
    assert not driver.window.conversation.view.views
    driver.qtbot.wait(150)
    session.switch(first)
    driver.until(lambda: driver.window.conversation.view.views)
    driver.until(lambda: "word15" in driver.view.answer.toPlainText())
    text = driver.view.answer.toPlainText()
    assert text.index("word14 word15 word16"[:13]) > 0
    assert text.count("word7 ") == 1
    driver.window.conversation.composer.stop_wanted.emit()
    driver.until(lambda: not driver.question_runner.running)


def test_a_limit_is_a_chip_that_can_be_taken_away(driver: Driver) -> None:
    driver.add("metals.pdf")
    message = driver.ask("In chapter 4, at what heat does osmium melt?")
    chips = driver.view.limits
    assert chips.isVisible()
    assert "Looked only in: Chapter 4 · Metals" in chips.toPlainText().replace("\u2009", "")[:60]
    chips.anchorClicked.emit(QUrl("limit:section"))
    driver.until(lambda: driver.question_runner.running)
    driver.until(lambda: not driver.question_runner.running)
    assert driver.view.message.id == message.id
    assert driver.view.message.answer is not None
    assert driver.view.message.answer.limits == ()
    assert not driver.view.limits.isVisible()


def test_a_chip_can_be_reached_and_pressed_by_keys(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.ask("In chapter 4, at what heat does osmium melt?")
    driver.view.limits.setFocus(Qt.FocusReason.TabFocusReason)
    driver.qtbot.keyClick(driver.view.limits, Qt.Key.Key_Tab)
    driver.qtbot.keyClick(driver.view.limits, Qt.Key.Key_Return)
    driver.until(lambda: driver.question_runner.running)
    driver.until(lambda: not driver.question_runner.running)
    assert not driver.view.limits.isVisible()


def test_what_was_not_found_is_looked_for_again(driver: Driver) -> None:
    driver.add("metals.pdf")
    stages: list[str] = []
    driver.question_runner.stage_changed.connect(lambda _message, stage: stages.append(stage.stage))
    driver.ask("nothing of this is there")
    seen = list(dict.fromkeys(stages))
    assert "checking" in seen
    assert "further" in seen
    assert seen.index("checking") < seen.index("further")


def test_the_first_text_stays_while_a_further_one_is_written(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.type_question("nothing of this is there")
    seen: list[str] = []
    stages: list[str] = []
    driver.question_runner.text_added.connect(
        lambda *_: seen.append(driver.question_runner.running.text)
    )
    driver.question_runner.stage_changed.connect(lambda _message, stage: stages.append(stage.stage))
    driver.until(lambda: not driver.question_runner.running)
    assert any("word9 " in text for text in seen)
    assert max(text.count("word0 ") for text in seen) == 1
    assert seen == sorted(seen, key=len)
    assert "comparing" in stages
    assert driver.view.message.answer is not None
    assert driver.view.message.answer.rounds == 2


@pytest.mark.parametrize("moment", ["further", "comparing"])
def test_stopped_in_a_further_round_the_proved_answer_is_there(driver: Driver, moment: str) -> None:
    driver.add("metals.pdf")
    driver.type_question("nothing of this is there")

    def stop(_message: int, stage: Progress) -> None:
        if stage.stage == moment:  # at once: a moment later another step is under way
            QTimer.singleShot(0, driver.question_runner.stop)

    driver.question_runner.stage_changed.connect(stop)
    driver.until(lambda: driver.view.message.state is not MessageState.WRITING)
    message = driver.view.message
    assert message.state is MessageState.DONE
    assert message.answer is not None
    assert message.answer.rounds == 1


def test_a_place_that_no_rule_knows_is_asked_of_the_model(driver: Driver) -> None:
    driver.add("metals.pdf")
    stages: list[str] = []
    driver.question_runner.stage_changed.connect(lambda _message, stage: stages.append(stage.stage))
    message = driver.ask("What melts in the chapter before the last?")
    assert message.state is MessageState.DONE
    assert stages.count("finding") >= 3  # looked up, interpreted, looked up


def test_a_limit_comes_back_with_the_conversation(
    driver: Driver, opened: Callable[[], Driver]
) -> None:
    driver.add("metals.pdf")
    driver.ask("In chapter 4, at what heat does osmium melt?")
    driver.window.close()
    again = opened()
    again.until(lambda: again.window.conversation.view.views)
    assert again.view.limits.isVisible()
    assert [limit.key for limit in again.view.message.answer.limits] == ["section"]
