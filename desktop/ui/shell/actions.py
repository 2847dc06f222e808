"""What the commands of the menus do, said in terms of the window's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtWidgets import QApplication

from desktop.ui.shell.menus import Commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.paths import Paths
    from desktop.ui.conversation.session import Session
    from desktop.ui.shell.main_window import MainWindow

ZOOM_STEP = 1.2


class Actions(QObject):
    """The commands."""

    def __init__(self, window: MainWindow, paths: Paths) -> None:
        super().__init__(window)
        self._window = window
        self._paths = paths

    def commands(self) -> Commands:
        """Return them for the menus."""
        window, host = self._window, self._window.host
        return Commands(
            add_books=window.importer.choose_books,
            add_folder=window.importer.choose_folder,
            new_collection=window.library.collections.create_from_selection,
            undo=lambda: window.notifications.undo(),
            copy=self._copy,
            find=self._find,
            find_next=lambda: host.pane.find_bar.go_on(),
            find_previous=lambda: host.pane.find_bar.go_back(),
            new=self._with_session(lambda session: session.new()),
            stop=self._escape,
            regenerate=self._with_session(lambda session: session.regenerate()),
            focus=window.conversation.composer.focus,
            zoom_in=lambda: host.pane.zoom_by(ZOOM_STEP),
            zoom_out=lambda: host.pane.zoom_by(1 / ZOOM_STEP),
            fit=lambda: host.pane.fit_width(),
            next_page=lambda: host.pane.turn(1),
            previous_page=lambda: host.pane.turn(-1),
            toggle_library=window.show_library,
            toggle_page=host.show_pane,
            choose_theme=self._choose_theme,
            models=self._with_session(lambda session: session.open_models()),
            toggle_ahead=lambda on: window.preferences.change(reads_ahead=on),
            choose_room=self._choose_room,
            data_folder=self._open_folder,
            handbook=self._open_handbook,
            about=self._show_about,
        )

    def _with_session(self, do: Callable[[Session], None]) -> Callable[[], None]:
        def command() -> None:
            if self._window.session is not None:
                do(self._window.session)

        return command

    def _choose_theme(self, name: str) -> None:
        self._window.theme.choose(name)
        self._window.preferences.change(theme=name)

    def _choose_room(self, room: int | None) -> None:
        self._window.preferences.change(reading_ahead_bytes=room)
        self._window.preferences.save()  # the workers read it there

    def _find(self) -> None:
        self._window.host.show_pane(True)
        self._window.host.pane.open_find()

    def _escape(self) -> None:
        if self._window.host.in_find():
            self._window.host.pane.find_bar.shut()
        else:
            self._window.conversation.composer.stop_wanted.emit()

    def _copy(self) -> None:
        if not self._window.host.copy():
            copy = getattr(QApplication.focusWidget(), "copy", None)
            if copy is not None:
                copy()

    def _open_folder(self) -> None:
        from PySide6.QtGui import QDesktopServices

        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._paths.data)))

    def _open_handbook(self) -> None:
        file = self._window.importer.handbook()
        if file is None:
            return
        book_list = self._window.book_list
        known = [e for e in book_list.entries.values() if e.file == file and e.book is not None]
        if known:
            self._window.host.open_book(known[0].key)
        else:
            book_list.add(file)

    def _show_about(self) -> None:
        from desktop.ui.shell.about import about_dialog

        about_dialog(self._paths, self._window).show()
