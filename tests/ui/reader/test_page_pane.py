from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication

from tests.ui.fake_services import DEADLY_PAGE, LINE, words_of_page

if TYPE_CHECKING:
    from desktop.ui.reader.page_pane import PagePane
    from tests.ui.conftest import Driver


@pytest.fixture
def page(driver: Driver) -> PagePane:
    """The page pane on page 1 of a book."""
    key = driver.add("metals.pdf")
    driver.window.host.open_book(key)
    pane = driver.window.page
    driver.until(lambda: pane.sheet.picture is not None and pane.pages == 40)
    return pane


def number(page: PagePane) -> str:
    return page.toolbar.number.text()


def test_pages_are_turned_and_gone_to(driver: Driver, page: PagePane) -> None:
    assert page.toolbar.total.text() == "/ 40 (printed -3)"
    page.turn(1)
    driver.until(lambda: number(page) == "2")
    page.toolbar.number.setText("30")
    driver.qtbot.keyClick(page.toolbar.number, Qt.Key.Key_Return)
    driver.until(lambda: page.toolbar.total.text() == "/ 40 (printed 26)")
    page.turn(500)
    driver.until(lambda: "(printed 36)" in page.toolbar.total.text())
    page.toolbar.number.setText("nonsense")
    driver.qtbot.keyClick(page.toolbar.number, Qt.Key.Key_Return)
    assert number(page) == "40"


def test_zoom_changes_the_size_and_asks_for_a_sharp_picture(driver: Driver, page: PagePane) -> None:
    driver.qtbot.wait(300)
    width = page.sheet.width()
    page.zoom_by(2)
    assert page.sheet.width() == pytest.approx(2 * width, abs=2)
    driver.until(
        lambda: (
            page.sheet.picture
            and page.sheet.picture.image.width() == pytest.approx(2 * width, abs=3)
        )
    )
    page.fit_width()
    assert page.sheet.width() <= page.scroller.viewport().width()


def test_find_counts_shows_and_moves(driver: Driver, page: PagePane) -> None:
    driver.window.menus._window.activateWindow()
    page.open_find()
    page.find_bar.field.setText("osmium")
    driver.until(lambda: page.find_bar.count.text() == "1 of 4")
    driver.until(lambda: number(page) == "3")
    driver.until(lambda: len(page.sheet.marks.found) == 2)
    assert page.sheet.marks.now == (words_of_page()[1].rect,)
    page.find_bar.find_previous()
    driver.until(lambda: number(page) == "7")
    assert page.find_bar.count.text() == "4 of 4"
    page.find_bar.dismiss()
    assert not page.sheet.marks.found


def test_words_are_selected_and_copied(driver: Driver, page: PagePane) -> None:
    words = words_of_page()
    sheet = page.sheet

    def middle(index: int) -> QPoint:
        return sheet.place(words[index].rect).center().toPoint()

    driver.qtbot.mousePress(sheet, Qt.MouseButton.LeftButton, pos=middle(1))
    sheet._to = sheet.place(words[3].rect).center()
    driver.until(lambda: sheet.selected_text() == "melting point of")
    driver.qtbot.mouseRelease(sheet, Qt.MouseButton.LeftButton)
    assert page.copy()
    assert QGuiApplication.clipboard().text() == "melting point of"
    sheet._from = sheet.place(words[0].rect).topLeft()
    sheet._to = sheet.place(words[-1].rect).bottomRight()
    assert sheet.selected_text() == LINE


def test_dead_reader_comes_back_with_the_page(driver: Driver, page: PagePane) -> None:
    import os
    import signal

    pid = driver.window.workers.reader.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    driver.until(lambda: "started again" in page.message.text())
    driver.until(lambda: page._stack.currentIndex() == 1)


def test_removed_book_leaves_the_pane(driver: Driver, page: PagePane) -> None:
    assert page.location is not None
    driver.window.book_list.remove(page.location.book)
    assert page.location is None
    assert page.message.isVisible()


def test_page_that_kills_the_reader_is_given_up_and_others_go_on(
    driver: Driver, page: PagePane
) -> None:
    page.go_to(DEADLY_PAGE)
    driver.until(lambda: "can't be drawn" in page.message.text())
    page.turn(1)
    driver.until(lambda: number(page) == str(DEADLY_PAGE + 1))
    assert page.scroller.isVisible()
