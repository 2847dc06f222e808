"""The dialog that limits questions to chapters and sections, with an estimate for reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.buttons import label, push_button
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.answering.modes.budget import Part

SIZE = (520, 560)
WAIT_MS = 200
_PART = Qt.ItemDataRole.UserRole


class PartsDialog(QDialog):
    """The dialog.

    Args:
        book: The book's title.
        parts: What can be chosen, in reading order.
        chosen: Paths of the sections that are chosen; none for the whole book.
        estimate: Called with the paths of sections, and with what is to be called with the
            estimate in words.
    """

    chosen = Signal(object)
    """The list of `Part` that was chosen; empty for the whole book."""

    def __init__(
        self,
        book: str,
        parts: Sequence[Part],
        *,
        chosen: Sequence[str],
        estimate: Callable[[Sequence[str] | None, Callable[[str], object]], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._estimate = estimate
        self._asked = 0
        self._rows: list[QTreeWidgetItem] = []
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("What to ask"))
        self.resize(*SIZE)
        self.tree = QTreeWidget()
        self.estimate_text = label(name="muted", wrap=True)
        self.use = push_button(tr("Keep to these"), clicked=self._use, primary=True)
        self._build(book)
        self._fill(parts, set(chosen))
        self._wait = QTimer(self, interval=WAIT_MS, singleShot=True)
        self._wait.timeout.connect(self._request_estimate)
        self.tree.itemChanged.connect(lambda *_: self._on_change())
        self._on_change()

    def _build(self, book: str) -> None:
        self.tree.setHeaderLabels([tr("Part"), tr("Pages")])
        self.tree.setAccessibleName(tr("Parts of the book"))
        self.tree.setUniformRowHeights(True)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.estimate_text.setMinimumHeight(2 * self.fontMetrics().lineSpacing() + 4)
        self.estimate_text.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(10)
        text = tr("Answers keep to the parts of “{book}” that are ticked.").format(book=book)
        column.addWidget(label(text, wrap=True))
        column.addWidget(self.tree, 1)
        column.addWidget(self.estimate_text)
        row = QHBoxLayout()
        row.addWidget(push_button(tr("Whole book"), clicked=self._use_all))
        row.addStretch(1)
        row.addWidget(push_button(tr("Cancel"), clicked=self.reject))
        row.addWidget(self.use)
        column.addLayout(row)
        self.use.setDefault(True)

    def _fill(self, parts: Sequence[Part], chosen: set[str]) -> None:
        above: list[QTreeWidgetItem] = []
        for part in parts:
            item = QTreeWidgetItem([part.label, "\u2013".join(map(str, dict.fromkeys(part.pages)))])
            item.setData(0, _PART, part)
            item.setToolTip(0, part.label)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsAutoTristate)
            del above[part.level :]
            if above:
                above[-1].addChild(item)
            else:
                self.tree.addTopLevelItem(item)
            above.append(item)
            self._rows.append(item)
        for item in self._rows:
            if not item.childCount():  # those above follow
                sections = item.data(0, _PART).sections
                ticked = bool(sections) and chosen.issuperset(sections)
                item.setCheckState(0, Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
        for item in self._ticked_rows()[:1]:
            self.tree.scrollToItem(item)
            self.tree.setCurrentItem(item)

    def _ticked_rows(self) -> list[QTreeWidgetItem]:
        def is_ticked(item: QTreeWidgetItem | None) -> bool:
            return item is not None and item.checkState(0) is Qt.CheckState.Checked

        return [item for item in self._rows if is_ticked(item) and not is_ticked(item.parent())]

    def ticked(self) -> list[Part]:
        """Return the highest entries that are ticked whole."""
        return [item.data(0, _PART) for item in self._ticked_rows()]

    def _on_change(self) -> None:
        self.use.setEnabled(bool(self.ticked()))
        self._wait.start()

    def _request_estimate(self) -> None:
        self._asked += 1
        number = self._asked
        found = self.ticked()

        def say(text: str) -> None:
            if shiboken6.isValid(self) and number == self._asked:
                whole = "" if found else tr("Whole book") + ": "
                self.estimate_text.setText(whole + text)

        self._estimate([s for part in found for s in part.sections] or None, say)

    def _use(self) -> None:
        self.chosen.emit(self.ticked())
        self.accept()

    def _use_all(self) -> None:
        self.chosen.emit([])
        self.accept()
