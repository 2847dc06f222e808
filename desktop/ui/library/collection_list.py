"""The list of collections behind the library pane, and the last deletion, which can be undone.

Talks to the librarian, which decides whether a name can be used. Knows no widgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from desktop.ui.formatting import tr
from desktop.ui.library.book_list import UNDO_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.ui.bridge import Bridge
    from desktop.ui.library.book_list import BookList
    from desktop.worker.process import Delivery

    Answered = Callable[[str], object]
    """Called with what is wrong, or with nothing once it is done."""


class CollectionList(QObject):
    """The collections of the library."""

    changed = Signal()
    noticed = Signal(str)
    removal_offered = Signal(str)
    """The name of a collection that was deleted and can be had back."""
    removal_settled = Signal()

    def __init__(
        self, librarian: Bridge, book_list: BookList, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._book_list = book_list
        self._books: dict[str, tuple[str, ...]] = {}
        self._removed: tuple[str, tuple[str, ...]] | None = None
        self._offer = QTimer(self, interval=UNDO_MS, singleShot=True)
        self._offer.timeout.connect(self._settle)
        book_list.loaded.connect(self._load)
        # Queued, so that a book that comes back is asked for before the collections are.
        book_list.removal_settled.connect(self._load, Qt.ConnectionType.QueuedConnection)

    def all(self) -> dict[str, tuple[str, ...]]:
        """Return name -> ids of those of its books that have a card."""
        cards = self._book_list.entries
        return {
            name: tuple(book for book in books if book in cards)
            for name, books in self._books.items()
        }

    def create(self, name: str, books: Sequence[str], answered: Answered) -> None:
        """Make a collection, unless the name is empty or taken."""
        self._request("create_collection", {"name": name, "books": list(books)}, answered)

    def add(self, name: str, book: str) -> None:
        """Put a book into a collection."""
        self._request("collect", {"name": name, "books": [book]})

    def take_out(self, name: str, book: str) -> None:
        """Take a book out of a collection."""
        self._request("take_out", {"name": name, "books": [book]})

    def rename(self, name: str, to: str, answered: Answered) -> None:
        """Give a collection another name, unless that is empty or taken."""
        self._request("rename_collection", {"name": name, "to": to}, answered)

    def remove(self, name: str) -> None:
        """Delete a collection, with an offer to undo it; its books stay."""
        self._removed = (name, self._books[name])
        self._request("delete_collection", {"name": name})
        self._offer.start()
        self.removal_offered.emit(name)

    def undo_removal(self) -> None:
        """Bring the collection back that was deleted last."""
        removed = self._removed
        self._settle()
        if removed is not None:
            self._request("collect", {"name": removed[0], "books": list(removed[1])})

    def _settle(self) -> None:
        self._removed = None
        self._offer.stop()
        self.removal_settled.emit()

    def _load(self) -> None:
        self._request("collections", {})

    def _request(self, do: str, args: dict[str, Any], answered: Answered | None = None) -> None:
        def on_event(delivery: Delivery) -> None:
            if delivery.event == "done":
                self._books = {name: tuple(books) for name, books in delivery.data.items()}
                self.changed.emit()
                wrong = ""
            elif delivery.event == "failed":
                wrong = f"{delivery.data['what']}. {delivery.data['remedy']}."
            else:
                wrong = tr("The library did not answer. Try again.")
            if answered is not None:
                answered(wrong)
            elif delivery.event == "failed":
                self.noticed.emit(wrong)

        self._librarian.request(do, args, on_event=on_event)
