from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import pymupdf
import pytest

from desktop.core.documents import pdf as pdf_module
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library import embedding, extraction
from desktop.core.library.indexing import MOST_ATTEMPTS, Indexer, file_id
from desktop.core.library.library import Library
from desktop.core.records import Book, BookStatus, Progress
from desktop.core.retrieval import search
from desktop.core.text import windows
from tests.core import makers
from tests.fakes import FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from desktop.core.records import Page
    from desktop.paths import Paths


class Recorder:
    """Follows an indexer, and may stop it or do something at a step."""

    def __init__(self, library: Library) -> None:
        self.steps: list[Progress] = []
        self.books: list[Book] = []
        self.at: dict[tuple[str, int], Callable[[], None]] = {}
        self.stop = False
        self.indexer = Indexer(
            library,
            progress=self.progress,
            book_changed=self.books.append,
            cancelled=lambda: self.stop,
        )

    def progress(self, _book: str, step: Progress) -> None:
        self.steps.append(step)
        for (stage, done), act in list(self.at.items()):
            if step.stage == stage and step.done >= done:
                del self.at[stage, done]
                act()

    def cancel(self) -> None:
        self.stop = True

    def stages(self) -> list[str]:
        return list(dict.fromkeys(step.stage for step in self.steps))

    def statuses(self) -> list[BookStatus]:
        return list(dict.fromkeys(book.status for book in self.books))


class CountingEmbedder(FakeEmbedder):
    """Remembers what it embedded; raises what it is told to."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.error: Exception | None = None

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.error is not None:
            raise self.error
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def library(paths: Paths, embedder: CountingEmbedder) -> Iterator[Library]:
    opened = Library(paths, embedder=embedder)
    yield opened
    opened.close()


@pytest.fixture
def recorder(library: Library) -> Recorder:
    return Recorder(library)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small chunks, and every report is given."""
    monkeypatch.setattr(extraction, "CHUNK_PAGES", 3)
    monkeypatch.setattr(embedding, "CHECKPOINT_PASSAGES", 8)
    monkeypatch.setattr(embedding, "BATCH_WINDOWS", 4)
    monkeypatch.setattr("desktop.core.progress.REPORT_S", 0.0)


@pytest.fixture
def book_file(tmp_path: Path) -> Path:
    """A book of ten pages, two passages each since a section starts on every one."""
    pages = [f"Rest of before {n}\n\nPart {n}\n\nOn heron number {n}" for n in range(1, 11)]
    toc = [(1, f"Part {n}", n) for n in range(1, 11)]
    return makers.pdf(tmp_path / "herons.pdf", pages, toc=toc, title="Herons")


PASSAGES = 20


def check_whole(library: Library, identity: str) -> None:
    """The book is indexed, each passage once in the text and once among the vectors."""
    book = library.catalog.find(identity)
    assert book
    assert book.status is BookStatus.INDEXED
    passages = library.catalog.passages(identity)
    assert book.passages == book.passages_embedded == len(passages) > 0
    assert book.pages_read == book.pages == len(library.catalog.pages(identity))
    library.store.refresh()
    assert library.store.texts(identity) == len(passages)
    assert library.store.vectors(identity) == len(passages)
    assert library.store.embedded(identity) == {p.id for p in passages}


def test_the_stages_and_statuses_come_in_order(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    added = recorder.indexer.add(book_file)
    assert recorder.stages() == ["copying", "reading", "listing", "embedding"]
    assert recorder.statuses() == [BookStatus.READING, BookStatus.ASKABLE, BookStatus.INDEXED]
    for stage, total, unit in (("reading", 10, "pages"), ("embedding", PASSAGES, "passages")):
        steps = [step for step in recorder.steps if step.stage == stage]
        done = [step.done for step in steps]
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, total)
        assert {(step.total, step.unit) for step in steps} == {(total, unit)}
    assert added.status == "indexed"
    assert added.book == library.catalog.find(file_id(book_file))
    assert added.book
    assert (added.book.title, added.book.file) == ("Herons", str(book_file))
    assert 0 <= added.timings["askable_s"] <= added.timings["total_s"]
    check_whole(library, added.book.id)


def test_each_window_of_a_passage_is_embedded_once(
    recorder: Recorder, library: Library, embedder: CountingEmbedder, book_file: Path
) -> None:
    recorder.indexer.add(book_file)
    passages = library.catalog.passages(file_id(book_file))
    wanted = [p.text[start:end] for p in passages for start, end in windows.spans(p.text)]
    assert sorted(embedder.texts) == sorted(wanted)
    assert library.store.is_finished(file_id(book_file))


def test_the_same_bytes_cost_nothing(
    recorder: Recorder, embedder: CountingEmbedder, book_file: Path, tmp_path: Path
) -> None:
    first = recorder.indexer.add(book_file)
    recorder.steps.clear()
    embedder.texts.clear()
    copy = tmp_path / "another name.pdf"
    shutil.copyfile(book_file, copy)
    again = recorder.indexer.add(copy)
    assert (again.status, again.book) == ("already", first.book)
    assert (recorder.steps, embedder.texts) == ([], [])


@pytest.mark.parametrize(("stage", "done"), [("reading", 3), ("reading", 9), ("embedding", 12)])
def test_a_stopped_book_is_paused_and_goes_on(
    recorder: Recorder, library: Library, embedder: CountingEmbedder, book_file: Path, stage: str,
    done: int,
) -> None:  # fmt: skip
    recorder.at[stage, done] = recorder.cancel
    with pytest.raises(CancelledError):
        recorder.indexer.add(book_file)
    (book,) = library.catalog.books()
    assert book.status is BookStatus.PAUSED
    assert recorder.books[-1] == book
    if stage == "reading":
        # The chunk that was being read meanwhile is kept too, where it was ready.
        assert book.pages_read in (done, min(done + 3, book.pages))
    else:
        assert book.passages_embedded == 8  # of 12 embedded, two batches were not yet kept
        assert library.store.vectors(book.id) == 8
    kept = library.store.embedded(book.id)
    embedder.texts.clear()
    recorder.steps.clear()
    recorder.stop = False
    finished, _ = recorder.indexer.index(book.id)
    assert finished.status is BookStatus.INDEXED
    assert len(embedder.texts) == PASSAGES - len(kept)  # only the rest
    if stage == "embedding" or book.pages_read < book.pages:
        first = next(step for step in recorder.steps if step.stage == stage)
        assert first.done == (book.pages_read if stage == "reading" else 8)
    check_whole(library, book.id)


def test_adding_a_paused_book_goes_on_with_it(
    recorder: Recorder, library: Library, embedder: CountingEmbedder, book_file: Path
) -> None:
    recorder.at["embedding", 12] = recorder.cancel
    with pytest.raises(CancelledError):
        recorder.indexer.add(book_file)
    embedder.texts.clear()
    recorder.stop = False
    assert recorder.indexer.add(book_file).status == "indexed"
    assert len(embedder.texts) == PASSAGES - 8
    check_whole(library, file_id(book_file))


def test_pausing_often_is_no_failure(recorder: Recorder, library: Library, book_file: Path) -> None:
    """Only what takes the process down counts as an attempt."""
    for _ in range(MOST_ATTEMPTS + 3):
        recorder.stop = False
        recorder.at["embedding", 4] = recorder.cancel
        with pytest.raises(CancelledError):
            recorder.indexer.add(book_file)
    recorder.stop = False
    assert recorder.indexer.add(book_file).status == "indexed"
    check_whole(library, file_id(book_file))


def test_failing_often_is_no_reason_to_give_up(
    recorder: Recorder, embedder: CountingEmbedder, book_file: Path
) -> None:
    embedder.error = OSError(28, "No space left on device")
    for _ in range(MOST_ATTEMPTS + 2):
        with pytest.raises(UserFacingError, match="The disk is full"):
            recorder.indexer.add(book_file)
    embedder.error = None
    assert recorder.indexer.add(book_file).status == "indexed"


class KilledError(BaseException):
    """Stands for the end of the process: nothing of the program handles it."""


def die() -> None:
    raise KilledError


@pytest.mark.parametrize("stage", ["reading", "listing", "embedding"])
def test_a_book_that_takes_the_process_down_is_given_up(
    recorder: Recorder, library: Library, book_file: Path, stage: str
) -> None:
    identity = file_id(book_file)
    recorder.at[stage, 0] = die
    with pytest.raises(KilledError):
        recorder.indexer.add(book_file)
    for _ in range(MOST_ATTEMPTS - 1):
        assert [book.id for book in recorder.indexer.unfinished()] == [identity]
        recorder.at[stage, 0] = die
        with pytest.raises(KilledError):
            recorder.indexer.index(identity)
    with pytest.raises(UserFacingError, match="stopped the reading part of Lutrin several times"):
        recorder.indexer.index(identity)
    book = library.catalog.find(identity)
    assert book
    assert book.status is BookStatus.FAILED
    assert "print it to a new PDF" in book.error
    assert recorder.indexer.unfinished() == []  # it is not tried again at the next start
    # ... but when the user asks for it
    assert recorder.indexer.add(book_file).status == "indexed"


def test_the_reason_is_told_where_it_cannot_even_be_recorded(
    recorder: Recorder,
    library: Library,
    embedder: CountingEmbedder,
    book_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full disk takes neither the vectors nor the news of it."""
    embedder.error = OSError(28, "No space left on device")
    update = library.catalog.update

    def full(book: str, **values: object) -> object:
        if values.get("status") is BookStatus.FAILED:
            raise sqlite3.OperationalError("database or disk is full")
        return update(book, **values)

    monkeypatch.setattr(library.catalog, "update", full)
    with pytest.raises(UserFacingError, match="The disk is full"):
        recorder.indexer.add(book_file)


def test_a_book_that_gets_on_between_kills_is_not_given_up(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    identity = file_id(book_file)
    moments = [("reading", 3), ("reading", 6), ("reading", 9), ("listing", 0)]
    for stage, done in [*moments, ("embedding", 8), ("embedding", 16)]:
        recorder.at[stage, done] = die
        with pytest.raises(KilledError):
            recorder.indexer.add(book_file)
    assert recorder.indexer.add(book_file).status == "indexed"
    check_whole(library, identity)


@pytest.fixture
def two_files(tmp_path: Path) -> tuple[Path, Path]:
    first = makers.pdf(tmp_path / "first.pdf", [f"on heron {n}" for n in range(12)])
    second = makers.pdf(tmp_path / "second.pdf", [f"on swan {n}" for n in range(12)])
    return first, second


def interrupt(recorder: Recorder, *files: Path) -> list[str]:
    """Leave files as a process does that is killed while reading each; return their ids."""
    for file in files:
        recorder.at["reading", 3] = die
        with pytest.raises(KilledError):
            recorder.indexer.add(file)
    recorder.steps.clear()
    return [file_id(file) for file in files]


def test_unfinished_books_are_first_all_read_then_embedded(
    recorder: Recorder, library: Library, two_files: tuple[Path, Path]
) -> None:
    ids = interrupt(recorder, *two_files)
    assert recorder.indexer.index_all() == 2
    order = [step.stage for step in recorder.steps]
    last_read = len(order) - order[::-1].index("listing")
    assert order.index("embedding") >= last_read
    for identity in ids:
        check_whole(library, identity)
    assert recorder.indexer.index_all() == 0


@pytest.mark.parametrize("stage", ["reading", "embedding"])
def test_a_book_removed_meanwhile_does_not_hold_up_the_next(
    recorder: Recorder, library: Library, two_files: tuple[Path, Path], stage: str
) -> None:
    first, second = interrupt(recorder, *two_files)
    recorder.at[stage, 4] = lambda: library.remove(first)
    recorder.indexer.index_all()
    assert [book.id for book in library.catalog.books()] == [second]
    check_whole(library, second)


def test_a_book_that_fails_does_not_hold_up_the_next(
    recorder: Recorder, library: Library, two_files: tuple[Path, Path]
) -> None:
    first, second = interrupt(recorder, *two_files)
    library.file_of(first).unlink()
    recorder.indexer.index_all()
    failed = library.catalog.find(first)
    assert failed
    assert failed.status is BookStatus.FAILED
    check_whole(library, second)


def test_stopping_stops_all(
    recorder: Recorder, library: Library, two_files: tuple[Path, Path]
) -> None:
    interrupt(recorder, *two_files)
    recorder.at["embedding", 4] = recorder.cancel
    with pytest.raises(CancelledError):
        recorder.indexer.index_all()
    assert {book.status for book in library.catalog.books()} <= {
        BookStatus.PAUSED, BookStatus.ASKABLE,
    }  # fmt: skip


def test_a_book_removed_while_it_is_indexed_stops(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    identity = file_id(book_file)
    recorder.at["embedding", 8] = lambda: library.remove(identity)
    with pytest.raises(CancelledError):
        recorder.indexer.add(book_file)
    assert library.catalog.books() == []
    assert library.store.vectors(identity) < PASSAGES
    library.purge(identity)
    assert not library.file_of(identity).exists()
    assert (library.store.texts(identity), library.store.vectors(identity)) == (0, 0)
    assert recorder.indexer.add(book_file).status == "indexed"
    check_whole(library, identity)


def test_adding_a_removed_book_brings_it_back(
    recorder: Recorder, library: Library, embedder: CountingEmbedder, book_file: Path
) -> None:
    added = recorder.indexer.add(book_file)
    identity = file_id(book_file)
    library.remove(identity)
    embedder.texts.clear()
    again = recorder.indexer.add(book_file)
    assert (again.status, again.book) == ("already", added.book)
    assert embedder.texts == []
    library.purge(identity)  # it was brought back: left alone
    check_whole(library, identity)


def test_a_book_brought_back_while_its_deletion_waits_is_kept(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    recorder.indexer.add(book_file)
    identity = file_id(book_file)
    library.remove(identity)
    with library.turns.writing():
        purging = threading.Thread(target=library.purge, args=(identity,))
        purging.start()
        time.sleep(0.1)
        library.restore(identity)
    purging.join(10)
    check_whole(library, identity)
    assert library.file_of(identity).exists()


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (RuntimeError("torch is out of memory"), r"Indexing stopped \(torch is out of memory\)"),
        (OSError(5, "Input/output error"), "Input/output error"),
        (UserFacingError("The embedding model is missing", "Install Lutrin again"), "is missing"),
    ],
)
def test_an_embedder_that_fails_leaves_a_book_that_says_so(
    recorder: Recorder, library: Library, embedder: CountingEmbedder, book_file: Path,
    error: Exception, what: str,
) -> None:  # fmt: skip
    embedder.error = error
    with pytest.raises(UserFacingError, match=what) as caught:
        recorder.indexer.add(book_file)
    (book,) = library.catalog.books()
    assert (book.status, book.error) == (BookStatus.FAILED, str(caught.value))
    # Its text can be searched all the same, and it goes on once the trouble is over.
    embedder.error = None
    assert search.find(library, "heron", limit=3)
    finished, _ = recorder.indexer.index(book.id)
    assert (finished.status, finished.error) == (BookStatus.INDEXED, "")
    check_whole(library, book.id)


def test_a_bug_in_the_embedder_is_not_hidden(
    recorder: Recorder, embedder: CountingEmbedder, book_file: Path
) -> None:
    embedder.error = KeyError("bug")
    with pytest.raises(KeyError):
        recorder.indexer.add(book_file)


class Usage:
    free = 1_000_000


def test_a_full_disk_is_told_before_anything_is_written(
    recorder: Recorder, library: Library, book_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage)
    with pytest.raises(UserFacingError, match=r"has 1 MB left, and “herons\.pdf” needs 200 MB"):
        recorder.indexer.add(book_file)
    assert library.catalog.books() == []
    assert list(library.paths.books.iterdir()) == []


def test_a_disk_that_fills_up_while_copying_leaves_nothing(
    recorder: Recorder, library: Library, book_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", full)
        with pytest.raises(UserFacingError, match="The disk is full"):
            recorder.indexer.add(book_file)
    assert library.catalog.books() == []
    assert list(library.paths.books.iterdir()) == []
    assert recorder.indexer.add(book_file).status == "indexed"


def test_a_locked_book_is_kept_open(recorder: Recorder, library: Library, tmp_path: Path) -> None:
    file = makers.pdf(
        tmp_path / "locked.pdf",
        ["a secret heron"],
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        user_pw="open",
        owner_pw="owner",
    )
    added = recorder.indexer.add(file, password="open")
    assert added.book
    assert added.book.id == file_id(file)
    assert any("opens without its password" in warning for warning in added.book.warnings)
    copy = library.open(added.book.id)
    assert copy.page(1).text == "a secret heron"
    copy.close()
    assert search.find(library, "secret", limit=1)


def test_a_password_that_is_not_needed_changes_nothing(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    added = recorder.indexer.add(book_file, password="for another file")
    assert added.book
    assert added.book.warnings == ()
    assert library.file_of(added.book.id).read_bytes() == book_file.read_bytes()


def test_the_original_may_go(recorder: Recorder, library: Library, book_file: Path) -> None:
    added = recorder.indexer.add(book_file)
    book_file.unlink()
    assert added.book
    document = library.open(added.book.id)
    assert document.page_count == 10
    document.close()


def test_a_library_copy_that_is_gone_is_taken_in_again(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    added = recorder.indexer.add(book_file)
    assert added.book
    shutil.rmtree(library.paths.books / added.book.id)
    assert recorder.indexer.add(book_file).status == "indexed"
    check_whole(library, added.book.id)


def test_a_book_whose_file_is_gone_fails_and_says_so(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    recorder.at["reading", 3] = recorder.cancel
    with pytest.raises(CancelledError):
        recorder.indexer.add(book_file)
    identity = file_id(book_file)
    library.file_of(identity).unlink()
    recorder.stop = False
    with pytest.raises(UserFacingError, match="is not there"):
        recorder.indexer.index(identity)
    book = library.catalog.find(identity)
    assert book
    assert book.status is BookStatus.FAILED


def test_a_lost_index_is_made_again(
    recorder: Recorder, library: Library, paths: Paths, book_file: Path
) -> None:
    recorder.indexer.add(book_file)
    identity = file_id(book_file)
    shutil.rmtree(paths.index)
    later = Library(paths, embedder=CountingEmbedder())
    indexer = Indexer(later)
    assert [book.id for book in indexer.unfinished()] == [identity]
    indexer.index(identity)
    check_whole(later, identity)
    assert indexer.unfinished() == []
    later.close()


def test_lost_vectors_alone_are_made_again(
    recorder: Recorder, library: Library, paths: Paths, book_file: Path
) -> None:
    recorder.indexer.add(book_file)
    identity = file_id(book_file)
    shutil.rmtree(next(paths.index.glob("windows_*")))
    later = Library(paths, embedder=CountingEmbedder())
    steps: list[str] = []
    indexer = Indexer(later, progress=lambda _book, step: steps.append(step.stage))
    assert [book.id for book in indexer.unfinished()] == [identity]
    indexer.index(identity)
    assert "listing" not in steps
    check_whole(later, identity)
    later.close()


def test_a_sound_index_is_left_alone(
    recorder: Recorder, library: Library, paths: Paths, book_file: Path, tmp_path: Path
) -> None:
    recorder.indexer.add(book_file)
    recorder.indexer.add(makers.pdf(tmp_path / "other.pdf", ["a swan"]))
    later = Library(paths, embedder=CountingEmbedder())
    assert Indexer(later).unfinished() == []
    assert {book.status for book in later.catalog.books()} == {BookStatus.INDEXED}
    later.close()


def test_unfinished_books_are_those_interrupted(library: Library) -> None:
    for letter, status in zip("abcde", BookStatus, strict=True):
        makers.shelve(library.catalog, makers.book_id(letter), ["text"])
        library.catalog.update(makers.book_id(letter), status=status)
    library.catalog.remove(makers.book_id("b"))
    # Indexed without being in the index: lost, to be made again.
    assert [b.id[0] for b in Indexer(library).unfinished()] == ["a", "c"]


def test_one_file_added_twice_at_once_is_taken_in_once(
    library: Library, paths: Paths, book_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second must not reset what the first has read."""
    inside, go_on = threading.Event(), threading.Event()
    copies: list[Path] = []
    copy = shutil.copyfile

    def slow(source: Path, target: Path) -> None:
        copies.append(target)
        inside.set()
        go_on.wait(10)
        copy(source, target)

    monkeypatch.setattr(shutil, "copyfile", slow)
    results: list[str] = []

    def add() -> None:
        own = Library(paths, embedder=FakeEmbedder())
        results.append(Indexer(own).add(book_file).status)
        own.close()

    threads = [threading.Thread(target=add) for _ in range(2)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    time.sleep(0.2)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert len(copies) == 1
    assert len(results) == 2
    assert "indexed" in results
    check_whole(library, file_id(book_file))


def test_a_second_reader_waits_and_says_so(
    recorder: Recorder, library: Library, book_file: Path
) -> None:
    told = threading.Event()
    recorder.at["waiting", 0] = told.set
    with library.turns.hold("reading"):
        adding = threading.Thread(target=recorder.indexer.add, args=(book_file,))
        adding.start()
        assert told.wait(20)
        assert "reading" not in recorder.stages()
    adding.join(30)
    check_whole(library, file_id(book_file))


def test_indexing_stands_back_for_an_answer(
    recorder: Recorder, library: Library, embedder: CountingEmbedder, book_file: Path
) -> None:
    reached = threading.Event()

    def hold() -> None:
        answering = library.turns.answering()
        answering.__enter__()
        held.append(answering)
        reached.set()

    held: list[object] = []
    recorder.at["embedding", 8] = hold
    adding = threading.Thread(target=recorder.indexer.add, args=(book_file,))
    adding.start()
    assert reached.wait(20)
    time.sleep(0.4)
    assert len(embedder.texts) == 8  # no batch while the answer is written
    held[0].__exit__(None, None, None)  # type: ignore[attr-defined]
    adding.join(30)
    check_whole(library, file_id(book_file))


def test_a_bad_page_is_noted_and_the_rest_is_indexed(
    recorder: Recorder, library: Library, book_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = pdf_module.PdfDocument.page

    def page(self: pdf_module.PdfDocument, number: int) -> Page:
        return read(self, number if number != 5 else 10_000)

    monkeypatch.setattr(pdf_module.PdfDocument, "page", page)
    added = recorder.indexer.add(book_file)
    assert added.book
    assert added.book.warnings == ("Page 10000 is damaged and could not be read",)
    assert added.book.passages == PASSAGES - 2


def test_the_id_is_the_hash_of_the_bytes(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"abc")
    assert file_id(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
