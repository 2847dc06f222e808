from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pymupdf
import pytest

from desktop.core.documents.page_text import rects_of
from desktop.core.documents.pdf import MAX_PIXELS
from desktop.core.documents.registry import open_document
from desktop.core.errors import PasswordNeededError, UserFacingError
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy.typing as npt

    from desktop.core.documents.document import Picture
    from desktop.core.records import Rect

WORDS = "Alpha beta gamma\ndelta epsilon\n\nfar below"
DARK, LIGHT = 140, 250


def grey(picture: Picture) -> npt.NDArray[np.uint8]:
    pixels = np.frombuffer(picture.pixels, dtype=np.uint8)
    return pixels.reshape(picture.height, picture.width, 3).min(axis=2)


def cut(
    image: npt.NDArray[np.uint8], rect: Rect, scale: float, margin: int = 0
) -> tuple[slice, ...]:
    x0, y0, x1, y1 = rect
    rows = slice(max(0, int(y0 * scale) - margin), int(y1 * scale) + 1 + margin)
    return rows, slice(max(0, int(x0 * scale) - margin), int(x1 * scale) + 1 + margin)


def check_picture(picture: Picture, rects: Iterable[Rect], scale: float) -> None:
    """Ink is under every rectangle, and nowhere else."""
    image = grey(picture).copy()
    rects = list(rects)
    assert rects
    for rect in rects:
        assert image[cut(image, rect, scale)].min() < DARK, f"nothing is drawn at {rect}"
    for rect in rects:
        image[cut(image, rect, scale, margin=2)] = 255
    assert image.min() > LIGHT, "something is drawn where no word is"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True], ids=["whole", "cropped"])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_words_lie_on_their_pixels(
    tmp_path: Path, rotation: int, cropped: bool, scale: float
) -> None:
    file = tmp_path / "turned.pdf"
    document = pymupdf.open()
    page = document.new_page(width=400, height=600)
    page.insert_text((30, 30), "outside the visible part")
    for number, line in enumerate(WORDS.split("\n")):
        page.insert_text((90, 220 + 20 * number), line, fontsize=12)
    if cropped:
        page.set_cropbox(pymupdf.Rect(60, 180, 380, 520))
    page.set_rotation(rotation)
    document.save(file)
    opened = open_document(file)
    read, picture = opened.page(1), opened.draw(1, scale)
    expected = WORDS.split() if cropped else ["outside", "the", "visible", "part", *WORDS.split()]
    assert read.text.split() == expected
    width, height = (320, 340) if cropped else (400, 600)
    points = (width, height) if rotation % 180 == 0 else (height, width)
    assert picture.points == points
    assert (picture.width, picture.height) == tuple(round(side * scale) for side in points)
    check_picture(picture, (word.rect for word in read.words), scale)
    for word in read.words:
        (rect,) = rects_of(read.words, word.start, word.end)
        assert rect == word.rect
    # A phrase is one bar over its words: "Alpha beta gamma" is one line, and its ink is all there.
    start = read.text.index("Alpha")
    bars = rects_of(read.words, start, start + len("Alpha beta gamma"))
    assert len(bars) == 1
    opened.close()


def test_every_page_of_the_handbook_has_its_ink_under_words(handbook: Path) -> None:
    opened = open_document(handbook)
    number = 5
    read, image = opened.page(number), grey(opened.draw(number, 1.0))
    dark = [image[cut(image, word.rect, 1.0)].min() < 200 for word in read.words]
    assert all(dark)
    assert opened.page(number) == read  # the same at every reading
    opened.close()


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    return makers.pdf(
        tmp_path / "locked.pdf",
        ["a secret heron"],
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        user_pw="öpen",
        owner_pw="owner",
    )


def test_a_locked_file_asks_for_its_password(locked: Path) -> None:
    with pytest.raises(PasswordNeededError, match=r"locked with a password"):
        open_document(locked)


@pytest.mark.parametrize("wrong", ["", "open", "ÖPEN", "x" * 500])
def test_a_wrong_password_is_said_to_be_wrong(locked: Path, wrong: str) -> None:
    with pytest.raises(PasswordNeededError, match="does not open"):
        open_document(locked, password=wrong)


@pytest.mark.parametrize("password", ["öpen", "owner"])
def test_the_right_password_opens_and_a_copy_needs_none(
    locked: Path, tmp_path: Path, password: str
) -> None:
    opened = open_document(locked, password=password)
    assert opened.locked
    assert opened.page(1).text == "a secret heron"
    opened.save_unlocked(tmp_path / "copy.pdf")
    opened.close()
    copy = open_document(tmp_path / "copy.pdf")
    assert not copy.locked
    assert copy.page(1).text == "a secret heron"
    copy.close()


@pytest.mark.parametrize("password", [None, "anything"])
def test_a_file_with_an_owner_password_only_opens_at_once(
    tmp_path: Path, password: str | None
) -> None:
    file = makers.pdf(
        tmp_path / "owned.pdf",
        ["free to read"],
        encryption=pymupdf.PDF_ENCRYPT_AES_128,
        owner_pw="owner",
        permissions=0,
    )
    opened = open_document(file, password=password)
    assert not opened.locked
    assert opened.page(1).text == "free to read"
    opened.close()


def test_bad_files_are_named_and_explained(tmp_path: Path) -> None:
    empty, text, cut_off = (tmp_path / name for name in ("empty.pdf", "text.pdf", "cut.pdf"))
    empty.write_bytes(b"")
    text.write_bytes(b"<html>not found</html>")
    whole = makers.pdf(tmp_path / "whole.pdf", ["one", "two"]).read_bytes()
    cut_off.write_bytes(whole[:300])
    folder = tmp_path / "folder.pdf"
    folder.mkdir()
    for path, what in [
        (empty, "is empty"),
        (text, "is not a PDF"),
        (cut_off, "is damaged"),
        (folder, "is a folder"),
        (tmp_path / "missing.pdf", "is not there"),
        (tmp_path / ("long" * 100), "can't be read"),
    ]:
        with pytest.raises(UserFacingError, match=what) as caught:
            open_document(path)
        assert path.name in str(caught.value)
        assert caught.value.remedy
        assert not isinstance(caught.value, PasswordNeededError)


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_file_is_an_error_or_is_read(tmp_path: Path, seed: int) -> None:
    """Bytes overwritten anywhere never raise anything but a UserFacingError."""
    random = np.random.default_rng(seed)
    file = makers.pdf(
        tmp_path / "hurt.pdf", [WORDS] * 6, toc=[(1, "One", 1), (2, "Two", 3)], deflate=False
    )
    data = bytearray(file.read_bytes())
    for _ in range(40):
        data[int(random.integers(20, len(data)))] = int(random.integers(0, 256))
    file.write_bytes(data)
    try:
        opened = open_document(file)
    except UserFacingError:
        return
    opened.outline()
    opened.has_pictures()
    for number in range(1, opened.page_count + 1):
        read = opened.page(number)
        assert all(read.text[w.start : w.end] for w in read.words)
        try:
            opened.draw(number, 0.2)
        except UserFacingError:
            continue
    opened.close()


def test_a_page_that_cant_be_read_is_empty_and_noted(tmp_path: Path) -> None:
    file = makers.pdf(tmp_path / "loop.pdf", ["first", "second", "third"])
    document = pymupdf.open(file)
    document.xref_set_key(document.page_xref(1), "Type", "/Nonsense")
    document.xref_set_key(document.page_xref(1), "MediaBox", "null")
    tree = re.search(r"\d+", document.xref_get_key(document.page_xref(0), "Parent")[1])
    assert tree
    document.xref_set_key(document.page_xref(1), "Kids", f"[{tree.group()} 0 R]")
    document.save(tmp_path / "hurt.pdf")
    opened = open_document(tmp_path / "hurt.pdf")
    texts = [opened.page(number).text for number in range(1, opened.page_count + 1)]
    assert texts[0] == "first"
    opened.page(10_000)
    assert opened.warnings[-1] == "Page 10000 is damaged and could not be read"
    with pytest.raises(UserFacingError, match="Page 10000"):
        opened.draw(10_000, 1)
    opened.close()


def test_labels_are_what_is_printed(tmp_path: Path) -> None:
    labels = [
        {"startpage": 0, "style": "r", "firstpagenum": 1},
        {"startpage": 2, "prefix": "A-", "style": "D", "firstpagenum": 7},
    ]
    opened = open_document(makers.pdf(tmp_path / "l.pdf", ["x"] * 4, labels=labels))
    assert [opened.label(number) for number in range(1, 5)] == ["i", "ii", "A-7", "A-8"]
    assert opened.page(3).label == "A-7"
    opened.close()


def test_without_labels_and_outline(tmp_path: Path) -> None:
    opened = open_document(makers.pdf(tmp_path / "bare #1.pdf", ["x", "y"]))
    assert [opened.label(1), opened.label(2)] == ["1", "2"]
    assert opened.outline() == []
    assert opened.title == "bare #1"  # the file's name where it says no title
    assert not opened.has_pictures()
    assert opened.warnings == []
    opened.close()


def test_the_outline_names_pages_and_heights(tmp_path: Path) -> None:
    toc = [(1, "One", 1), (2, "  Spaced \n out ", 2), (1, "Two", 2), (1, " ", 2)]
    opened = open_document(makers.pdf(tmp_path / "o.pdf", ["x", "y"], toc=toc, title=" A Title "))
    assert [(h.level, h.title, h.page) for h in opened.outline()] == [
        (1, "One", 1),
        (2, "Spaced out", 2),
        (1, "Two", 2),
    ]
    assert opened.title == "A Title"
    opened.close()


def test_a_huge_page_is_drawn_smaller(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page(width=14_000, height=9_000)
    document.save(tmp_path / "huge.pdf")
    opened = open_document(tmp_path / "huge.pdf")
    for scale in (0.1, 1.0, 100.0):
        picture = opened.draw(1, scale)
        assert picture.width * picture.height <= MAX_PIXELS * 1.001
        assert picture.points == (14_000, 9_000)
        assert len(picture.pixels) == 3 * picture.width * picture.height
    opened.close()


def test_ligatures_come_apart(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_htmlbox(pymupdf.Rect(50, 50, 500, 300), "<p>ﬁnal ﬂow eﬃcient</p>")
    document.save(tmp_path / "fi.pdf")
    opened = open_document(tmp_path / "fi.pdf")
    assert opened.page(1).text == "final flow efficient"
    opened.close()


def test_pictures_are_seen(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 20))
    page.insert_image(pymupdf.Rect(0, 0, 200, 200), pixmap=pixmap)
    document.save(tmp_path / "scan.pdf")
    opened = open_document(tmp_path / "scan.pdf")
    assert opened.has_pictures()
    assert opened.page(1).text == ""
    opened.close()
