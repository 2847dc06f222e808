"""What begins after the first paint: the conversations are opened and shown.

Apart from the window, so that its first paint pays for none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.conversations import Conversations
from desktop.core.errors import UserFacingError
from desktop.ui.asking import Asker
from desktop.ui.part_choice import PartChoice
from desktop.ui.session import Session

if TYPE_CHECKING:
    from desktop.paths import Paths
    from desktop.ui.main_window import MainWindow


def _open(window: MainWindow, paths: Paths) -> Conversations:
    """Open the conversations; damaged ones are set aside, so that the window still works."""
    try:
        return Conversations(paths.conversations)
    except UserFacingError as error:
        aside = paths.conversations.with_suffix(".broken")
        paths.conversations.replace(aside)
        window.telling.say(
            f"{error.what}. They were set aside as {aside.name}; here is an empty list."
        )
        return Conversations(paths.conversations)


def begin_session(window: MainWindow, paths: Paths) -> Session:
    """Open the conversations and tie them to the window's middle pane."""
    conversations = _open(window, paths)
    conversations.mark_interrupted()
    asker = Asker(window.workers, conversations, window)
    asker.save_failed.connect(window.telling.say)
    session = Session(
        conversations=conversations,
        asker=asker,
        shelf=window.shelf,
        store=window.store,
        pane=window.conversation,
        preferences=window.preferences,
        had_books=paths.catalog.exists(),
        parent=window,
    )
    window.library.scope_chosen.connect(session.set_scope)
    session.scope_changed.connect(window.library.set_scope)
    session.busy_changed.connect(window.menus.stop.setEnabled)
    window.telling.follow_removals(session)
    window.library.set_scope(session.conversation.scope)
    PartChoice(session, window.conversation, window.shelf, window.workers)
    return session
