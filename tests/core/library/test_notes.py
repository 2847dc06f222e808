"""Notes of a book: kept by question and text, and gone with the book."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.library.notes import Note, NoteStore
from tests.core import makers

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.library.library import Library

BOOK = makers.book_id("a")
NOTE = Note(((3, "Herons wait for fish."), (4, "| Heron | 2 kg |")), 0.5)


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path / "notes")


def test_they_are_kept_for_the_question_in_other_words_that_do_not_count(store: NoteStore) -> None:
    store.of(BOOK, "m", "How do herons wait for fish?").save("text", NOTE)
    assert store.of(BOOK, "m", "Do the herons wait for the fish, and how?").load("text") == NOTE
    assert store.of(BOOK, "m", "How do herons sleep?").load("text") is None
    assert store.of(BOOK, "other model", "How do herons wait for fish?").load("text") is None
    assert store.of("b" * 64, "m", "How do herons wait for fish?").load("text") is None


def test_another_text_has_notes_of_its_own(store: NoteStore) -> None:
    notes = store.of(BOOK, "m", "herons")
    notes.save("one", NOTE)
    notes.save("two", Note())
    again = store.of(BOOK, "m", "herons")
    assert (again.load("one"), again.load("two"), again.load("three")) == (NOTE, Note(), None)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"quotes": 1}'])
def test_damaged_ones_are_taken_again(store: NoteStore, tmp_path: Path, damage: str) -> None:
    store.of(BOOK, "m", "herons").save("one", NOTE)
    (file,) = (tmp_path / "notes").rglob("*.json")
    file.write_text(damage)
    notes = store.of(BOOK, "m", "herons")
    assert notes.load("one") is None
    notes.save("one", NOTE)
    assert store.of(BOOK, "m", "herons").load("one") == NOTE


def test_they_go_with_the_book(library: Library) -> None:
    makers.shelve(library.catalog, BOOK, ["Herons wait."], title="Herons")
    library.notes.of(BOOK, "m", "herons").save("one", NOTE)
    library.remove(BOOK)
    library.purge(BOOK)
    assert library.notes.of(BOOK, "m", "herons").load("one") is None
