"""The menus: every command of the window, with its key, in one place.

Owns names, keys and order. What a command does is the window's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from desktop.ui.formatting import size, tr
from desktop.ui.theme import THEMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QMainWindow, QMenu

    from desktop.settings import Settings

    Do = Callable[[], object]

Key = QKeySequence.StandardKey
ROOMS = (2 * 1000**3, 5 * 1000**3, 10 * 1000**3, 20 * 1000**3, 50 * 1000**3)
"""Bytes of the disk that can be chosen for what is read ahead."""


@dataclass(frozen=True)
class Commands:
    """What the commands do."""

    add_books: Do
    add_folder: Do
    new_collection: Do
    undo: Do
    copy: Do
    find: Do
    find_next: Do
    find_previous: Do
    new: Do
    stop: Do
    regenerate: Do
    focus: Do
    zoom_in: Do
    zoom_out: Do
    fit: Do
    next_page: Do
    previous_page: Do
    toggle_library: Callable[[bool], object]
    toggle_page: Callable[[bool], object]
    choose_theme: Callable[[str], object]
    models: Do
    toggle_ahead: Callable[[bool], object]
    choose_room: Callable[[int | None], object]
    data_folder: Do
    handbook: Do
    about: Do


class Menus:
    """The menu bar of a window."""

    def __init__(
        self, window: QMainWindow, commands: Commands, *, theme: str, settings: Settings
    ) -> None:
        self._window = window
        self._commands = commands
        self._file()
        self._edit()
        self._conversation()
        self._view(theme)
        self._tools(settings)

    def _add(
        self, menu: QMenu, text: str, do: Do, key: Key | str | list[str] | None = None
    ) -> QAction:
        action = QAction(text, self._window)
        if isinstance(key, list):
            action.setShortcuts([QKeySequence(one) for one in key])
        elif isinstance(key, str):
            action.setShortcut(QKeySequence(key))
        elif key is not None:
            action.setShortcuts(key)
        action.triggered.connect(lambda: do())
        menu.addAction(action)
        return action

    def _menu(self, title: str) -> QMenu:
        return self._window.menuBar().addMenu(title)

    def _file(self) -> None:
        menu, do = self._menu(tr("&File")), self._commands
        self._add(menu, tr("&Add books…"), do.add_books, Key.Open)
        self._add(menu, tr("Add &folder…"), do.add_folder, "Ctrl+Shift+O")
        text = tr("New &collection from selection…")
        self._add(menu, text, do.new_collection, "Ctrl+Shift+N")
        menu.addSeparator()
        leave = self._add(menu, tr("&Quit"), self._window.close, "Ctrl+Q")
        leave.setMenuRole(QAction.MenuRole.QuitRole)

    def _edit(self) -> None:
        menu, do = self._menu(tr("&Edit")), self._commands
        self.undo = self._add(menu, tr("&Undo remove"), do.undo, Key.Undo)
        self.undo.setEnabled(False)
        menu.addSeparator()
        self._add(menu, tr("&Copy"), do.copy, Key.Copy)
        menu.addSeparator()
        self._add(menu, tr("&Find in book"), do.find, Key.Find)
        self._add(menu, tr("Find &next"), do.find_next, "F3")
        self._add(menu, tr("Find &previous"), do.find_previous, "Shift+F3")

    def _conversation(self) -> None:
        menu, do = self._menu(tr("&Conversation")), self._commands
        self._add(menu, tr("&New"), do.new, Key.New)
        self._add(menu, tr("Focus the &question"), do.focus, "Ctrl+L")
        menu.addSeparator()
        self.stop = self._add(menu, tr("&Stop"), do.stop, "Esc")
        self.regenerate = self._add(menu, tr("&Regenerate"), do.regenerate, "Ctrl+R")
        self.stop.setEnabled(False)

    def _view(self, theme: str) -> None:
        menu, do = self._menu(tr("&View")), self._commands
        self._add(menu, tr("Zoom &in"), do.zoom_in, ["Ctrl++", "Ctrl+="])
        self._add(menu, tr("Zoom &out"), do.zoom_out, Key.ZoomOut)
        self._add(menu, tr("&Fit width"), do.fit, "Ctrl+0")
        menu.addSeparator()
        self._add(menu, tr("&Next page"), do.next_page, "Ctrl+PgDown")
        self._add(menu, tr("&Previous page"), do.previous_page, "Ctrl+PgUp")
        menu.addSeparator()
        self._themes(menu.addMenu(tr("&Theme")), theme)
        menu.addSeparator()
        self.library = self._toggle(menu, tr("Show the &library"), do.toggle_library, "Ctrl+B")
        self.page = self._toggle(menu, tr("Show the p&age"), do.toggle_page, "Ctrl+P")

    def _themes(self, menu: QMenu, chosen: str) -> None:
        group = QActionGroup(menu)
        names = {"system": tr("As the &system"), "light": tr("&Light"), "dark": tr("&Dark")}
        for name in THEMES:
            action = menu.addAction(names[name])
            action.setCheckable(True)
            action.setChecked(name == chosen)
            group.addAction(action)
            action.triggered.connect(lambda _=False, name=name: self._commands.choose_theme(name))

    def _toggle(self, menu: QMenu, text: str, do: Callable[[bool], object], key: str) -> QAction:
        action = QAction(text, self._window)
        action.setCheckable(True)
        action.setShortcut(QKeySequence(key))
        action.toggled.connect(do)
        menu.addAction(action)
        return action

    def _ahead(self, menu: QMenu, settings: Settings) -> None:
        """Add what concerns reading ahead: whether it begins by itself, and its room."""
        self.ahead = menu.addAction(tr("&Read ahead while I am away"))
        self.ahead.setCheckable(True)
        self.ahead.setChecked(settings.reads_ahead)
        self.ahead.toggled.connect(self._commands.toggle_ahead)
        menu.addSection(tr("Room on the disk"))
        group = QActionGroup(menu)
        for room in (None, *ROOMS):
            text = (
                size(room) if room else tr("&Automatic: at most a tenth of what is free, or 8 GB")
            )
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(room == settings.reading_ahead_bytes)
            group.addAction(action)
            action.triggered.connect(lambda _=False, room=room: self._commands.choose_room(room))

    def _tools(self, settings: Settings) -> None:
        do = self._commands
        tools = self._menu(tr("&Tools"))
        self._add(tools, tr("&Models…"), do.models)
        self._ahead(tools.addMenu(tr("&Reading ahead")), settings)
        self._add(tools, tr("Open &data folder"), do.data_folder)
        helping = self._menu(tr("&Help"))
        self._add(helping, tr("&Handbook"), do.handbook, Key.HelpContents)
        about = self._add(helping, tr("&About Lutrin"), do.about)
        about.setMenuRole(QAction.MenuRole.AboutRole)
