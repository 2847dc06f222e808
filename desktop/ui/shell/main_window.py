"""The main window: builds its parts, connects them, and closes them.

What each part does is the part's own business; here are only the layout, dropped files, the sizes
of the panes, and closing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QSplitter, QVBoxLayout, QWidget

from desktop.ui.conversation.conversation_pane import ConversationPane
from desktop.ui.icons import Icons
from desktop.ui.library.book_list import BookList
from desktop.ui.library.collection_list import CollectionList
from desktop.ui.library.library_pane import LibraryPane
from desktop.ui.models.model_list import ModelList
from desktop.ui.reader.page_host import PageHost
from desktop.ui.shell.drag_and_drop import DropOverlay, drop_text, sort_mime
from desktop.ui.shell.importer import Importer
from desktop.ui.shell.menus import Menus
from desktop.ui.shell.notice_bar import NoticeBar
from desktop.ui.shell.notifications import Notifications

if TYPE_CHECKING:
    from PySide6.QtGui import (
        QCloseEvent,
        QDragEnterEvent,
        QDragLeaveEvent,
        QDropEvent,
        QPaintEvent,
    )

    from desktop.paths import Paths
    from desktop.ui.bridge import Workers
    from desktop.ui.conversation.session import Session
    from desktop.ui.preferences import Preferences
    from desktop.ui.reader.page_pane import PagePane
    from desktop.ui.theme import Theme

SIZE = (1280, 800)
CONVERSATION_WIDTH = 400


class MainWindow(QMainWindow):
    """The window.

    Args:
        paths: The folders it works on.
        workers: The workers behind it; none runs before the first paint.

    Attributes:
        session: The conversation that is shown; None until start-up has opened it.
    """

    first_painted = Signal()
    """The window has been painted for the first time: the rest of start-up may run."""

    def __init__(
        self, paths: Paths, *, workers: Workers, theme: Theme, preferences: Preferences
    ) -> None:
        super().__init__()
        self._painted = False
        self.theme = theme
        self.workers = workers
        self.preferences = preferences
        self.session: Session | None = None
        self.icons = Icons(theme, self)
        self.book_list = BookList(workers.librarian, self)
        self.model_list = ModelList(workers.fetcher, paths.models, self)
        self.importer = Importer(self.book_list, self.model_list, self)
        self.collections = CollectionList(workers.librarian, self.book_list, self)
        self.library = LibraryPane(self.book_list, self.collections, self.icons)
        self.conversation = ConversationPane(
            theme=theme, icons=self.icons, model_list=self.model_list
        )
        self.notices = NoticeBar(self.icons)
        self.overlay = DropOverlay(theme, self)
        self._build()
        self.host = PageHost(
            self.splitter, workers.reader, self.book_list, theme=theme, icons=self.icons
        )
        self.notifications = Notifications(
            self.notices,
            book_list=self.book_list,
            model_list=self.model_list,
            workers=workers,
            parent=self,
        )
        self.menus = Menus(
            self,
            paths,
            theme=theme,
            preferences=preferences,
            importer=self.importer,
            notifications=self.notifications,
            library=self.library,
            conversation=self.conversation,
            page_host=self.host,
        )
        self._connect()
        self._restore()

    @property
    def page(self) -> PagePane:
        """The page pane."""
        return self.host.pane

    def _build(self) -> None:
        self.setWindowTitle("Lutrin")
        self.setAcceptDrops(True)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.library)
        self.splitter.addWidget(self.conversation)
        self.splitter.setStretchFactor(1, 1)
        self._notice_area = QWidget()
        row = QVBoxLayout(self._notice_area)
        row.setContentsMargins(10, 0, 10, 8)
        row.addWidget(self.notices)
        self._notice_area.hide()
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.splitter, 1)
        column.addWidget(self._notice_area)
        self.setCentralWidget(central)

    def _connect(self) -> None:
        self.library.add_wanted.connect(self.importer.choose_books)
        self.library.book_opened.connect(self.host.open_book)
        self.conversation.welcome.add_wanted.connect(self.importer.choose_books)
        self.conversation.welcome.handbook_wanted.connect(self.importer.add_handbook)
        self.conversation.view.source_wanted.connect(self.host.open_source)
        self.notices.visibility_changed.connect(self._notice_area.setVisible)
        self.host.visibility_changed.connect(self._on_page_shown)
        self.splitter.splitterMoved.connect(lambda *_: self._save_sizes())
        self._connect_notifications()

    def _connect_notifications(self) -> None:
        notifications = self.notifications
        self.book_list.noticed.connect(notifications.notify)
        self.collections.noticed.connect(notifications.notify)
        self.library.collections.noticed.connect(notifications.notify)
        self.model_list.noticed.connect(notifications.notify)
        self.importer.noticed.connect(notifications.notify)
        self.host.noticed.connect(notifications.notify)
        self.library.info_wanted.connect(notifications.show_book_info)
        notifications.follow_removals(self.book_list)
        notifications.follow_removals(self.collections)
        notifications.undo_available.connect(self.menus.undo.setEnabled)

    def _restore(self) -> None:
        kept = self.preferences.settings
        self.resize(*SIZE)
        if kept.geometry:
            self.restoreGeometry(QByteArray.fromBase64(kept.geometry.encode()))
        self.menus.library.setChecked(kept.show_library)
        self.library.setVisible(kept.show_library)
        self._apply_sizes()

    def _apply_sizes(self) -> None:
        kept = self.preferences.settings
        page = kept.page_width if self.host.shown else 0
        middle = max(CONVERSATION_WIDTH, self.width() - kept.library_width - page)
        self.splitter.setSizes([kept.library_width, middle, page])

    def _on_page_shown(self, shown: bool) -> None:
        self.menus.page.setChecked(shown)
        self._apply_sizes()

    def _save_sizes(self) -> None:
        library, _, page = [*self.splitter.sizes(), 0][:3]
        if library:
            self.preferences.change(library_width=library)
        if page:
            self.preferences.change(page_width=page)

    # Qt overrides

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint; after the first time, let the rest of start-up run."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, lambda: self.first_painted.emit())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show the overlay that says what dropping will do."""
        if event.mimeData().hasUrls():
            area = self.rect()
            self.overlay.show_text(drop_text(sort_mime(event.mimeData())), area)
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Hide the overlay."""
        self.overlay.hide()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Add what was dropped."""
        self.overlay.hide()
        dropped = sort_mime(event.mimeData())
        event.acceptProposedAction()
        QTimer.singleShot(0, self, lambda: self.importer.add(dropped))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide at once, keep everything, stop the workers."""
        geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        self.preferences.change(geometry=geometry)
        self.hide()
        if self.session is not None:
            self.session.close()
        self.preferences.save()
        self.workers.close()
        event.accept()
