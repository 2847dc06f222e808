"""The second half of start-up, which runs once the window has been painted for the first time.

Draws the icons, opens the conversations and connects them to the window's panes, and loads books
and models, whose first requests start the workers. The window must not import this module: its
first paint would wait for what is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from desktop.core.conversations import Conversations
from desktop.core.errors import UserFacingError
from desktop.ui.conversation.part_choice import PartChoice
from desktop.ui.conversation.question_runner import QuestionRunner
from desktop.ui.conversation.session import Session
from desktop.ui.formatting import size, tr
from desktop.ui.icons import draw
from desktop.ui.library.background_prefill import BackgroundPrefill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PySide6.QtWidgets import QMenu

    from desktop.paths import Paths
    from desktop.ui.reader.page_location import PageLocation
    from desktop.ui.shell.main_window import MainWindow


STEP_MS = 15


def start(window: MainWindow, paths: Paths, files: Sequence[Path] = ()) -> None:
    """Start what the first paint did not need, in short steps, so that the window stays responsive.

    Args:
        window: Just painted for the first time.
        paths: The folders it works on.
        files: Books and models to add.
    """
    window.icons.refresh()
    window.setWindowIcon(draw("lutrin", None))
    window.session = _start_session(window, paths)

    def add_files() -> None:
        window.importer.add_paths(files)

    # Starting a process takes some 20 ms; what the user does comes in between.
    for turn, step in enumerate((window.book_list.load, window.model_list.load, add_files), 1):
        QTimer.singleShot(turn * STEP_MS, window, step)


def _open_conversations(window: MainWindow, paths: Paths) -> Conversations:
    """Open the conversations; damaged ones are set aside, so that the window still works."""
    try:
        return Conversations(paths.conversations)
    except UserFacingError as error:
        aside = paths.conversations.with_suffix(".broken")
        paths.conversations.replace(aside)
        window.notifications.notify(
            f"{error.what}. They were set aside as {aside.name}; here is an empty list."
        )
        return Conversations(paths.conversations)


def _start_session(window: MainWindow, paths: Paths) -> Session:
    """Open the conversations and connect them to the window's panes."""
    conversations = _open_conversations(window, paths)
    conversations.mark_interrupted()
    question_runner = QuestionRunner(window.workers, conversations, window)
    question_runner.save_failed.connect(window.notifications.notify)
    session = Session(
        conversations=conversations,
        question_runner=question_runner,
        book_list=window.book_list,
        model_list=window.model_list,
        pane=window.conversation,
        preferences=window.preferences,
        had_books=paths.catalog.exists(),
        parent=window,
    )
    window.library.scope_chosen.connect(session.set_scope)
    session.scope_changed.connect(window.library.set_scope)
    session.busy_changed.connect(window.menus.stop.setEnabled)
    window.notifications.follow_removals(session)
    window.notifications.model_chosen.connect(session.use_model)
    window.library.set_scope(session.conversation.scope)
    PartChoice(session, window.conversation, window.book_list, window.workers)
    _start_background_prefill(window, session, question_runner)
    return session


def _start_background_prefill(
    window: MainWindow, session: Session, question_runner: QuestionRunner
) -> None:
    """Prefill books in the background, and add the commands for it to their menus."""

    def shown() -> PageLocation | None:
        return window.page.location if window.host.shown else None

    def books_in_use() -> list[tuple[str, list[int]]]:
        last = window.conversation.view.last()
        answer = last.answer if last is not None else None
        location = shown()
        pages: dict[str, list[int]] = {location.book: [location.page]} if location else {}
        for item in answer.context if answer else ():
            pages.setdefault(item.book, []).append(item.page)
        for book in session.conversation.scope:
            pages.setdefault(book, [])
        return list(pages.items())

    def activity() -> object:
        return (
            window.conversation.composer.box.toPlainText(),
            shown(),
            question_runner.running is None,
        )

    prefill = BackgroundPrefill(
        window.workers,
        window.book_list,
        window.preferences,
        model=session.model,
        books_in_use=books_in_use,
        activity=activity,
        parent=session,
    )
    prefill.noticed.connect(window.notifications.notify)

    def add_commands(key: str, menu: QMenu) -> None:
        entry = window.book_list.entries[key]
        if prefill.book == key:
            menu.addAction(tr("Stop reading ahead")).triggered.connect(lambda: prefill.stop(key))
        elif entry.askable and not (entry.prefill and entry.prefill.complete):
            near = dict(books_in_use()).get(key, [])
            start = menu.addAction(tr("Read ahead now, so that answers start at once"))
            start.triggered.connect(lambda: prefill.start(key, near))
        if entry.prefill is not None:
            text = tr("Delete what was read ahead ({size})").format(size=size(entry.prefill.bytes))
            menu.addAction(text).triggered.connect(lambda: prefill.forget(key))

    window.library.menu_opened.connect(add_commands)
