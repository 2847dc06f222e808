"""The page of language models in the conversation pane: two on the first run, later all of them.

Not a dialog: the library can be used beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop.ui.buttons import label, push_button
from desktop.ui.formatting import tr
from desktop.ui.models.model_card import ModelCard

if TYPE_CHECKING:
    from desktop.ui.models.model_list import ModelList

WIDTH = 560


class ModelsPage(QScrollArea):
    """The page, with a card for each model.

    Args:
        all_models: Whether all are listed, with a way back, or only the two to begin with.
    """

    use_wanted = Signal(str)
    closed = Signal()

    def __init__(
        self, model_list: ModelList, *, all_models: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model_list = model_list
        self._all = all_models
        self._used: str | None = None
        self.cards: dict[str, ModelCard] = {}
        self.setObjectName("plain")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        inside.setObjectName("plain")
        inside.setMaximumWidth(WIDTH)
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(20, 20, 20, 20)
        self._column.setSpacing(12)
        self.setWidget(inside)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        model_list.changed.connect(self.rebuild)
        model_list.fetch_changed.connect(lambda _: self._show_states())
        self.rebuild()

    def set_used(self, name: str | None) -> None:
        """Say which model answers."""
        self._used = name
        self._show_states()

    def rebuild(self) -> None:
        """Show the models there are now."""
        while item := self._column.takeAt(0):
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.cards = {}
        self._head()
        if not self._model_list.is_loaded:
            self._column.addWidget(
                label(tr("Looking at this computer to recommend a model…"), name="muted")
            )
        for name, badge, reason in self._chosen():
            card = ModelCard(self._model_list.models[name], badge=badge, reason=reason)
            card.get_wanted.connect(self._model_list.get)
            card.cancel_wanted.connect(self._model_list.cancel)
            card.use_wanted.connect(self.use_wanted)
            card.remove_wanted.connect(self._model_list.remove)
            self.cards[name] = card
            self._column.addWidget(card)
        note = tr(
            "Or drop a model file of your own (.gguf) on the window. A model is downloaded once; "
            "after that everything stays on this computer."
        )
        self._column.addWidget(label(note, name="muted", wrap=True))
        self._column.addStretch(1)
        self._show_states()

    def _head(self) -> None:
        if self._all:
            row = QWidget()
            inner = QHBoxLayout(row)
            inner.setContentsMargins(0, 0, 0, 0)
            inner.addWidget(label(tr("Models"), scale=1.4), 1)
            inner.addWidget(push_button(tr("Done"), clicked=self.closed.emit))
            self._column.addWidget(row)
            return
        self._column.addWidget(label(tr("Choose a model"), scale=1.4))
        text = tr(
            "A model is the part that reads the passages and writes the answers, on this "
            "computer. You need one; a larger one answers better and is slower."
        )
        self._column.addWidget(label(text, wrap=True))

    def _chosen(self) -> list[tuple[str, str, str]]:
        model_list = self._model_list
        best, small = model_list.recommended, model_list.small
        if self._all:
            names = sorted(
                model_list.models, key=lambda n: (not model_list.models[n].installed, n != best)
            )
        else:
            names = [name for name in dict.fromkeys((best, small)) if name in model_list.models]
        badges = {small: tr("Small and quick"), best: tr("Recommended")}
        return [(n, badges.get(n, ""), model_list.reason if n == best else "") for n in names]

    def _show_states(self) -> None:
        used = self._used or self._model_list.default
        for name, card in self.cards.items():
            card.show_state(
                self._model_list.fetches.get(name),
                partial=self._model_list.started_before(name),
                used=name == used,
            )
