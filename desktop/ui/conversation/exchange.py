"""One question with its answer, as it is shown in the conversation.

Shows a `Message`, grows while the answer is written, and emits a signal for what is clicked. Knows
nothing of workers, storage or pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from desktop.core.conversations import Message, MessageState
from desktop.core.records import Mode
from desktop.ui.buttons import label, push_button, tool_button
from desktop.ui.conversation import answer_text
from desktop.ui.conversation.status_line import StatusLine
from desktop.ui.flow_text import FlowText

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.core.records import Answer, Progress
    from desktop.ui.icons import Icons
    from desktop.ui.theme import Theme

INSET = 12


class ExchangeView(QWidget):
    """A question and its answer.

    Args:
        message: What to show.
        model_title: From a model's name to what it is called.
    """

    source_wanted = Signal(object)
    """A `Citation` or a `ContextItem` whose page is to be shown."""
    regenerate_wanted = Signal(object)
    """The `Message` to answer anew, in its place."""
    mode_wanted = Signal(object, object)
    """The `Message` and the `Mode` to ask it in."""
    map_reduce_wanted = Signal(object)
    """The `Message` to answer anew by map-reduce over all that is in its scope."""
    limit_removed = Signal(object, str)
    """The `Message` to answer anew without one of its limits, and that limit's key."""

    def __init__(
        self,
        message: Message,
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
        self.message = message
        self._question = FlowText()
        self.limits = FlowText()
        self.stage = StatusLine()
        self.answer = FlowText()
        self.sources = FlowText()
        self._error_box: QFrame | None = None
        self._footer: QWidget | None = None
        self._details: FlowText | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self._bubble())
        for part in (self.limits, self.stage, self.answer, self.sources):
            self._column.addWidget(part)
        self.limits.anchorClicked.connect(self._remove_limit)
        self.limits.setAccessibleName(self.tr("Where it was looked"))
        self.answer.anchorClicked.connect(self._follow)
        self.sources.anchorClicked.connect(self._follow)
        self.answer.setAccessibleName(self.tr("Answer"))
        self.sources.setAccessibleName(self.tr("Sources"))
        self.show_message(message)

    def show_message(self, message: Message) -> None:
        """Show a message as it is now."""
        self.message = message
        self._question.setPlainText(message.question)
        self._clear_below()
        writing = message.state is MessageState.WRITING
        if not writing:
            self.stage.stop()
        self.sources.setVisible(False)
        self._show_limits(message.answer)
        if message.answer is not None:
            self._show_answer(message.answer)
        else:
            self.answer.setPlainText(message.partial)
            self.answer.setVisible(bool(message.partial))
        if message.state in (MessageState.INTERRUPTED, MessageState.FAILED):
            self._show_error(message)
        elif not writing:
            self._show_footer(message)

    def start(self, started: float, stage: Progress) -> None:
        """Show that it is being worked on."""
        self.stage.show_stage(stage)
        self.stage.start(started)

    def append(self, text: str) -> None:
        """Add what was written."""
        if not self.answer.isVisible():
            self.answer.setVisible(True)
        self.answer.append_text(text)

    def show_theme(self) -> None:
        """Apply the colours of the theme, after a change."""
        if self.message.state is not MessageState.WRITING:
            self.show_message(self.message)

    def _bubble(self) -> QWidget:
        bubble = QFrame()
        bubble.setObjectName("bubble")
        inner = QVBoxLayout(bubble)
        inner.setContentsMargins(INSET, 8, INSET, 8)
        inner.addWidget(self._question)
        self._question.setAccessibleName(self.tr("Question"))
        return bubble

    def _show_answer(self, answer: Answer) -> None:
        css = self._theme.css
        titles = len({item.book for item in answer.context}) > 1
        if answer.abstained:
            self.answer.set_markdown(answer.answer or self.tr("The book does not say."))
            html = answer_text.nearest(answer, css, titles=titles)
            shown = bool(html)
        else:
            self.answer.set_markdown(answer_text.with_links(answer))
            self.answer.style_links(
                answer_text.CITE,
                back=self._theme.color("chip"),
                front=self._theme.color("chip_text"),
            )
            html = answer_text.sources(answer.citations, css, titles=titles)
            # A list from the book's structure is its own list of sources.
            shown = bool(answer.citations and answer.model)
        self.sources.setHtml(html)
        self.answer.setVisible(True)
        self.sources.setVisible(shown)
        self.answer.allow_tab(links=bool(answer.citations) and not answer.abstained)
        self.sources.allow_tab(links=shown)

    def _show_limits(self, answer: Answer | None) -> None:
        """Show the filters found in the question itself, as chips that can be removed."""
        shown = answer is not None and bool(answer.limits)
        self.limits.setVisible(shown)
        self.limits.allow_tab(links=shown)
        if answer is not None and shown:
            self.limits.set_markdown(answer_text.limits(answer.limits))
            self.limits.style_links(
                answer_text.LIMIT,
                back=self._theme.color("chip"),
                front=self._theme.color("chip_text"),
            )

    def _remove_limit(self, url: QUrl) -> None:
        self.limit_removed.emit(self.message, url.toString().removeprefix(answer_text.LIMIT))

    def _show_error(self, message: Message) -> None:
        box = QFrame()
        box.setObjectName("box")
        row = QHBoxLayout(box)
        row.setContentsMargins(INSET, 8, INSET, 8)
        text = FlowText()
        text.setPlainText(
            message.error or self.tr("This answer was interrupted before it was finished.")
        )
        row.addWidget(text, 1)
        row.addWidget(
            push_button(
                self.tr("Ask again"),
                clicked=lambda: self.regenerate_wanted.emit(self.message),
                primary=True,
            )
        )
        self._error_box = box
        self._column.addWidget(box)

    def _show_footer(self, message: Message) -> None:
        footer = QWidget()
        row = QHBoxLayout(footer)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        add = row.addWidget
        icons = self._icons
        add(tool_button(icons, "copy", self.tr("Copy the answer"), clicked=self._copy))
        again = self.tr("Answer again (Ctrl+R for the last one)")
        add(
            tool_button(
                icons,
                "regenerate",
                again,
                clicked=lambda: self.regenerate_wanted.emit(self.message),
            )
        )
        other = Mode.LONG_CONTEXT if message.mode is Mode.RETRIEVAL else Mode.RETRIEVAL
        text = self.tr("Ask again in {mode}").format(mode=answer_text.mode_name(other))
        if other is Mode.LONG_CONTEXT and message.answer is not None and message.answer.context:
            text = self.tr("Ask again by reading the chapter")
        switch = tool_button(
            icons, "", text, clicked=lambda: self.mode_wanted.emit(self.message, other)
        )
        switch.setText(text)
        add(switch)
        if message.answer is not None and message.answer.left_out:
            through = tool_button(
                icons,
                "",
                self.tr(
                    "Reads a few pages at a time and takes notes: long, but nothing is left out"
                ),
                clicked=lambda: self.map_reduce_wanted.emit(self.message),
            )
            through.setText(self.tr("Read it through"))
            add(through)
        row.addStretch(1)
        if message.state is MessageState.STOPPED:
            add(self._badge())
        if message.answer is not None:
            add(self._details_button())
        self._footer = footer
        self._column.addWidget(footer)

    def _badge(self) -> QLabel:
        return label(self.tr("Stopped"), name="muted")

    def _details_button(self) -> QToolButton:
        button = tool_button(self._icons, "", self.tr("How this was answered"))
        button.setText(self.tr("Details"))
        button.setCheckable(True)
        button.toggled.connect(self._show_details)
        return button

    def _show_details(self, shown: bool) -> None:
        answer = self.message.answer
        if self._details is None and answer is not None:
            self._details = FlowText()
            self._details.setTextColor(self._theme.color("muted"))
            title = self._model_title(answer.model)
            self._details.setPlainText(answer_text.details(answer, title))
            self._column.addWidget(self._details)
        if self._details is not None:
            self._details.setVisible(shown)

    def _clear_below(self) -> None:
        for part in (self._error_box, self._footer, self._details):
            if part is not None:
                self._column.removeWidget(part)
                part.hide()
                part.deleteLater()
        self._error_box = self._footer = self._details = None

    def _copy(self) -> None:
        answer = self.message.answer
        text = answer_text.plain(answer) if answer else self.message.partial
        QGuiApplication.clipboard().setText(text)

    def _follow(self, url: QUrl) -> None:
        kind, _, number = url.toString().partition(":")
        answer = self.message.answer
        if answer is None or not number.isdigit():
            return
        if kind == "cite":
            found = [c for c in answer.citations if c.marker == int(number)]
            if found:
                self.source_wanted.emit(found[0])
        elif int(number) < len(answer.context):
            self.source_wanted.emit(answer.context[int(number)])
