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


class LibraryDriver:
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
def library(driver: Driver) -> LibraryDriver:
    return LibraryDriver(driver)


def test_made_of_the_selection_chosen_and_kept(
    library: LibraryDriver, opened: Callable[[], Driver]
) -> None:
    driver = library.driver
    assert not driver.window.library.collections.isVisible()
    library.select(0, 2)
    menu = driver.window.menuBar().actions()[0].menu()
    assert isinstance(menu, QMenu)
    (new,) = (a for a in menu.actions() if a.text() == "New &collection from selection…")
    new.trigger()
    assert library.dialog().about.text() == "A collection of “metals”, “stones”"
    library.give("Exam")
    driver.until(lambda: library.checked == ["Exam"])
    driver.until(lambda: not driver.window.findChildren(NameDialog))
    row = library.rows["Exam"]
    assert row.isVisible()
    assert row.text() == "Exam · 2"
    assert row.accessibleName() == "Collection Exam, 2 books"
    driver.window.library.all_books.click()
    assert (library.scope, library.checked) == ((), [])
    driver.qtbot.mouseClick(row, LEFT)
    assert set(library.scope) == {library.keys[0], library.keys[2]}
    cards = driver.window.library.cards
    assert [cards[key]._selected for key in library.keys] == [True, False, True]
    assert not driver.window.library.all_books.isChecked()
    answer = driver.ask("which?").answer
    assert answer is not None
    driver.qtbot.mouseClick(row, LEFT)  # a second time changes nothing
    assert library.checked == ["Exam"]
    driver.window.close()
    again = opened()
    again.until(lambda: "Exam" in again.window.library.collections.rows)
    assert again.window.library.collections.rows["Exam"].isChecked()


def test_chosen_by_keyboard(library: LibraryDriver) -> None:
    library.make("Exam", 0, 1)
    row = library.rows["Exam"]
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        library.driver.window.library.all_books.click()
        library.driver.qtbot.keyClick(row, key)
        assert set(library.scope) == set(library.keys[:2])
        assert row.isChecked()
    assert row.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_a_book_taken_from_the_scope_unmarks_the_collection(library: LibraryDriver) -> None:
    library.make("Exam", 0, 1)
    card = library.driver.window.library.cards[library.keys[0]]
    library.driver.qtbot.mouseClick(card, LEFT, CTRL)
    assert (library.scope, library.checked) == ((library.keys[1],), [])
    library.driver.qtbot.mouseClick(card, LEFT, CTRL)
    assert library.checked == ["Exam"]


@pytest.mark.parametrize(("name", "says"), [("  ", "needs a name"), ("EXAM", "one already")])
def test_an_empty_or_taken_name_is_refused_in_its_place(
    library: LibraryDriver, name: str, says: str
) -> None:
    library.make("Exam", 0, 1)
    library.select(2)
    library.driver.window.library.collections.create_from_selection()
    dialog = library.dialog()
    library.give(name)
    library.driver.until(lambda: dialog.wrong.isVisible() and says in dialog.wrong.text())
    assert list(library.rows) == ["Exam"]
    library.give("Other")
    library.driver.until(lambda: list(library.rows) == ["Exam", "Other"])


def test_cancelled_while_the_librarian_thinks(library: LibraryDriver) -> None:
    library.select(0)
    library.driver.window.library.collections.create_from_selection()
    dialog = library.dialog()
    dialog.field.setText("Exam")
    dialog.button.click()
    dialog.reject()
    library.driver.until(lambda: "Exam" in library.rows)


def test_without_a_selection_it_says_how_to_make_one(library: LibraryDriver) -> None:
    library.driver.window.library.all_books.click()
    (new,) = (
        action
        for action in library.driver.window.findChildren(QAction)
        if action.text() == "New &collection from selection…"
    )
    new.trigger()
    assert "Choose the books of the collection first" in library.driver.window.notices.text.text()
    assert not library.driver.window.findChildren(NameDialog)


def test_renamed_with_f2(library: LibraryDriver) -> None:
    library.make("Exam", 0, 1)
    library.driver.qtbot.keyClick(library.rows["Exam"], Qt.Key.Key_F2)
    assert library.dialog().field.text() == "Exam"
    library.give("Exam in June")
    library.driver.until(lambda: library.checked == ["Exam in June"])


def test_deletion_can_be_undone(library: LibraryDriver) -> None:
    library.make("Exam", 0, 1)
    window = library.driver.window
    library.driver.qtbot.keyClick(library.rows["Exam"], Qt.Key.Key_Delete)
    library.driver.until(lambda: not library.rows)
    assert not window.library.collections.isVisible()
    assert set(library.scope) == set(library.keys[:2])  # the books are still asked
    assert window.notices.text.text() == "Removed “Exam”"
    window.menus.undo.trigger()
    library.driver.until(lambda: library.checked == ["Exam"])
    assert not window.menus.undo.isEnabled()


def test_the_last_removal_of_any_kind_is_undone(library: LibraryDriver) -> None:
    library.make("Exam", 0, 1)
    window, session = library.driver.window, library.driver.window.session
    library.driver.ask("first?")
    session.remove(session.conversation.id)
    window.collections.remove("Exam")
    window.book_list.remove(library.keys[2])
    assert window.notices.text.text() == "Removed “stones”"
    session.settle_removal()
    assert window.menus.undo.isEnabled()
    window.notices.button.click()
    assert library.keys[2] in window.book_list.entries
    assert not window.menus.undo.isEnabled()
    library.driver.until(lambda: not library.rows)


def test_a_book_goes_in_and_out_by_its_menu(library: LibraryDriver) -> None:
    library.make("R&D", 0, 1)
    actions = library.menu(2)
    within = actions["In collections › R&&D"]
    assert within.isCheckable()
    assert not within.isChecked()
    within.trigger()
    # The collection that is asked goes on being asked as a whole.
    library.driver.until(lambda: set(library.scope) == set(library.keys))
    assert library.rows["R&D"].text() == "R&&D · 3"
    assert library.checked == ["R&D"]
    within = library.menu(0)["In collections › R&&D"]
    assert within.isChecked()
    within.trigger()
    library.driver.until(lambda: set(library.scope) == set(library.keys[1:]))
    assert library.rows["R&D"].text() == "R&&D · 2"


def test_made_by_the_menu_of_a_book(library: LibraryDriver) -> None:
    library.select(0, 1)
    library.menu(1)["New collection from selection…"].trigger()
    library.give("Two")
    library.driver.until(lambda: library.checked == ["Two"])
    library.menu(2)["New collection with this book…"].trigger()
    library.give("One")
    library.driver.until(lambda: "One" in library.rows)
    assert library.rows["One"].books == (library.keys[2],)
    assert library.checked == ["Two"]


def test_a_removed_book_comes_back_into_its_collections(library: LibraryDriver) -> None:
    library.make("Exam", 0, 1)
    window = library.driver.window
    window.book_list.remove(library.keys[0])
    assert library.rows["Exam"].text() == "Exam · 1"
    assert (library.scope, library.checked) == ((library.keys[1],), ["Exam"])
    window.menus.undo.trigger()
    library.driver.until(lambda: library.rows["Exam"].text() == "Exam · 2")
    assert library.checked == ["Exam"]


def test_an_empty_collection_does_not_ask_all_books(library: LibraryDriver) -> None:
    library.make("Exam", 0)
    library.menu(0)["In collections › Exam"].trigger()
    library.driver.until(lambda: library.rows["Exam"].text() == "Exam · 0")
    library.select(1)
    library.driver.qtbot.mouseClick(library.rows["Exam"], LEFT)
    assert (library.scope, library.checked) == ((library.keys[1],), [])
    assert "“Exam” has no books yet" in library.driver.window.notices.text.text()


def test_what_fails_is_told(library: LibraryDriver) -> None:
    library.make("Exam", 0)
    window = library.driver.window
    window.collections._request("delete_collection", {"name": "Nowhere"})
    library.driver.until(lambda: "It is not there" in window.notices.text.text())


def test_a_long_name_is_cut_to_the_pane(library: LibraryDriver) -> None:
    name = "All the books that are asked about in the examination of June"
    library.make(name, 0, 1)
    row, pane = library.rows[name], library.driver.window.library
    assert row.text().endswith("… · 2")
    assert row.width() <= pane.width()
    assert row.toolTip().splitlines() == [name, "metals", "birds"]
    assert name in row.accessibleName()
