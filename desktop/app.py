"""The composition root of the window.

Start-up, in order. `run` first makes sure that there is a display, since Qt would abort without
one. Then come the application object, the settings, the colours, and the window with its three
panes, all empty; it is shown. Nothing has been started so far, and nothing heavy imported.
When the window has been painted for the first time, `desktop.ui.shell.startup` goes on: the icons
are drawn, the conversations opened and the last one shown, and the librarian and the fetcher are
started to list the books and the models. The reader is started by the first page, the answerer by
the first question, or by the cursor coming into the box for one.

On closing, the window hides at once; the text of an answer under way is kept, the settings are
written, and the workers are stopped, within about a second.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from desktop.core.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

    from desktop.paths import Paths
    from desktop.ui.shell.main_window import MainWindow


SETTLED_MS = 2000
"""By then the window stands and its workers run."""


def check_display() -> None:
    """Make sure that a window can be opened.

    Raises:
        UserFacingError: if there is no display.
    """
    if not sys.platform.startswith("linux"):
        return
    if not any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        what = "There is no display to open a window on"
        raise UserFacingError(
            what, 'Use the command line instead: lutrin ask "your question" --book FILE'
        )


def build_window(
    paths: Paths,
    app: QApplication,
    *,
    files: Sequence[Path] = (),
    kinds: dict[str, str] | None = None,
) -> MainWindow:
    """Return the window, not yet shown.

    Args:
        paths: The folders it works on.
        app: The application, whose colours it sets.
        files: Books and models to add once it is shown.
        kinds: Other workers in the place of the real ones, for tests.
    """
    from desktop.ui.bridge import connect_workers
    from desktop.ui.preferences import Preferences
    from desktop.ui.shell.main_window import MainWindow
    from desktop.ui.theme import Theme

    preferences = Preferences(paths.settings)
    theme = Theme(app, preferences.settings.theme)
    window = MainWindow(
        paths,
        workers=connect_workers(paths, None, kinds),
        theme=theme,
        preferences=preferences,
    )
    theme.apply_style_sheet()
    for helper in (theme, preferences, *window.workers.all()):
        helper.setParent(window)

    def start() -> None:
        from desktop.ui.shell import startup  # the first paint must not wait for its imports

        startup.start(window, paths, files)

    window.first_painted.connect(start)
    return window


def main() -> int:
    """Open the window on the usual library, without the command line's imports.

    Returns:
        The exit status; 1 where no window can be opened, after saying why on standard error.
    """
    from desktop import log, paths

    chosen = paths.choose()
    log.start(chosen)
    try:
        return run(chosen, ["lutrin"])
    except UserFacingError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


def run(paths: Paths, argv: list[str]) -> int:
    """Open the window and return the exit status once it is closed.

    Args:
        paths: The folders it works on.
        argv: The program's name and its arguments; files among them are added.

    Raises:
        UserFacingError: if there is no display, or the library's folder can't be written.
    """
    check_display()
    from pathlib import Path

    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    try:
        paths.create()
    except OSError as error:
        what = f"The folder {paths.data} can't be written ({error.strerror})"
        raise UserFacingError(what, "Choose another with --data-dir FOLDER") from error
    # By its argument: asking for the style object costs 20 ms.
    app = QApplication([*argv[:1], "-style", "fusion"])
    app.setApplicationName("Lutrin")
    app.setDesktopFileName("lutrin")
    window = build_window(paths, app, files=[Path(argument) for argument in argv[1:]])
    window.show()
    QTimer.singleShot(SETTLED_MS, _collect_garbage_again)
    return app.exec()


def _collect_garbage_again() -> None:
    """Starting is over; what it made is there to stay, and is not looked through again."""
    gc.freeze()
    gc.enable()
