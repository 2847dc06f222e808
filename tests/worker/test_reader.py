from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.library.indexing import Indexer
from desktop.worker import reader as reader_module
from desktop.worker.host import Job, WithBytes
from desktop.worker.reader import Reader, _occurrences
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desktop.core.documents.document import Document
    from desktop.core.library.library import Library
    from desktop.paths import Paths

PAGES = [
    "The Grey heron\nstands still",
    "nothing here",
    "A grey\n\nHERON and a grey heron",
]


def found(text: str, wanted: str) -> list[str]:
    return [text[start:end] for start, end in _occurrences(text, wanted)]


@pytest.mark.parametrize(
    ("text", "wanted", "spans"),
    [
        ("heron", "heron", [(0, 5)]),
        ("A Heron, a HERON", "heron", [(2, 7), (11, 16)]),
        ("grey\nheron", "grey heron", [(0, 10)]),
        ("grey \n\n \t heron", "grey heron", [(0, 15)]),
        ("  grey", "grey", [(2, 6)]),
        ("aaaa", "aa", [(0, 2), (2, 4)]),
        ("aaa", "aa", [(0, 2)]),
        ("Straße", "strasse", [(0, 6)]),
        ("Straße", "ss", [(4, 5)]),
        ("eﬃcient", "efficient", [(0, 7)]),
        ("İstanbul is", "is", [(9, 11)]),
        ("😀 heron 😀", "heron 😀", [(2, 9)]),
        ("線性表", "性", [(1, 2)]),
        ("a.b", ".", [(1, 2)]),
        ("heron", "swan", []),
        ("", "x", []),
        ("her on", "heron", []),
    ],
)
def test_occurrences_fold_case_and_white_space(
    text: str, wanted: str, spans: list[tuple[int, int]]
) -> None:
    assert _occurrences(text, wanted) == spans


class Channel:
    """Keeps what is sent to the window."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any], blob: bytes | None = None) -> None:
        del blob
        self.sent.append(message)


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture
def job(channel: Channel) -> Callable[..., Job]:
    return lambda **args: Job(1, args, channel)  # type: ignore[arg-type]


@pytest.fixture
def book(library: Library, tmp_path: Path) -> str:
    labels = [{"startpage": 0, "style": "r", "firstpagenum": 1}]
    file = makers.pdf(tmp_path / "b.pdf", PAGES, labels=labels, toc=[(1, "One", 1), (1, "Two", 3)])
    added = Indexer(library).add(file)
    assert added.book
    return added.book.id


@pytest.fixture
def reader(paths: Paths) -> Reader:
    return Reader(paths)


def test_find_goes_page_by_page(
    reader: Reader, job: Callable[..., Job], channel: Channel, book: str
) -> None:
    assert reader.find(job(book=book, text="  GREY \n heron ")) == {"count": 3}
    events = [message for message in channel.sent if message["event"] == "found"]
    assert [event["data"]["page"] for event in events] == [1, 3]
    rects = [event["data"]["rects"] for event in events]
    # One rectangle a line: "A grey / HERON" stands on two, the other on one.
    assert [len(spans) for spans in rects] == [1, 2]
    assert [len(lines) for lines in rects[1]] == [2, 1]
    words = reader.words(job(book=book, page=1)).words
    assert rects[0][0] == [[words[1].rect[0], words[1].rect[1], words[2].rect[2], words[1].rect[3]]]


@pytest.mark.parametrize("text", ["", "  \n ", "swan", "%", "grey.heron"])
def test_nothing_is_found_where_nothing_is(
    reader: Reader, job: Callable[..., Job], channel: Channel, book: str, text: str
) -> None:
    assert reader.find(job(book=book, text=text)) == {"count": 0}
    assert channel.sent == []


def test_find_in_a_book_that_is_not_there(
    reader: Reader, job: Callable[..., Job], channel: Channel
) -> None:
    assert reader.find(job(book=makers.book_id("c"), text="x")) == {"count": 0}
    assert channel.sent == []


def test_find_can_be_stopped(reader: Reader, job: Callable[..., Job], book: str) -> None:
    asked = job(book=book, text="heron")
    asked.stop.set()
    with pytest.raises(CancelledError):
        reader.find(asked)


def test_a_page_comes_with_its_highlights(
    reader: Reader, job: Callable[..., Job], book: str
) -> None:
    page = reader.words(job(book=book, page=1))
    start = page.text.index("heron")
    drawn = reader.page(job(book=book, page=1, scale=2.0, highlights=[[start, start + 5]]))
    assert isinstance(drawn, WithBytes)
    data = drawn.data
    assert len(drawn.blob) == 3 * data["width"] * data["height"]
    assert data["points"] == (595, 842)
    assert data["label"] == "i"
    (((x0, y0, x1, y1),),) = data["rects"]
    image = np.frombuffer(drawn.blob, np.uint8).reshape(data["height"], data["width"], 3)
    assert image[int(2 * y0) : int(2 * y1), int(2 * x0) : int(2 * x1)].min() < 140
    plain = reader.page(job(book=book, page=1, scale=2.0))
    assert plain.data["rects"] == []


def test_the_outline_comes_with_labels(reader: Reader, job: Callable[..., Job], book: str) -> None:
    outline = reader.outline(job(book=book))
    assert (outline["pages"], outline["labels"]) == (3, ["i", "ii", "iii"])
    assert [(h.title, h.page) for h in outline["headings"]] == [("One", 1), ("Two", 3)]


def test_a_book_that_is_gone_is_an_error_to_read(reader: Reader, job: Callable[..., Job]) -> None:
    with pytest.raises(UserFacingError, match="is not there"):
        reader.page(job(book=makers.book_id("c"), page=1, scale=1.0))


def test_turning_over_many_books_closes_no_book_that_is_searched(
    reader: Reader,
    job: Callable[..., Job],
    channel: Channel,
    book: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The two lanes are two threads: what one closes must not be in the other's hands."""
    opened: dict[str, list[Document]] = {}
    open_book = reader._library.open

    def opening(name: str) -> Document:
        document = open_book(book)  # many names, one file
        opened.setdefault(name, []).append(document)
        return document

    monkeypatch.setattr(reader._library, "open", opening)
    sent = channel.send

    def send(message: dict[str, Any], blob: bytes | None = None) -> None:
        """While the first find is told, the page pane opens other books."""
        sent(message, blob)
        if len(channel.sent) == 1:
            turning = threading.Thread(
                target=lambda: [
                    reader.words(job(book=makers.book_id(letter), page=1)) for letter in "cdef"
                ]
            )
            turning.start()
            turning.join(20)

    monkeypatch.setattr(channel, "send", send)
    assert reader.find(job(book=book, text="heron")) == {"count": 3}
    # And the page pane keeps only a few open.
    kept = [letter for letter in "cdef" if _is_open(opened[makers.book_id(letter)][0])]
    assert len(kept) == reader_module.OPEN_BOOKS
    assert _is_open(opened[book][0])


def _is_open(document: Document) -> bool:
    return not document._file.is_closed  # type: ignore[attr-defined]
