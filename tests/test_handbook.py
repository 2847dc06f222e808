"""The committed handbook.pdf: its outline, its text, and that it was built from today's HTML."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pymupdf
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "resources/handbook"
NAMES = {"h": "http://www.w3.org/1999/xhtml"}


def fold(text: str) -> str:
    return " ".join(text.split())


def words_of(element: ElementTree.Element) -> str:
    return fold("".join(element.itertext()))


@pytest.fixture(scope="module")
def html() -> ElementTree.Element:
    return ElementTree.fromstring((FOLDER / "handbook.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def document() -> pymupdf.Document:
    return pymupdf.open(FOLDER / "handbook.pdf")


@pytest.fixture(scope="module")
def pages(document: pymupdf.Document) -> list[str]:
    """Return the text of each page without its number."""
    texts = [fold(page.get_text()) for page in document]
    return [text.removesuffix(f" {number}") for number, text in enumerate(texts, 1)]


def test_outline_points_at_the_headings(
    html: ElementTree.Element, document: pymupdf.Document
) -> None:
    outline = document.get_toc(simple=False)
    headings = [e for e in html.iter() if e.tag.endswith(("}h1", "}h2"))]
    assert [(level, title) for level, title, *_ in outline] == [
        (int(e.tag[-1]), words_of(e)) for e in headings
    ]
    assert sum(level == 1 for level, *_ in outline) >= 8
    assert sum(level == 2 for level, *_ in outline) >= 16
    for _level, title, number, target in outline:
        tops = [rect.y0 for rect in document[number - 1].search_for(title)]
        assert min(abs(top - target["to"].y) for top in tops) < 6, title


def test_contents_name_and_link_the_pages(document: pymupdf.Document) -> None:
    chapters = [(title, number) for level, title, number in document.get_toc() if level == 1]
    text = fold(document[1].get_text())
    for title, number in chapters:
        assert f"{title} {number}" in text
    links = sorted(document[1].get_links(), key=lambda link: link["from"].y0)
    assert [link["page"] + 1 for link in links] == [number for _, number in chapters]


def test_text_stands_on_its_page_in_reading_order(pages: list[str]) -> None:
    sentences = (
        "The library keeps its own copy of each PDF that you add.",
        "You can therefore move, rename or delete the original file,",
        "On Linux the data folder is ~/.local/share/lutrin.",
        "To back up your library, close Lutrin and copy the whole data folder.",
    )
    (page,) = [text for text in pages if text.startswith("7 Your books and your privacy")]
    places = [page.find(sentence) for sentence in sentences]
    assert -1 not in places
    assert places == sorted(places)


def test_table_and_equation_can_be_read(html: ElementTree.Element, pages: list[str]) -> None:
    (table,) = html.iterfind("h:body/h:table", NAMES)
    cells = [words_of(cell) for row in table for cell in row]
    (page,) = [text for text in pages if text.startswith("4 The three modes")]
    assert len(cells) == 16
    assert " ".join(cells) in page
    assert any("receives score = 0.45 t + 0.45 m + 0.1 s" in p for p in pages)


def test_is_built_from_the_html(html: ElementTree.Element, pages: list[str]) -> None:
    text = " ".join(pages)
    kinds = ("}h1", "}h2", "}p", "}li", "}td", "}div")
    blocks = [words_of(e) for e in html.iter() if e.tag.endswith(kinds)]
    assert [block for block in blocks if block not in text] == []


def test_is_a_well_made_file(document: pymupdf.Document) -> None:
    assert document.metadata["title"] == "Lutrin Handbook"
    assert 10 <= len(document) <= 16
    assert (FOLDER / "handbook.pdf").stat().st_size < 300_000
    fonts = {font for page in document for font in page.get_fonts()}
    assert all("+" in name and kind != "n/a" for _, kind, _, name, *_ in fonts)


@pytest.mark.parametrize(
    "icon", sorted((FOLDER.parent / "icons").glob("*.svg")), ids=lambda p: p.stem
)
def test_icons_can_be_drawn_and_recoloured(icon: Path) -> None:
    root = ElementTree.fromstring(icon.read_text(encoding="utf-8"))
    assert root.get("viewBox") == ("0 0 64 64" if icon.stem == "lutrin" else "0 0 20 20")
    assert icon.stem == "lutrin" or [e.get("stroke") for e in root] == ["#000000"]
