"""The menus: every command of the window, with its name, its key and what it does.

Most of them call one method of one of the panes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QApplication

from desktop.ui.formatting import size, tr
from desktop.ui.theme import THEMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QMainWindow, QMenu

    from desktop.paths import Paths
    from desktop.ui.conversation.conversation_pane import ConversationPane
    from desktop.ui.library.library_pane import LibraryPane
    from desktop.ui.preferences import Preferences
    from desktop.ui.reader.page_host import PageHost
    from desktop.ui.shell.importer import Importer
    from desktop.ui.shell.notifications import Notifications
    from desktop.ui.theme import Theme

Key = QKeySequence.StandardKey
ZOOM_STEP = 1.2
DISK_LIMITS = (2 * 1000**3, 5 * 1000**3, 10 * 1000**3, 20 * 1000**3, 50 * 1000**3)
"""Bytes of the disk that can be chosen for stored prefills."""


class Menus:
    """The menu bar of a window.

    Args:
        window: Gets the menu bar.
        paths: The folders that are opened or named.
    """

    def __init__(
        self,
        window: QMainWindow,
        paths: Paths,
        *,
        theme: Theme,
        preferences: Preferences,
        importer: Importer,
        notifications: Notifications,
        library: LibraryPane,
        conversation: ConversationPane,
        page_host: PageHost,
    ) -> None:
        self._window = window
        self._paths = paths
        self._theme = theme
        self._preferences = preferences
        self._importer = importer
        self._notifications = notifications
        self._library_pane = library
        self._conversation_pane = conversation
        self._page_host = page_host
        self._file()
        self._edit()
        self._conversation()
        self._view()
        self._tools()
        self._help()

    def _add(
        self,
        menu: QMenu,
        text: str,
        do: Callable[[], object],
        key: Key | str | list[str] | None = None,
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

    def _toggle(self, menu: QMenu, text: str, do: Callable[[bool], object], key: str) -> QAction:
        action = QAction(text, self._window)
        action.setCheckable(True)
        action.setShortcut(QKeySequence(key))
        action.toggled.connect(do)
        menu.addAction(action)
        return action

    def _file(self) -> None:
        menu, importer = self._menu(tr("&File")), self._importer
        self._add(menu, tr("&Add books…"), importer.choose_books, Key.Open)
        self._add(menu, tr("Add &folder…"), importer.choose_folder, "Ctrl+Shift+O")
        text = tr("New &collection from selection…")
        create = self._library_pane.collections.create_from_selection
        self._add(menu, text, create, "Ctrl+Shift+N")
        menu.addSeparator()
        leave = self._add(menu, tr("&Quit"), self._window.close, "Ctrl+Q")
        leave.setMenuRole(QAction.MenuRole.QuitRole)

    def _edit(self) -> None:
        menu, host = self._menu(tr("&Edit")), self._page_host
        self.undo = self._add(menu, tr("&Undo remove"), self._notifications.undo, Key.Undo)
        self.undo.setEnabled(False)
        menu.addSeparator()
        self._add(menu, tr("&Copy"), self._copy, Key.Copy)
        menu.addSeparator()
        self._add(menu, tr("&Find in book"), self._find, Key.Find)
        self._add(menu, tr("Find &next"), lambda: host.pane.find_bar.find_next(), "F3")
        self._add(
            menu, tr("Find &previous"), lambda: host.pane.find_bar.find_previous(), "Shift+F3"
        )

    def _conversation(self) -> None:
        menu, pane = self._menu(tr("&Conversation")), self._conversation_pane
        self._add(menu, tr("&New"), pane.new_wanted.emit, Key.New)
        self._add(menu, tr("Focus the &question"), pane.composer.focus, "Ctrl+L")
        menu.addSeparator()
        self.stop = self._add(menu, tr("&Stop"), self._stop, "Esc")
        self.regenerate = self._add(menu, tr("&Regenerate"), pane.regenerate_wanted.emit, "Ctrl+R")
        self.stop.setEnabled(False)

    def _view(self) -> None:
        menu, host = self._menu(tr("&View")), self._page_host
        zoom_in, zoom_out = ["Ctrl++", "Ctrl+="], Key.ZoomOut
        self._add(menu, tr("Zoom &in"), lambda: host.pane.zoom_by(ZOOM_STEP), zoom_in)
        self._add(menu, tr("Zoom &out"), lambda: host.pane.zoom_by(1 / ZOOM_STEP), zoom_out)
        self._add(menu, tr("&Fit width"), lambda: host.pane.fit_width(), "Ctrl+0")
        menu.addSeparator()
        self._add(menu, tr("&Next page"), lambda: host.pane.turn(1), "Ctrl+PgDown")
        self._add(menu, tr("&Previous page"), lambda: host.pane.turn(-1), "Ctrl+PgUp")
        menu.addSeparator()
        self._themes(menu.addMenu(tr("&Theme")))
        menu.addSeparator()
        self.library = self._toggle(menu, tr("Show the &library"), self._show_library, "Ctrl+B")
        self.page = self._toggle(menu, tr("Show the p&age"), host.show_pane, "Ctrl+P")

    def _themes(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        names = {"system": tr("As the &system"), "light": tr("&Light"), "dark": tr("&Dark")}
        for name in THEMES:
            action = menu.addAction(names[name])
            action.setCheckable(True)
            action.setChecked(name == self._theme.choice)
            group.addAction(action)
            action.triggered.connect(lambda _=False, name=name: self._choose_theme(name))

    def _tools(self) -> None:
        menu = self._menu(tr("&Tools"))
        self._add(menu, tr("&Models…"), self._conversation_pane.composer.models_wanted.emit)
        self._prefill(menu.addMenu(tr("&Reading ahead")))
        self._add(menu, tr("Open &data folder"), self._open_data_folder)

    def _prefill(self, menu: QMenu) -> None:
        """Add the switch of background prefill, and the limit on its disk space."""
        preferences = self._preferences
        self.background_prefill = menu.addAction(tr("&Read ahead while I am away"))
        self.background_prefill.setCheckable(True)
        self.background_prefill.setChecked(preferences.settings.reads_ahead)
        self.background_prefill.toggled.connect(lambda on: preferences.change(reads_ahead=on))
        menu.addSection(tr("Room on the disk"))
        group = QActionGroup(menu)
        automatic = tr("&Automatic: at most a tenth of what is free, or 8 GB")
        for limit in (None, *DISK_LIMITS):
            action = menu.addAction(size(limit) if limit else automatic)
            action.setCheckable(True)
            action.setChecked(limit == preferences.settings.reading_ahead_bytes)
            group.addAction(action)
            action.triggered.connect(lambda _=False, limit=limit: self._set_disk_limit(limit))

    def _help(self) -> None:
        menu = self._menu(tr("&Help"))
        self._add(menu, tr("&Handbook"), self._open_handbook, Key.HelpContents)
        about = self._add(menu, tr("&About Lutrin"), self._show_about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    # What the commands do where it is more than one call

    def _copy(self) -> None:
        if not self._page_host.copy():
            copy = getattr(QApplication.focusWidget(), "copy", None)
            if copy is not None:
                copy()

    def _find(self) -> None:
        self._page_host.show_pane(True)
        self._page_host.pane.open_find()

    def _stop(self) -> None:
        if self._page_host.find_has_focus():
            self._page_host.pane.find_bar.dismiss()
        else:
            self._conversation_pane.composer.stop_wanted.emit()

    def _show_library(self, shown: bool) -> None:
        self._library_pane.setVisible(shown)
        self._preferences.change(show_library=shown)

    def _choose_theme(self, name: str) -> None:
        self._theme.choose(name)
        self._preferences.change(theme=name)

    def _set_disk_limit(self, limit: int | None) -> None:
        self._preferences.change(reading_ahead_bytes=limit)
        self._preferences.save()  # the workers read it there

    def _open_data_folder(self) -> None:
        from PySide6.QtGui import QDesktopServices

        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._paths.data)))

    def _open_handbook(self) -> None:
        file = self._importer.handbook()
        if file is not None and not self._page_host.open_file(file):
            self._importer.add_handbook()

    def _show_about(self) -> None:
        from desktop.ui.shell.about import about_dialog

        about_dialog(self._paths, self._window).show()
