"""The card of one language model: description, size, download, and the button to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from desktop.ui.buttons import label, push_button
from desktop.ui.formatting import download_state, percent, size, tr

if TYPE_CHECKING:
    from desktop.ui.models.model_list import Fetch, Model


class ModelCard(QFrame):
    """The card of a model.

    Args:
        model: What it shows.
        badge: A word on why it stands out, such as "Recommended".
        reason: A sentence on why it suits this computer.
    """

    get_wanted = Signal(str)
    cancel_wanted = Signal(str)
    use_wanted = Signal(str)
    remove_wanted = Signal(str)

    def __init__(
        self, model: Model, *, badge: str = "", reason: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.model = model
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.addWidget(label(model.title, scale=1.1, wrap=True), 1)
        if badge:
            head.addWidget(label(badge, name="muted"))
        column.addLayout(head)
        facts = [size(model.size_bytes)]
        if model.context:
            facts.append(tr("reads up to {n:,} tokens at once").format(n=model.context))
        column.addWidget(label(" · ".join(facts), name="muted"))
        for text in (model.description, model.note, reason):
            if text:
                column.addWidget(label(text, wrap=True))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.state = label(wrap=True)
        column.addWidget(self.bar)
        column.addWidget(self.state)
        name = model.name
        self.get = push_button(clicked=lambda: self.get_wanted.emit(name), text="", primary=True)
        self.cancel = push_button(tr("Cancel"), clicked=lambda: self.cancel_wanted.emit(name))
        self.use = push_button(tr("Use"), clicked=lambda: self.use_wanted.emit(name))
        self.remove = push_button(tr("Remove"), clicked=lambda: self.remove_wanted.emit(name))
        row = QHBoxLayout()
        row.setContentsMargins(0, 4, 0, 0)
        for button in (self.get, self.cancel, self.use, self.remove):
            button.setAccessibleDescription(model.title)
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)

    def show_state(self, fetch: Fetch | None, *, partial: bool, used: bool) -> None:
        """Show where a download is, or what can be done.

        Args:
            fetch: The download, where there is one.
            partial: Whether a part of the file is there from before.
            used: Whether it is the model that answers.
        """
        running = fetch is not None and fetch.running
        progress = fetch.progress if fetch else None
        error = fetch.error if fetch and not running else ""
        installed = self.model.installed
        self.get.setVisible(not running and not installed)
        self.cancel.setVisible(running)
        self.use.setVisible(installed and not used)
        self.remove.setVisible(installed and not running)
        self.bar.setVisible(running)
        share = percent(progress) if progress else None
        self.bar.setRange(0, 0 if running and share is None else 100)
        self.bar.setValue(share or 0)
        self.get.setText(self._offer(error, partial=partial or progress is not None))
        text = error
        if running:
            text = download_state(progress) if progress else tr("Starting the download…")
        elif installed:
            text = tr("Answers your questions") if used else tr("On this computer")
        self.state.setText(text)
        self.state.setVisible(bool(text))
        self.state.setObjectName("bad" if error else "muted")
        self.state.style().polish(self.state)

    def _offer(self, error: str, *, partial: bool) -> str:
        if error:
            return tr("Retry")
        return tr("Go on downloading") if partial else tr("Download")
