from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from desktop.ui.library.name_dialog import NameDialog

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.ui.library.collection_rows import CollectionRow
    from tests.ui.conftest import Driver

LEFT, CTRL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier


class Shelved:
    """A window with three books, and what a user does with collections there."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.keys = [driver.add(f"{name}.pdf") for name in ("metals", "birds", "stones")]

    @property
    def rows(self) -> dict[str, CollectionRow]:
        return self.driver.window.library.collections.rows

    @property
    def scope(self) -> tuple[str, ...]:
        assert self.driver.window.session is not None
        return self.driver.window.session.conversation.scope

    @property
    def checked(self) -> list[str]:
        return [name for name, row in self.rows.items() if row.isChecked()]

    def select(self, *numbers: int) -> None:
        cards = self.driver.window.library.cards
        self.driver.window.library.all_books.click()
        for number in numbers:
            self.driver.qtbot.mouseClick(cards[self.keys[number]], LEFT, CTRL)

    def dialog(self) -> NameDialog:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        (dialog,) = self.driver.window.findChildren(NameDialog)
        assert dialog.isVisible()
        return dialog

    def give(self, name: str) -> None:
        """Write a name into the dialog and press Enter."""
        dialog = self.dialog()
        dialog.field.setText(name)
        self.driver.qtbot.keyClick(dialog.field, Qt.Key.Key_Return)

    def make(self, name: str, *numbers: int) -> None:
        self.select(*numbers)
        self.driver.window.library.collections.create_from_selection()
        self.give(name)
        self.driver.until(lambda: name in self.rows)

    def menu(self, number: int) -> dict[str, QAction]:
        """Open a book's menu; the actions by their texts, those below a › too."""
        card = self.driver.window.library.cards[self.keys[number]]
        card._menu(card.mapToGlobal(card.rect().center()))
        (menu,) = (m for m in card.findChildren(QMenu) if m.isVisible())
        found = {}
        for action in menu.actions():
            below = action.menu()
            if isinstance(below, QMenu):
                found.update({f"{action.text()} › {a.text()}": a for a in below.actions()})
            found[action.text()] = action
        menu.hide()
        return found


@pytest.fixture
def shelved(driver: Driver) -> Shelved:
    return Shelved(driver)


def test_made_of_the_selection_chosen_and_kept(
    shelved: Shelved, opened: Callable[[], Driver]
) -> None:
    driver = shelved.driver
    assert not driver.window.library.collections.isVisible()
    shelved.select(0, 2)
    menu = driver.window.menuBar().actions()[0].menu()
    assert isinstance(menu, QMenu)
    (new,) = (a for a in menu.actions() if a.text() == "New &collection from selection…")
    new.trigger()
    assert shelved.dialog().about.text() == "A collection of “metals”, “stones”"
    shelved.give("Exam")
    driver.until(lambda: shelved.checked == ["Exam"])
    driver.until(lambda: not driver.window.findChildren(NameDialog))
    row = shelved.rows["Exam"]
    assert row.isVisible()
    assert row.text() == "Exam · 2"
    assert row.accessibleName() == "Collection Exam, 2 books"
    driver.window.library.all_books.click()
    assert (shelved.scope, shelved.checked) == ((), [])
    driver.qtbot.mouseClick(row, LEFT)
    assert set(shelved.scope) == {shelved.keys[0], shelved.keys[2]}
    cards = driver.window.library.cards
    assert [cards[key]._selected for key in shelved.keys] == [True, False, True]
    assert not driver.window.library.all_books.isChecked()
    answer = driver.ask("which?").answer
    assert answer is not None
    driver.qtbot.mouseClick(row, LEFT)  # a second time changes nothing
    assert shelved.checked == ["Exam"]
    driver.window.close()
    again = opened()
    again.until(lambda: "Exam" in again.window.library.collections.rows)
    assert again.window.library.collections.rows["Exam"].isChecked()


def test_chosen_by_keyboard(shelved: Shelved) -> None:
    shelved.make("Exam", 0, 1)
    row = shelved.rows["Exam"]
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        shelved.driver.window.library.all_books.click()
        shelved.driver.qtbot.keyClick(row, key)
        assert set(shelved.scope) == set(shelved.keys[:2])
        assert row.isChecked()
    assert row.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_a_book_taken_from_the_scope_unmarks_the_collection(shelved: Shelved) -> None:
    shelved.make("Exam", 0, 1)
    card = shelved.driver.window.library.cards[shelved.keys[0]]
    shelved.driver.qtbot.mouseClick(card, LEFT, CTRL)
    assert (shelved.scope, shelved.checked) == ((shelved.keys[1],), [])
    shelved.driver.qtbot.mouseClick(card, LEFT, CTRL)
    assert shelved.checked == ["Exam"]


@pytest.mark.parametrize(("name", "says"), [("  ", "needs a name"), ("EXAM", "one already")])
def test_an_empty_or_taken_name_is_refused_in_its_place(
    shelved: Shelved, name: str, says: str
) -> None:
    shelved.make("Exam", 0, 1)
    shelved.select(2)
    shelved.driver.window.library.collections.create_from_selection()
    dialog = shelved.dialog()
    shelved.give(name)
    shelved.driver.until(lambda: dialog.wrong.isVisible() and says in dialog.wrong.text())
    assert list(shelved.rows) == ["Exam"]
    shelved.give("Other")
    shelved.driver.until(lambda: list(shelved.rows) == ["Exam", "Other"])


def test_cancelled_while_the_librarian_thinks(shelved: Shelved) -> None:
    shelved.select(0)
    shelved.driver.window.library.collections.create_from_selection()
    dialog = shelved.dialog()
    dialog.field.setText("Exam")
    dialog.button.click()
    dialog.reject()
    shelved.driver.until(lambda: "Exam" in shelved.rows)


def test_without_a_selection_it_says_how_to_make_one(shelved: Shelved) -> None:
    shelved.driver.window.library.all_books.click()
    (new,) = (
        action
        for action in shelved.driver.window.findChildren(QAction)
        if action.text() == "New &collection from selection…"
    )
    new.trigger()
    assert "Choose the books of the collection first" in shelved.driver.window.notices.text.text()
    assert not shelved.driver.window.findChildren(NameDialog)


def test_renamed_with_f2(shelved: Shelved) -> None:
    shelved.make("Exam", 0, 1)
    shelved.driver.qtbot.keyClick(shelved.rows["Exam"], Qt.Key.Key_F2)
    assert shelved.dialog().field.text() == "Exam"
    shelved.give("Exam in June")
    shelved.driver.until(lambda: shelved.checked == ["Exam in June"])


def test_deletion_can_be_undone(shelved: Shelved) -> None:
    shelved.make("Exam", 0, 1)
    window = shelved.driver.window
    shelved.driver.qtbot.keyClick(shelved.rows["Exam"], Qt.Key.Key_Delete)
    shelved.driver.until(lambda: not shelved.rows)
    assert not window.library.collections.isVisible()
    assert set(shelved.scope) == set(shelved.keys[:2])  # the books are still asked
    assert window.notices.text.text() == "Removed “Exam”"
    window.menus.undo.trigger()
    shelved.driver.until(lambda: shelved.checked == ["Exam"])
    assert not window.menus.undo.isEnabled()


def test_the_last_removal_of_any_kind_is_undone(shelved: Shelved) -> None:
    shelved.make("Exam", 0, 1)
    window, session = shelved.driver.window, shelved.driver.window.session
    shelved.driver.ask("first?")
    session.remove(session.conversation.id)
    window.collections.remove("Exam")
    window.book_list.remove(shelved.keys[2])
    assert window.notices.text.text() == "Removed “stones”"
    session.settle_removal()
    assert window.menus.undo.isEnabled()
    window.notices.button.click()
    assert shelved.keys[2] in window.book_list.entries
    assert not window.menus.undo.isEnabled()
    shelved.driver.until(lambda: not shelved.rows)


def test_a_book_goes_in_and_out_by_its_menu(shelved: Shelved) -> None:
    shelved.make("R&D", 0, 1)
    actions = shelved.menu(2)
    within = actions["In collections › R&&D"]
    assert within.isCheckable()
    assert not within.isChecked()
    within.trigger()
    # The collection that is asked goes on being asked as a whole.
    shelved.driver.until(lambda: set(shelved.scope) == set(shelved.keys))
    assert shelved.rows["R&D"].text() == "R&&D · 3"
    assert shelved.checked == ["R&D"]
    within = shelved.menu(0)["In collections › R&&D"]
    assert within.isChecked()
    within.trigger()
    shelved.driver.until(lambda: set(shelved.scope) == set(shelved.keys[1:]))
    assert shelved.rows["R&D"].text() == "R&&D · 2"


def test_made_by_the_menu_of_a_book(shelved: Shelved) -> None:
    shelved.select(0, 1)
    shelved.menu(1)["New collection from selection…"].trigger()
    shelved.give("Two")
    shelved.driver.until(lambda: shelved.checked == ["Two"])
    shelved.menu(2)["New collection with this book…"].trigger()
    shelved.give("One")
    shelved.driver.until(lambda: "One" in shelved.rows)
    assert shelved.rows["One"].books == (shelved.keys[2],)
    assert shelved.checked == ["Two"]


def test_a_removed_book_comes_back_into_its_collections(shelved: Shelved) -> None:
    shelved.make("Exam", 0, 1)
    window = shelved.driver.window
    window.book_list.remove(shelved.keys[0])
    assert shelved.rows["Exam"].text() == "Exam · 1"
    assert (shelved.scope, shelved.checked) == ((shelved.keys[1],), ["Exam"])
    window.menus.undo.trigger()
    shelved.driver.until(lambda: shelved.rows["Exam"].text() == "Exam · 2")
    assert shelved.checked == ["Exam"]


def test_an_empty_collection_does_not_ask_all_books(shelved: Shelved) -> None:
    shelved.make("Exam", 0)
    shelved.menu(0)["In collections › Exam"].trigger()
    shelved.driver.until(lambda: shelved.rows["Exam"].text() == "Exam · 0")
    shelved.select(1)
    shelved.driver.qtbot.mouseClick(shelved.rows["Exam"], LEFT)
    assert (shelved.scope, shelved.checked) == ((shelved.keys[1],), [])
    assert "“Exam” has no books yet" in shelved.driver.window.notices.text.text()


def test_what_fails_is_told(shelved: Shelved) -> None:
    shelved.make("Exam", 0)
    window = shelved.driver.window
    window.collections._request("delete_collection", {"name": "Nowhere"})
    shelved.driver.until(lambda: "It is not there" in window.notices.text.text())


def test_a_long_name_is_cut_to_the_pane(shelved: Shelved) -> None:
    name = "All the books that are asked about in the examination of June"
    shelved.make(name, 0, 1)
    row, pane = shelved.rows[name], shelved.driver.window.library
    assert row.text().endswith("… · 2")
    assert row.width() <= pane.width()
    assert row.toolTip().splitlines() == [name, "metals", "birds"]
    assert name in row.accessibleName()
