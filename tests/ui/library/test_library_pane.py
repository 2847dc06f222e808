from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from desktop.core.records import BookStatus
from desktop.ui.shell.drag_and_drop import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Driver


def test_same_file_again_is_told(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.window.book_list.add(str(driver.folder / "metals.pdf"))
    driver.until(lambda: "already in the library" in driver.window.notices.text.text())
    assert len(driver.window.library.cards) == 1


def test_password_is_asked_for_in_place(driver: Driver) -> None:
    driver.window.importer.add(Dropped(books=(driver.file("locked.pdf"),)))
    driver.until(lambda: any(e.locked for e in driver.window.book_list.entries.values()))
    card = next(iter(driver.window.library.cards.values()))
    driver.until(lambda: card._password is not None)
    card._password.field.setText("wrong")
    driver.qtbot.keyClick(card._password.field, Qt.Key.Key_Return)
    driver.until(lambda: "wrong password" in card.state.text())
    card._password.field.setText("sesame")
    driver.qtbot.keyClick(card._password.field, Qt.Key.Key_Return)
    driver.until(lambda: card.state.text() == "Ready")
    assert not card._password.isVisible()


def test_damaged_file_says_why_and_can_be_taken_away(driver: Driver) -> None:
    driver.window.importer.add(Dropped(books=(driver.file("broken.pdf"),)))
    cards = driver.window.library.cards
    driver.until(lambda: cards and "damaged" in next(iter(cards.values())).state.text())
    driver.window.book_list.remove(next(iter(cards)))
    assert not cards


def test_file_that_kills_the_librarian(driver: Driver) -> None:
    driver.window.importer.add(Dropped(books=(driver.file("die.pdf"),)))
    cards = driver.window.library.cards
    driver.until(
        lambda: cards and "stopped unexpectedly" in next(iter(cards.values())).state.text()
    )
    driver.add("metals.pdf")


def test_pause_and_go_on(driver: Driver) -> None:
    key = driver.add("slow.pdf")
    card = driver.window.library.cards[key]
    driver.until(lambda: "Finding still gets better" in card.state.text())
    driver.until(card.bar.isVisible)
    card.button.click()
    entry = driver.window.book_list.entries[key]
    driver.until(lambda: entry.book.status is BookStatus.PAUSED and not entry.running)
    driver.until(lambda: card.state.text().startswith("Paused"))
    card.button.click()
    driver.until(lambda: entry.running)
    driver.until(lambda: "gets better" in card.state.text())


def test_removal_can_be_undone(driver: Driver) -> None:
    key = driver.add("metals.pdf")
    driver.window.library.cards[key].remove_wanted.emit(key)
    assert key not in driver.window.library.cards
    notices = driver.window.notices
    assert notices.text.text() == "Removed “metals”"
    assert driver.window.menus.undo.isEnabled()
    notices.button.click()
    driver.until(lambda: key in driver.window.library.cards)
    assert not driver.window.menus.undo.isEnabled()
    assert driver.ask("still there?").answer is not None


def test_removal_is_settled_when_the_next_comes(driver: Driver) -> None:
    first, second = driver.add("a.pdf"), driver.add("b.pdf")
    driver.window.book_list.remove(first)
    driver.window.book_list.remove(second)
    driver.window.menus.undo.trigger()
    driver.until(lambda: second in driver.window.library.cards)
    assert first not in driver.window.library.cards


def test_choosing_a_book_asks_only_it_and_is_kept(
    driver: Driver, opened: Callable[[], Driver]
) -> None:
    driver.add("a.pdf")
    key = driver.add("b.pdf")
    driver.qtbot.mouseClick(driver.window.library.cards[key], Qt.MouseButton.LeftButton)
    message = driver.ask("which?")
    assert message.answer is not None
    assert {item.book for item in message.answer.context} == {key}
    driver.window.close()
    again = opened()
    assert again.window.session is not None
    assert again.window.session.conversation.scope == (key,)
    assert not again.window.library.all_books.isChecked()


def test_librarian_comes_back_and_goes_on(driver: Driver) -> None:
    import os
    import signal

    key = driver.add("slow.pdf")
    pid = driver.window.workers.librarian.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    driver.until(lambda: "Nothing is lost" in driver.window.notices.text.text())
    entry = driver.window.book_list.entries[key]
    driver.until(lambda: entry.running and driver.window.workers.librarian.pid != pid)
    driver.until(lambda: "gets better" in driver.window.library.cards[key].state.text())


def test_handbook_is_one_click_away(driver: Driver) -> None:
    driver.window.conversation.welcome.try_it.click()
    cards = driver.window.library.cards
    driver.until(lambda: cards and next(iter(cards.values())).state.text() == "Ready")
    assert next(iter(cards.values())).title.text() == "handbook"
    driver.window.menus._open_handbook()
    driver.until(lambda: driver.window.page.sheet.picture is not None)


def test_several_books_are_asked_with_ctrl(driver: Driver) -> None:
    driver.add("metals.pdf")
    driver.add("birds.pdf")
    cards = list(driver.window.library.cards.values())
    keys = [card.key for card in cards]
    left, ctrl = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier
    driver.qtbot.mouseClick(cards[0], left)
    assert driver.window.session.conversation.scope == (keys[0],)
    driver.qtbot.mouseClick(cards[1], left, ctrl)
    assert driver.window.session.conversation.scope == tuple(keys)
    assert all(card._selected for card in cards)
    driver.qtbot.keyClick(cards[0], Qt.Key.Key_Return, ctrl)
    assert driver.window.session.conversation.scope == (keys[1],)
    driver.qtbot.mouseClick(cards[1], left, ctrl)
    assert driver.window.session.conversation.scope == ()
    assert driver.window.library.all_books.isChecked()
