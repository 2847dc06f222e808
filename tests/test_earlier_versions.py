"""What version 0.1 wrote is opened unchanged.

`tests/fixtures/library_0_1.tar.xz` is a library as that version left it, before modules, classes
and steps took the names that they have now: a book of two pages with its index, a collection, a
conversation with a proved answer, settings, notes, a measured rate and saved states.
"""

from __future__ import annotations

import tarfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from desktop import paths, settings
from desktop.core.conversations import ChosenPart, Conversations, MessageState
from desktop.core.library.library import Library
from desktop.core.llm.runtime.throughput import Throughput
from desktop.core.records import BookStatus, Verdict
from desktop.core.retrieval import search
from tests.fakes import FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.core.records import Book
    from desktop.paths import Paths

FIXTURE = Path(__file__).parent / "fixtures" / "library_0_1.tar.xz"
MODEL = "model-hash engine-1"
TIDE = "A tide is the slow rise and fall of the sea that the moon and the sun cause."


@pytest.fixture
def written(tmp_path: Path) -> Paths:
    """The folder as version 0.1 left it."""
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path / "home", filter="data")
    return paths.choose(tmp_path / "home").create()


@pytest.fixture
def old(written: Paths) -> Iterator[Library]:
    library = Library(written, embedder=FakeEmbedder())
    yield library
    library.close()


def book_of(library: Library) -> Book:
    (book,) = library.catalog.books()
    return book


def test_the_book_is_there_with_its_pages_and_its_collection(old: Library) -> None:
    book = book_of(old)
    assert (book.title, book.status, book.pages) == (
        "Notes from the Coast", BookStatus.INDEXED, 2,
    )  # fmt: skip
    assert [p.section for p in old.catalog.passages(book.id)] == ["Tides", "Lighthouses"]
    assert old.collections.all() == {"Exam in June": (book.id,)}
    with closing(old.open(book.id)) as document:
        assert "214 storms" in document.page(2).text


@pytest.mark.model
def test_the_index_is_searched_without_being_made_again(written: Paths) -> None:
    library = Library(written)
    before = sorted(path.name for path in written.index.rglob("data/*"))
    assert len(library.store.embedded(book_of(library).id)) == 2
    hits = search.find(library, "When did the ocean go up?")
    assert hits[0].passage.text.startswith("1 Tides")
    assert hits[0].similarity
    assert sorted(path.name for path in written.index.rglob("data/*")) == before
    library.close()


def test_the_conversation_shows_its_answer_with_its_proof(written: Paths) -> None:
    conversations = Conversations(written.conversations)
    (conversation,) = conversations.all()
    assert isinstance(conversation.part, ChosenPart)
    assert conversation.part.sections == ("Lighthouses",)
    (message,) = conversations.messages(conversation.id)
    conversations.close()
    assert message.state is MessageState.DONE
    assert message.answer is not None
    assert "214 storms [1]" in message.answer.answer
    first = message.answer.citations[0]
    assert first.verdict is Verdict.VERBATIM
    assert (first.page, first.start, first.end) == (2, 15, 91)
    assert message.answer.confidence["proved"] == 1.0
    assert message.answer.timings.reused_tokens == 593


def test_the_settings_are_kept(written: Paths) -> None:
    found = settings.load(written.settings)
    assert found == settings.Settings(
        theme="dark",
        library_width=300,
        show_library=False,
        conversation=1,
        model="smollm2-135m-instruct",
        reads_ahead=False,
        reading_ahead_bytes=3_000_000_000,
    )
    settings.save(written.settings, found)
    assert settings.load(written.settings) == found


def test_states_notes_and_rates_are_used_again(old: Library, written: Paths) -> None:
    book = book_of(old).id
    states = old.states.of(MODEL, book)
    assert states.load(list(range(40))) == bytes(range(256)) * 4
    assert states.load(list(range(41))) is None
    assert old.states.of(MODEL, "").load([1, 2, 3]) == b"the state of the fixed start"
    note = old.notes.of(book, MODEL, "How do the tides develop?").load("text of the pages")
    assert note is not None
    assert note.quotes == ((1, TIDE),)
    assert Throughput(written.speeds).seconds("smollm2-135m-instruct", 1000) == pytest.approx(10.0)
