"""The shared hard files, each with what a good application does with it."""

from __future__ import annotations

import csv
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from desktop.core.documents.pdf import MAX_PIXELS
from desktop.core.documents.registry import open_document
from desktop.core.errors import PasswordNeededError, UserFacingError
from desktop.core.library.indexing import Indexer
from desktop.core.retrieval import search

if TYPE_CHECKING:
    from desktop.core.library.library import Library

pytestmark = pytest.mark.books

MANIFEST = Path(__file__).resolve().parents[4] / "shared/data/hard/manifest.csv"
ROWS = list(csv.DictReader(MANIFEST.read_text("utf-8").splitlines() if MANIFEST.exists() else []))
SCANS = {"ocrmypdf__rotated_skew.pdf", "ocrmypdf__jbig2.pdf", "ocrmypdf__hugemono.pdf"}
"""Pictures alone: refused today, with the advice to run OCR."""
GARBLED = {
    "pdfjs__ThuluthFeatures.pdf",
    "ocrmypdf__truetype_font_nomapping.pdf",
    "leetcode_zh_garbled.pdf",
}
"""Indexed today with the text as it extracts, which is nonsense in part."""


def rows(*expect: str) -> pytest.MarkDecorator:
    chosen = [row for row in ROWS if row["expect"] in expect]
    return pytest.mark.parametrize("row", chosen, ids=[row["file"] for row in chosen])


def fold(text: str) -> str:
    return " ".join(text.split())


def check_found(library: Library, snippet: str) -> None:
    """Each part of the snippet is in one of the first five finds."""
    for part in filter(None, snippet.split("|")):
        hits = search.find(library, part, limit=5)
        assert any(fold(part) in fold(hit.passage.text) for hit in hits), part


def check_nothing_left(library: Library) -> None:
    assert library.catalog.books() == []
    assert library.catalog.removed() == []
    assert list(library.paths.books.iterdir()) == []


def test_the_manifest_is_whole(shared: Path) -> None:
    assert len(ROWS) == 26
    assert all((shared / "hard" / row["file"]).exists() for row in ROWS)
    assert {row["file"] for row in ROWS if row["expect"] == "ocr"} == SCANS | GARBLED


@rows("text")
def test_text_is_found(library: Library, shared: Path, row: dict[str, str]) -> None:
    start = time.monotonic()
    added = Indexer(library).add(shared / "hard" / row["file"])
    assert added.status == "indexed"
    assert added.book
    assert added.book.passages == added.book.passages_embedded > 0
    check_found(library, row["snippet"])
    assert time.monotonic() - start < 60


@rows("password")
def test_a_password_is_asked_for(library: Library, shared: Path, row: dict[str, str]) -> None:
    file = shared / "hard" / row["file"]
    for wrong in (None, "wrong", "S\u00aaSL\u00adwrong"):
        with pytest.raises(PasswordNeededError):
            Indexer(library).add(file, password=wrong)
        check_nothing_left(library)
    added = Indexer(library).add(file, password=row["password"])
    assert added.status == "indexed"
    check_found(library, row["snippet"])
    assert added.book
    library.open(added.book.id).close()  # the library's copy asks for nothing
    assert Indexer(library).add(file, password=row["password"]).status == "already"


@rows("error", "empty")
def test_nothing_is_left_of_a_bad_file(library: Library, shared: Path, row: dict[str, str]) -> None:
    with pytest.raises(UserFacingError) as caught:
        Indexer(library).add(shared / "hard" / row["file"])
    assert not isinstance(caught.value, PasswordNeededError)
    what = "no text at all" if row["expect"] == "empty" else "damaged"
    assert what in str(caught.value)
    check_nothing_left(library)


@pytest.mark.parametrize("file", sorted(SCANS))
def test_a_scan_is_refused_with_advice(library: Library, shared: Path, file: str) -> None:
    with pytest.raises(UserFacingError, match=r"scan.*OCR"):
        Indexer(library).add(shared / "hard" / file)
    check_nothing_left(library)


@pytest.mark.parametrize("file", sorted(GARBLED))
def test_garbled_text_is_indexed_as_it_is(library: Library, shared: Path, file: str) -> None:
    added = Indexer(library).add(shared / "hard" / file)
    assert added.status == "indexed"
    if file.startswith("leetcode"):
        check_found(library, "Binary Tree Level Order Traversal")


def test_a_bad_page_does_not_lose_the_rest(library: Library, shared: Path) -> None:
    added = Indexer(library).add(shared / "hard" / "pdfjs__Pages-tree-refs.pdf")
    assert added.book
    assert added.book.warnings == ("Page 2 is damaged and could not be read",)


def test_page_labels_of_a_blank_book(shared: Path) -> None:
    document = open_document(shared / "hard" / "pdfjs__labelled_pages.pdf")
    labels = [document.label(number) for number in range(1, document.page_count + 1)]
    document.close()
    assert len(labels) == 11
    assert labels != [str(number) for number in range(1, 12)]


@pytest.mark.parametrize(
    "file",
    [
        "pdfjs__hello_world_rotated.pdf",
        "pdfplumber__issue-1054-example.pdf",
        "pikepdf__sandwich.pdf",
    ],
)
def test_words_lie_inside_the_picture_and_on_ink(shared: Path, file: str) -> None:
    document = open_document(shared / "hard" / file)
    for number in range(1, document.page_count + 1):
        page, picture = document.page(number), document.draw(number, 1.5)
        pixels = np.frombuffer(picture.pixels, np.uint8)
        image = pixels.reshape(picture.height, picture.width, 3)
        inked = 0
        for word in page.words:
            x0, y0, x1, y1 = word.rect
            assert -3 <= (x0 + x1) / 2 <= picture.points[0] + 3
            assert -3 <= (y0 + y1) / 2 <= picture.points[1] + 3
            left, top = max(0, int(x0 * 1.5)), max(0, int(y0 * 1.5))
            part = image[top : int(y1 * 1.5) + 1, left : int(x1 * 1.5) + 1]
            inked += int(part.size > 0 and part.min() < 190)
        assert inked >= 0.9 * len(page.words) > 0
    document.close()


@pytest.mark.parametrize("file", ["ocrmypdf__hugemono.pdf", "pdfjs__bomb_giant.pdf"])
def test_a_huge_page_is_drawn_within_bounds_or_refused(shared: Path, file: str) -> None:
    document = open_document(shared / "hard" / file)
    try:
        picture = document.draw(1, 1.5)
    except UserFacingError:
        return
    finally:
        document.close()
    assert picture.width * picture.height <= MAX_PIXELS * 1.001


def test_exact_page_of_3000(library: Library, shared: Path) -> None:
    Indexer(library).add(shared / "hard" / "made__3000_pages.pdf")
    for number in (1, 1999, 2718, 3000):
        page = library.catalog.page(library.catalog.books()[0].id, number)
        assert page
        code = re.search(r"code word (\d+)", page.text)
        assert code
        hits = search.find(library, code.group(1), limit=5)
        assert hits[0].passage.page == number
