"""What begins after the first paint: the conversations are opened and shown.

Apart from the window, so that its first paint pays for none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.conversations import Conversations
from desktop.core.errors import UserFacingError
from desktop.ui.conversation.part_choice import PartChoice
from desktop.ui.conversation.question_runner import QuestionRunner
from desktop.ui.conversation.session import Session
from desktop.ui.formatting import size, tr
from desktop.ui.library.background_prefill import BackgroundPrefill

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from desktop.paths import Paths
    from desktop.ui.reader.page_location import PageLocation
    from desktop.ui.shell.main_window import MainWindow


def _open(window: MainWindow, paths: Paths) -> Conversations:
    """Open the conversations; damaged ones are set aside, so that the window still works."""
    try:
        return Conversations(paths.conversations)
    except UserFacingError as error:
        aside = paths.conversations.with_suffix(".broken")
        paths.conversations.replace(aside)
        window.notifications.say(
            f"{error.what}. They were set aside as {aside.name}; here is an empty list."
        )
        return Conversations(paths.conversations)


def start_session(window: MainWindow, paths: Paths) -> Session:
    """Open the conversations and tie them to the window's middle pane."""
    conversations = _open(window, paths)
    conversations.mark_interrupted()
    question_runner = QuestionRunner(window.workers, conversations, window)
    question_runner.save_failed.connect(window.notifications.say)
    session = Session(
        conversations=conversations,
        question_runner=question_runner,
        book_list=window.book_list,
        store=window.store,
        pane=window.conversation,
        preferences=window.preferences,
        had_books=paths.catalog.exists(),
        parent=window,
    )
    window.library.scope_chosen.connect(session.set_scope)
    session.scope_changed.connect(window.library.set_scope)
    session.busy_changed.connect(window.menus.stop.setEnabled)
    window.notifications.follow_removals(session)
    window.library.set_scope(session.conversation.scope)
    PartChoice(session, window.conversation, window.book_list, window.workers)
    window.background_prefill = _begin_reading_ahead(window, session, question_runner)
    return session


def _begin_reading_ahead(
    window: MainWindow, session: Session, question_runner: QuestionRunner
) -> BackgroundPrefill:
    """Let books be read ahead, and put what can be done about it into their menus."""

    def shown() -> PageLocation | None:
        return window.page.location if window.host.shown else None

    def in_use() -> list[tuple[str, list[int]]]:
        last = window.conversation.view.last()
        answer = last.answer if last is not None else None
        location = shown()
        pages: dict[str, list[int]] = {location.book: [location.page]} if location else {}
        for item in answer.context if answer else ():
            pages.setdefault(item.book, []).append(item.page)
        for book in session.conversation.scope:
            pages.setdefault(book, [])
        return list(pages.items())

    def touched() -> object:
        return (
            window.conversation.composer.box.toPlainText(),
            shown(),
            question_runner.running is None,
        )

    reading = BackgroundPrefill(
        window.workers,
        window.book_list,
        window.preferences,
        model=session.model,
        wanted=in_use,
        touched=touched,
        parent=session,
    )
    reading.noticed.connect(window.notifications.say)

    def fill(key: str, menu: QMenu) -> None:
        entry = window.book_list.entries[key]
        if reading.book == key:
            menu.addAction(tr("Stop reading ahead")).triggered.connect(lambda: reading.stop(key))
        elif entry.askable and not (entry.ahead and entry.ahead.complete):
            near = dict(in_use()).get(key, [])
            start = menu.addAction(tr("Read ahead now, so that answers start at once"))
            start.triggered.connect(lambda: reading.start(key, near))
        if entry.ahead is not None:
            text = tr("Delete what was read ahead ({size})").format(size=size(entry.ahead.bytes))
            menu.addAction(text).triggered.connect(lambda: reading.forget(key))

    window.library.menu_opened.connect(fill)
    return reading
