"""Where a question is written: the box, the mode, the part of the book, and the model.

Emits a signal for each wish of the user. Knows nothing of how it is carried out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.core.records import Mode
from desktop.ui.buttons import label, restyle, tool_button
from desktop.ui.conversation.answer_text import mode_name
from desktop.ui.conversation.conversation_view import READING_WIDTH
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFocusEvent, QKeyEvent

    from desktop.ui.icons import Icons

LINES = (2, 7)


class QuestionBox(QPlainTextEdit):
    """The box: Enter sends, Shift+Enter starts a new line; it grows with what is in it."""

    sent = Signal()
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(tr("Your question"))
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._fit()

    def _fit(self) -> None:
        lines = min(max(LINES[0], round(self.document().size().height())), LINES[1])
        margins = 2 * int(self.document().documentMargin())
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + margins + 2)

    # Qt overrides

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Enter."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.sent.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Emit that it has the focus."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Emit that it has lost the focus."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


class Composer(QWidget):
    """The box, its buttons, and the line under it that explains the mode."""

    question_sent = Signal(str, object)
    """The question and its `Mode`."""
    stop_wanted = Signal()
    mode_changed = Signal(object)
    model_chosen = Signal(str)
    models_wanted = Signal()
    part_wanted = Signal()
    """The user wants to choose what of the book is asked."""
    activated = Signal()
    """The user has begun to write a question, or put the cursor into the box."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons = icons
        self._busy = False
        self._why_not = ""
        self.box = QuestionBox()
        self.send = tool_button(icons, "send", tr("Ask (Enter)"), clicked=self._press)
        self.send.setProperty("primary", True)
        self.part = tool_button(
            icons, "book", tr("Choose chapters to keep to"), clicked=self.part_wanted.emit
        )
        self._estimate = ""
        self.model = QToolButton()
        self.hint = label(name="muted", scale=0.92, wrap=True)
        self.modes: dict[Mode, QToolButton] = {}
        self._frame = QFrame()
        self._build()
        self.box.sent.connect(self._send)
        self.box.textChanged.connect(self._on_text)
        self.box.focus_changed.connect(self._on_focus)
        self.set_mode(Mode.RETRIEVAL)
        self.set_ready("")
        self.set_busy(False)

    @property
    def mode(self) -> Mode:
        """How the question is to be answered."""
        return next((m for m, b in self.modes.items() if b.isChecked()), Mode.RETRIEVAL)

    def set_mode(self, mode: Mode) -> None:
        """Choose how the question is to be answered."""
        button = self.modes[mode]
        (button if button.isEnabled() else self.modes[Mode.RETRIEVAL]).setChecked(True)
        self._show_hint()

    def set_busy(self, busy: bool) -> None:
        """Turn the send button into a stop button and back."""
        self._busy = busy
        tip = tr("Stop (Esc)") if busy else tr("Ask (Enter)")
        self._icons.put(self.send, "stop" if busy else "send", color="on_accent")
        self.send.setToolTip(tip)
        self.send.setAccessibleName(tip)
        self._refresh()

    def set_ready(self, why_not: str) -> None:
        """Allow asking, or say why nothing can be asked yet; empty to allow."""
        self._why_not = why_not
        self.box.setPlaceholderText(why_not or tr("Ask something about your book"))
        self.box.viewport().update()  # Qt 6.12 keeps the old text on the screen otherwise
        self._refresh()

    def set_models(self, models: Sequence[tuple[str, str]], current: str) -> None:
        """Offer the models: pairs of name and title."""
        menu = self.model.menu()
        menu.clear()
        for name, title in models:
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setChecked(title == current)
            action.triggered.connect(lambda _=False, name=name: self.model_chosen.emit(name))
        if models:
            menu.addSeparator()
        menu.addAction(tr("Models…")).triggered.connect(lambda: self.models_wanted.emit())
        room = self.fontMetrics().averageCharWidth() * 22
        text = current or tr("No model yet")
        self.model.setText(self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room))
        self.model.setToolTip(tr("Answered by {model}").format(model=text))

    def show_part(self, name: str, *, chosen: bool) -> None:
        """Show what of the book is asked.

        Args:
            name: What it is called; empty where nothing can be chosen.
            chosen: Whether it is less than the whole.
        """
        room = self.fontMetrics().averageCharWidth() * 26
        self.part.setText(self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room))
        self.part.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        tip = tr("Asked: {part}. Choose chapters to keep to").format(part=name)
        self.part.setToolTip(tip)
        self.part.setAccessibleName(tip)
        self.part.setVisible(bool(name))
        restyle(self.part, "chosen", chosen)

    def show_estimate(self, text: str) -> None:
        """Show what a long context takes; empty where that is not known."""
        self._estimate = text
        self._show_hint()

    def focus(self) -> None:
        """Put the cursor into the box."""
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _build(self) -> None:
        self._frame.setObjectName("composer")
        inner = QVBoxLayout(self._frame)
        inner.setContentsMargins(8, 6, 6, 6)
        inner.setSpacing(4)
        inner.addWidget(self.box)
        inner.addLayout(self._mode_row())
        self.model.setMinimumWidth(56)
        self.model.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.model.setMenu(QMenu(self.model))
        self.model.setAutoRaise(True)
        self.model.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.model.setAccessibleName(tr("Model"))
        foot = QHBoxLayout()
        foot.setSpacing(4)
        foot.addWidget(self.part)
        foot.addStretch(1)
        foot.addWidget(self.model)
        self.show_part("", chosen=False)
        middle = QWidget()
        middle.setMaximumWidth(READING_WIDTH)
        column = QVBoxLayout(middle)
        column.setContentsMargins(16, 4, 16, 8)
        column.setSpacing(4)
        column.addWidget(self._frame)
        column.addWidget(self.hint)
        column.addLayout(foot)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(1)
        outer.addWidget(middle, 1000)
        outer.addStretch(1)
        self.set_models([], "")

    def _mode_row(self) -> QHBoxLayout:
        tips = {
            Mode.RETRIEVAL: tr("Finds the passages that matter and answers from them"),
            Mode.LONG_CONTEXT: tr(
                "Reads a whole book or chapter where it fits, else the pages around the best "
                "finds, and says which were left out"
            ),
            Mode.ADAPTER: tr("Not in this version yet: a model trained on this book"),
        }
        row = QHBoxLayout()
        row.setSpacing(2)
        group = QButtonGroup(self)
        for mode, tip in tips.items():
            button = tool_button(self._icons, "", tip)
            button.setText(mode_name(mode))
            button.setCheckable(True)
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            group.addButton(button)
            row.addWidget(button)
            self.modes[mode] = button
        self.modes[Mode.ADAPTER].setEnabled(False)
        group.buttonToggled.connect(self._on_mode)
        row.addStretch(1)
        row.addWidget(self.send)
        return row

    def _on_mode(self, _button: object, chosen: bool) -> None:
        if chosen:
            self._show_hint()
            self.mode_changed.emit(self.mode)

    def _show_hint(self) -> None:
        texts = {
            Mode.RETRIEVAL: tr("Answers from the passages that matter."),
            Mode.LONG_CONTEXT: self._estimate
            or tr("Reads a whole book or chapter where it fits, else pages around the finds."),
        }
        usual = texts.get(self.mode, "")
        # The box shows why nothing can be asked only while it is empty.
        waiting = self._why_not if not self.box.document().isEmpty() else ""
        self.hint.setText(waiting or usual)

    def _on_focus(self, focused: bool) -> None:
        restyle(self._frame, "active", focused)
        if focused:
            self.activated.emit()

    def _on_text(self) -> None:
        self._refresh()
        if not self.box.document().isEmpty():
            self.activated.emit()

    def _press(self) -> None:
        if self._busy:
            self.stop_wanted.emit()
        else:
            self._send()

    def _send(self) -> None:
        question = self.box.toPlainText().strip()
        if question and not self._busy and not self._why_not:
            self.box.clear()
            self.question_sent.emit(question, self.mode)

    def _refresh(self) -> None:
        asked = bool(self.box.toPlainText().strip())
        self.send.setEnabled(self._busy or (asked and not self._why_not))
        self._show_hint()
