"""What the librarian's verbs make of collections, without processes."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.codec import encode
from desktop.core.errors import UserFacingError
from desktop.worker.librarian import Librarian
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from desktop.paths import Paths

A, B = (makers.book_id(letter) for letter in "ab")


@pytest.fixture
def do(paths: Paths) -> Iterator[Callable[..., dict[str, list[str]]]]:
    """Asks a verb and returns its answer as the window gets it."""
    service = Librarian(paths)
    for book in (A, B):
        makers.shelve(service._library.catalog, book, ["text"])

    def ask(verb: str, **args: Any) -> dict[str, list[str]]:
        lane, function = service.verbs()[verb]
        assert lane == "library"  # in turn with the removals of books
        found: dict[str, list[str]] = json.loads(
            json.dumps(encode(function(SimpleNamespace(args=args))))
        )
        return found

    yield ask
    service._library.close()


def test_each_change_returns_the_collections(do: Callable[..., Any]) -> None:
    assert do("collections") == {}
    assert do("create_collection", name="Exam", books=[A]) == {"Exam": [A]}
    assert do("collect", name="exam", books=[B]) == {"Exam": [A, B]}
    assert do("take_out", name="Exam", books=[A]) == {"Exam": [B]}
    assert do("rename_collection", name="Exam", to="June") == {"June": [B]}
    assert do("collections") == {"June": [B]}
    assert do("delete_collection", name="June") == {}


def test_a_taken_name_is_refused(do: Callable[..., Any]) -> None:
    do("create_collection", name="Exam", books=[A])
    with pytest.raises(UserFacingError, match="called “Exam” already"):
        do("create_collection", name="EXAM", books=[B])


def test_a_removed_book_comes_back_into_its_collections(do: Callable[..., Any]) -> None:
    do("create_collection", name="Exam", books=[A, B])
    do("remove", book=A)
    assert do("collections") == {"Exam": [B]}
    do("restore", book=A)
    assert do("collections") == {"Exam": [A, B]}
