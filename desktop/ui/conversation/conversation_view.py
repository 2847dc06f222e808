"""The scrolling list of questions and answers of one conversation.

Builds a few exchanges at a time, newest first, so that a long conversation never blocks the
window. Knows nothing of workers or storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop.ui.buttons import label, push_button

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.conversations import Message
    from desktop.core.records import Progress
    from desktop.ui.conversation.exchange import ExchangeView
    from desktop.ui.icons import Icons
    from desktop.ui.theme import Theme

READING_WIDTH = 820
"""Longer lines are hard to read."""
AT_ONCE = 30
"""Exchanges shown before "Show earlier questions" is pressed."""
NEAR_END = 60


class ConversationView(QScrollArea):
    """The list of exchanges."""

    source_wanted = Signal(object)
    regenerate_wanted = Signal(object)
    mode_wanted = Signal(object, object)
    map_reduce_wanted = Signal(object)
    limit_removed = Signal(object, str)

    def __init__(
        self,
        *,
        theme: Theme,
        icons: Icons,
        model_title: Callable[[str], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icons = icons
        self._model_title = model_title
        self.views: dict[int, ExchangeView] = {}
        self._waiting: list[Message] = []
        self._earlier: list[Message] = []
        self._following = True
        self.setObjectName("plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Conversation"))
        self._more = push_button(self.tr("Show earlier questions"), clicked=self._show_earlier)
        self._more.hide()
        self._hint = label(
            self.tr(
                "Ask a question. The answer shows which sentences of the book it rests on; "
                "click a number to see the place on its page."
            ),
            name="muted",
            wrap=True,
        )
        self._column = self._build()
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._follow)
        bar.sliderMoved.connect(lambda _: self._note_place())
        bar.actionTriggered.connect(lambda _: QTimer.singleShot(0, self._note_place))
        theme.changed.connect(self._recolour)

    def _build(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(24)
        column.addWidget(self._more)
        column.addStretch(1)
        inside = QWidget()
        inside.setObjectName("plain")
        middle = QWidget()
        middle.setObjectName("plain")
        middle.setMaximumWidth(READING_WIDTH)
        middle.setLayout(column)
        row = QHBoxLayout(inside)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(middle, 1000)
        row.addStretch(1)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.insertWidget(1, self._hint)
        self.setWidget(inside)
        return column

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Show a conversation from its end."""
        for view in self.views.values():
            self._column.removeWidget(view)
            view.hide()
            view.deleteLater()
        self.views = {}
        self._following = True
        self._earlier, self._waiting = list(messages[:-AT_ONCE]), list(messages[-AT_ONCE:])
        self._more.setVisible(bool(self._earlier))
        self._hint.setVisible(not messages)
        self._build_some()

    def show_message(self, message: Message) -> ExchangeView:
        """Show a message that is new or has changed; scroll there if it is new."""
        view = self.views.get(message.id)
        if view is not None:
            view.show_message(message)
            return view
        self._following = True
        return self._insert(message, self._column.count() - 1)

    def start(self, message: Message, started: float, stage: Progress) -> None:
        """Show that a message is being answered."""
        self.show_message(message).start(started, stage)

    def show_stage(self, message: int, stage: Progress) -> None:
        """Show the stage of a message that is being answered."""
        if message in self.views:
            self.views[message].stage.show_stage(stage)

    def append(self, message: int, text: str) -> None:
        """Add to an answer that is being written."""
        if message in self.views:
            self.views[message].append(text)

    def last(self) -> Message | None:
        """Return the newest message."""
        if not self.views:
            return self._waiting[-1] if self._waiting else None
        return self.views[max(self.views)].message

    def refresh(self, message: Message) -> None:
        """Show a message that has changed, if it is one of this conversation."""
        if message.id in self.views:
            self.views[message.id].show_message(message)

    def _insert(self, message: Message, at: int) -> ExchangeView:
        from desktop.ui.conversation.exchange import (
            ExchangeView,  # 20 ms that the first paint doesn't need
        )

        view = ExchangeView(
            message, theme=self._theme, icons=self._icons, model_title=self._model_title
        )
        self._hint.hide()
        view.source_wanted.connect(self.source_wanted)
        view.regenerate_wanted.connect(self.regenerate_wanted)
        view.mode_wanted.connect(self.mode_wanted)
        view.map_reduce_wanted.connect(self.map_reduce_wanted)
        view.limit_removed.connect(self.limit_removed)
        self.views[message.id] = view
        self._column.insertWidget(at, view)
        return view

    def _build_some(self) -> None:
        for _ in range(2):
            if self._waiting:
                message = self._waiting.pop()
                if message.id not in self.views:
                    self._insert(message, 1)
        if self._waiting:
            QTimer.singleShot(0, self._build_some)

    def _show_earlier(self) -> None:
        self._following = False
        self._waiting += self._earlier[-AT_ONCE:]
        self._earlier = self._earlier[:-AT_ONCE]
        self._more.setVisible(bool(self._earlier))
        self._build_some()

    def _note_place(self) -> None:
        bar = self.verticalScrollBar()
        self._following = bar.value() >= bar.maximum() - NEAR_END

    def _follow(self, _low: int, high: int) -> None:
        if self._following:
            self.verticalScrollBar().setValue(high)

    def _recolour(self) -> None:
        for view in self.views.values():
            view.show_theme()
