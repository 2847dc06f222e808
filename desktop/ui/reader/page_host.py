"""Builds the page pane at its first use, shows and hides it, and opens books and citations in it.

Remembers the page at which each book was left. Knows nothing of how a page is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.core.records import Citation, ContextItem
from desktop.ui.formatting import tr
from desktop.ui.reader.page_location import PageLocation

if TYPE_CHECKING:
    from PySide6.QtWidgets import QSplitter

    from desktop.ui.bridge import Bridge
    from desktop.ui.icons import Icons
    from desktop.ui.library.book_list import BookList
    from desktop.ui.reader.page_pane import PagePane
    from desktop.ui.theme import Theme


class PageHost(QObject):
    """Holds the page pane, built at its first use."""

    noticed = Signal(str)
    visibility_changed = Signal(bool)

    def __init__(
        self,
        splitter: QSplitter,
        reader: Bridge,
        book_list: BookList,
        *,
        theme: Theme,
        icons: Icons,
    ) -> None:
        super().__init__(splitter)
        self._splitter = splitter
        self._reader = reader
        self._book_list = book_list
        self._theme = theme
        self._icons = icons
        self._pane: PagePane | None = None
        self._left_at: dict[str, int] = {}

    @property
    def pane(self) -> PagePane:
        """The pane; it is built when it is first wanted."""
        if self._pane is None:
            from desktop.ui.reader.page_pane import PagePane  # not before the first paint

            self._pane = PagePane(self._reader, self._theme, self._icons)
            self._pane.page_shown.connect(self._left_at.__setitem__)
            self._book_list.entry_removed.connect(self._pane.close_book)
            self._pane.hide()
            self._splitter.addWidget(self._pane)
        return self._pane

    @property
    def shown(self) -> bool:
        """Whether the pane is shown."""
        return self._pane is not None and not self._pane.isHidden()

    def show_pane(self, shown: bool) -> None:
        """Show or hide the pane."""
        if self.shown != shown:
            self.pane.setVisible(shown)
            self.visibility_changed.emit(shown)

    def open_source(self, item: Citation | ContextItem) -> None:
        """Show the page of a source, with its words marked."""
        rects = item.rects if isinstance(item, Citation) else ()
        self._open(PageLocation(item.book, item.page, (item.start, item.end), rects))

    def open_book(self, book: str) -> None:
        """Show a book where it was left."""
        if self.pane.location is None or self.pane.location.book != book:
            self._open(PageLocation(book, self._left_at.get(book, 1)))
        else:
            self.show_pane(True)

    def open_file(self, file: str) -> bool:
        """Show the book that was made from a file; return whether there is one."""
        entries = self._book_list.entries.values()
        key = next((e.key for e in entries if e.file == file and e.book is not None), None)
        if key is not None:
            self.open_book(key)
        return key is not None

    def find_has_focus(self) -> bool:
        """Whether the find field has the keyboard focus."""
        return self._pane is not None and self._pane.find_bar.field.hasFocus()

    def copy(self) -> bool:
        """Copy what is selected on the page; return whether there was anything."""
        return self._pane is not None and not self.find_has_focus() and self._pane.copy()

    def _open(self, location: PageLocation) -> None:
        entry = self._book_list.entries.get(location.book)
        if entry is None or entry.book is None:
            self.noticed.emit(tr("That book is not in the library any more."))
            return
        self.show_pane(True)
        self.pane.open(location, pages=entry.book.pages)
