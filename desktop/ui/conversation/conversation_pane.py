"""The middle pane: which conversation, its messages or what to do first, the composer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.buttons import PANE_HEAD_HEIGHT, tool_button
from desktop.ui.conversation.composer import Composer
from desktop.ui.conversation.conversation_view import ConversationView
from desktop.ui.formatting import tr
from desktop.ui.library.welcome import Welcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.conversations import Conversation
    from desktop.ui.icons import Icons
    from desktop.ui.models.model_list import ModelList
    from desktop.ui.models.models_page import ModelsPage
    from desktop.ui.theme import Theme


class ConversationPane(QWidget):
    """The conversation pane."""

    new_wanted = Signal()
    conversation_chosen = Signal(int)
    remove_wanted = Signal(int)
    regenerate_wanted = Signal()
    """The last question is to be answered anew."""

    def __init__(
        self,
        *,
        theme: Theme,
        icons: Icons,
        model_list: ModelList,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._icons = icons
        self._model_list = model_list
        self.setMinimumWidth(355)
        self.choice = QComboBox()
        self.welcome = Welcome()
        self.view = ConversationView(theme=theme, icons=icons, model_title=model_list.title)
        self.first_run: ModelsPage | None = None
        self.all_models: ModelsPage | None = None
        self.composer = Composer(icons)
        self.stack = QStackedWidget()
        self._start_page = QWidget()
        self._start = QVBoxLayout(self._start_page)
        self._start.setContentsMargins(0, 0, 0, 0)
        self._start.setSpacing(0)
        self._start.addWidget(self.welcome, 2)
        for page in (self._start_page, self.view):
            self.stack.addWidget(page)
        self._build()

    def set_conversations(self, all_of_them: Sequence[Conversation], current: int) -> None:
        """List the conversations."""
        self.choice.blockSignals(True)
        self.choice.clear()
        for conversation in all_of_them:
            title = conversation.title or tr("New conversation")
            self.choice.addItem(title, conversation.id)
        self.choice.setCurrentIndex(self.choice.findData(current))
        self.choice.blockSignals(False)

    def show_conversation(self) -> None:
        """Show the messages."""
        self._show(self.view)

    def show_start(self, *, book: bool, model: bool) -> None:
        """Show what is to be done first: get a book, choose a model, or both."""
        if model and self.first_run is None:
            self.first_run = self._models_page(all_models=False)
            self._start.addWidget(self.first_run, 3)
        self.welcome.setVisible(book)
        if self.first_run is not None:
            self.first_run.setVisible(model)
        self._show(self._start_page)

    def show_models(
        self,
        *,
        use: Callable[[str], object],
        closed: Callable[[], object],
        used: str | None,
    ) -> None:
        """Show all models.

        Args:
            use: Called with the name of the model that is to answer.
            closed: Called when the user is done.
            used: The model that answers now.
        """
        if self.all_models is None:
            self.all_models = self._models_page(all_models=True)
            self.all_models.use_wanted.connect(use)
            self.all_models.closed.connect(closed)
            self.stack.addWidget(self.all_models)
        self.all_models.set_used(used)
        self._show(self.all_models)

    def showing_models(self) -> bool:
        """Whether all models are listed."""
        return self.all_models is not None and self.stack.currentWidget() is self.all_models

    def _models_page(self, *, all_models: bool) -> ModelsPage:
        from desktop.ui.models.models_page import ModelsPage  # most starts never show it

        return ModelsPage(self._model_list, all_models=all_models)

    def _show(self, page: QWidget) -> None:
        self.stack.setCurrentWidget(page)
        self.composer.setVisible(page is self.view)

    def _build(self) -> None:
        head = QFrame()
        head.setObjectName("pane-head")
        head.setFixedHeight(PANE_HEAD_HEIGHT)
        row = QHBoxLayout(head)
        row.setContentsMargins(14, 0, 8, 0)
        row.setSpacing(4)
        self.choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.choice.setMinimumContentsLength(12)
        self.choice.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.choice.setAccessibleName(tr("Conversation"))
        self.choice.activated.connect(self._choose)
        row.addWidget(self.choice, 1)
        new = tool_button(
            self._icons,
            "new-chat",
            tr("New conversation (Ctrl+N)"),
            clicked=self.new_wanted.emit,
        )
        row.addWidget(new)
        remove = tool_button(
            self._icons, "trash", tr("Delete this conversation"), clicked=self._remove
        )
        row.addWidget(remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self.stack, 1)
        column.addWidget(self.composer)

    def _choose(self, index: int) -> None:
        number = self.choice.itemData(index)
        # After the popup is closed: showing a long conversation takes a moment.
        QTimer.singleShot(0, self, lambda: self.conversation_chosen.emit(number))

    def _remove(self) -> None:
        number = self.choice.currentData()
        if number is not None:
            self.remove_wanted.emit(number)
