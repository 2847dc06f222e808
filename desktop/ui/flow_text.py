"""A read-only text that is exactly as tall as what is in it, so that the page around scrolls.

Its height is fixed by itself and not asked for by layouts: when one text of a conversation
grows by a line, no other is laid out again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

if TYPE_CHECKING:
    from collections.abc import Iterator

Feature = QTextDocument.MarkdownFeature


class FlowText(QTextBrowser):
    """The text. A clicked link only emits `anchorClicked`; nothing is opened or loaded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(20)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.setFixedHeight(self.fontMetrics().lineSpacing())
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def append_text(self, text: str) -> None:
        """Add to the end, wherever the reader's own cursor is."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text)

    def set_markdown(self, text: str) -> None:
        """Show Markdown; HTML in it is shown as text."""
        self.document().setMarkdown(text, Feature.MarkdownDialectGitHub | Feature.MarkdownNoHTML)

    def style_links(self, prefix: str, *, back: QColor, front: QColor) -> None:
        """Show the links that start with `prefix` as small chips."""
        style = QTextCharFormat()
        style.setBackground(back)
        style.setForeground(front)
        style.setFontUnderline(False)
        style.setFontWeight(QFont.Weight.DemiBold)
        cursor = QTextCursor(self.document())
        for start, end in list(self._links(prefix)):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(style)

    def allow_tab(self, *, links: bool) -> None:
        """Let Tab come here, for the links."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if links else Qt.FocusPolicy.ClickFocus)

    def _links(self, prefix: str) -> Iterator[tuple[int, int]]:
        block = self.document().begin()
        while block.isValid():
            # its iterator is its own items; the stubs don't know
            for piece in block:  # type: ignore[attr-defined]
                fragment = piece.fragment()
                if fragment.charFormat().anchorHref().startswith(prefix):
                    yield fragment.position(), fragment.position() + fragment.length()
            block = block.next()

    def _fit(self, size: QSizeF) -> None:
        height = max(self.fontMetrics().lineSpacing(), math.ceil(size.height()))
        if height != self.height():
            self.setFixedHeight(height)

    # Qt overrides

    def loadResource(self, _kind: int, _url: QUrl | str) -> Any:
        """Load nothing: an answer must not make the window read files."""
        return None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the scroll area around."""
        event.ignore()
