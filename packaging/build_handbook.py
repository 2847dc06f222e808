"""Build resources/handbook/handbook.pdf from handbook.html: `python packaging/build_handbook.py`.

The HTML is well-formed XML, its style sheet included. Each block of the body is laid out as a
`pymupdf.Story` of its own, so that a heading can be kept with what follows it and no single line
of a paragraph is left alone on a page. Only fonts that come with PyMuPDF are used, and the same
HTML gives the same bytes.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import pymupdf

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "resources/handbook/handbook.html"
TARGET = SOURCE.with_suffix(".pdf")
ICON = ROOT / "resources/icons/lutrin.svg"

PAPER = pymupdf.Rect(0, 0, 499, 709)  # B5
FRAME = pymupdf.Rect(62, 62, 437, 640)
LINE = 10.5 * 1.42  # of body text, points
TITLE_Y = 330
EMBLEM = pymupdf.Rect(FRAME.x0, 170, FRAME.x0 + 130, 300)
INSET = 100  # of the equation, on either side
SPACE = {"h1": (0, 12), "h2": (13, 4), "math": (2, 8), "table": (4, 10), "div": (4, 8)}
LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}
ID = b"Lutrin Handbook.".hex()
LIGATURE = re.compile(rb"<(\w{4})> (?:<(\w{4})> )?<(FB0[0-4])>", re.IGNORECASE)
XHTML = "http://www.w3.org/1999/xhtml"


@dataclass
class Heading:
    """A heading where it was placed; `page` counts from 1."""

    level: int
    title: str
    page: int
    y: float


@dataclass
class Layout:
    """A document that grows block by block."""

    css: str
    buffer: io.BytesIO = field(default_factory=io.BytesIO)
    headings: list[Heading] = field(default_factory=list)
    page: int = 0
    y: float = FRAME.y1

    def __post_init__(self) -> None:
        """Open the first page."""
        self.writer = pymupdf.DocumentWriter(self.buffer)
        self.new_page()

    def story(self, html: str) -> pymupdf.Story:
        """Return `html` ready to be placed."""
        return pymupdf.Story(html, user_css=self.css)

    def height(self, html: str, inset: float = 0) -> float:
        """Return how high `html` is when nothing breaks it."""
        rect = pymupdf.Rect(FRAME.x0 + inset, 0, FRAME.x1 - inset, 10_000)
        return float(self.story(html).place(rect)[1][3])

    def new_page(self) -> None:
        """Finish the page with its number and start another."""
        if self.page:
            self.end_page()
        self.device = self.writer.begin_page(PAPER)
        self.page += 1
        self.y = FRAME.y0

    def end_page(self) -> None:
        """Write the page's number, on all pages but the first, and finish it."""
        if self.page > 1:
            self.draw(
                self.story(f'<p class="edition" style="text-align: center">{self.page}</p>'),
                pymupdf.Rect(FRAME.x0, FRAME.y1 + 20, FRAME.x1, PAPER.y1),
            )
        self.writer.end_page()

    def draw(self, story: pymupdf.Story, rect: pymupdf.Rect) -> tuple[bool, float]:
        """Draw what fits into `rect`; return whether more is left, and where the text ends."""
        more, filled = story.place(rect)
        story.draw(self.device)
        return bool(more), float(filled[3])

    def add(self, html: str, inset: float = 0) -> None:
        """Place a block that stays whole."""
        rect = pymupdf.Rect(FRAME.x0 + inset, self.y, FRAME.x1 - inset, FRAME.y1 + 1)
        more, self.y = self.draw(self.story(html), rect)
        if more:
            message = f"does not fit on page {self.page}: {html[:60]}"
            raise ValueError(message)

    def add_paragraph(self, html: str) -> None:
        """Place a paragraph, at least two lines of it on either side of a page break."""
        lines = round(self.height(html) / LINE)
        fit = int((FRAME.y1 - self.y + 1) / LINE)
        story = self.story(html)
        if lines > fit:
            first = min(fit, lines - 2)
            if first >= 2:
                end = self.y + first * LINE + 1
                self.draw(story, pymupdf.Rect(FRAME.x0, self.y, FRAME.x1, end))
            else:
                story = self.story(html)
            self.new_page()
        self.y = self.draw(story, pymupdf.Rect(FRAME.x0, self.y, FRAME.x1, FRAME.y1 + 1))[1]


def markup(element: ElementTree.Element) -> str:
    """Return an element as HTML; a formula becomes a table of one row."""
    if element.tag != "math":
        return ElementTree.tostring(element, encoding="unicode").strip()
    cells = []
    for part in element:
        if part.tag == "mfrac":
            top, bottom = (" ".join(symbol(node) for node in row.iter()).strip() for row in part)
            cells.append(f'<td><div class="over">{top}</div><div>{bottom}</div></td>')
        else:
            cells.append(f'<td class="beside">{symbol(part)}</td>')
    return f'<table class="equation"><tr>{"".join(cells)}</tr></table>'


def symbol(part: ElementTree.Element) -> str:
    """Return an end node of a formula as HTML, names in italics."""
    return f"<i>{part.text}</i>" if part.tag == "mi" else part.text or ""


def inset(block: ElementTree.Element) -> float:
    """Return by how much a block is narrower than the frame, on either side."""
    return INSET if block.tag == "math" else 0


def needed(layout: Layout, blocks: list[ElementTree.Element]) -> float:
    """Return the height that must be free for the first block to be placed here."""
    block = blocks[0]
    height = layout.height(markup(block), inset(block))
    follower = blocks[1].tag if len(blocks) > 1 else ""
    if block.tag in ("h1", "h2") or follower == "math":
        return height + SPACE.get(block.tag, (0, 6))[1] + needed(layout, blocks[1:])
    return min(height, 2 * LINE) if block.tag == "p" else height


def fill(layout: Layout, blocks: list[ElementTree.Element]) -> None:
    """Place the chapters, each on a new page, and note where the headings came to stand."""
    for index, block in enumerate(blocks):
        before, after = SPACE.get(block.tag, (0, 6))
        if layout.y > FRAME.y0:
            end = layout.y + before + needed(layout, blocks[index:])
            if block.tag == "h1" or end > FRAME.y1:
                layout.new_page()
            else:
                layout.y += before
        if block.tag in ("h1", "h2"):
            title = " ".join("".join(block.itertext()).split())
            layout.headings.append(Heading(int(block.tag[1]), title, layout.page, layout.y))
        if block.tag == "p":
            layout.add_paragraph(markup(block))
        else:
            layout.add(markup(block), inset(block))
        layout.y += after


def compose(html: ElementTree.Element, chapters: list[Heading]) -> Layout:
    """Lay out title page, contents (of the chapters as an earlier run found them) and text."""
    blocks = list(html.iterfind("body/*"))
    first = next(i for i, block in enumerate(blocks) if block.tag == "h1")
    layout = Layout(html.findtext("head/style") or "")
    layout.y = TITLE_Y
    for block in blocks[:first]:
        layout.add(markup(block))
        layout.y += 8
    layout.new_page()
    layout.add("<h1>Contents</h1>")
    layout.y += 8
    for chapter in chapters:
        row = f'<td class="name">{chapter.title}</td><td class="number">{chapter.page}</td>'
        layout.y += 4
        layout.add(f'<table class="contents"><tr>{row}</tr></table>')
    layout.new_page()
    fill(layout, blocks[first:])
    layout.end_page()
    layout.writer.close()
    return layout


def finish(layout: Layout, title: str) -> bytes:
    """Return the file with emblem, links, outline, properties, and only the glyphs it uses."""
    # Saving once merges the fonts that the stories share.
    document = pymupdf.open("pdf", layout.buffer.getvalue())
    document = pymupdf.open("pdf", document.tobytes(garbage=4))
    emblem = pymupdf.open("pdf", pymupdf.open(ICON).convert_to_pdf())
    document[0].show_pdf_page(EMBLEM, emblem)
    document.subset_fonts()
    spell_ligatures(document)
    contents = document[1]
    for heading in (heading for heading in layout.headings if heading.level == 1):
        row = contents.search_for(heading.title)[0]
        row.x1 = FRAME.x1
        target = pymupdf.Point(0, heading.y)
        contents.insert_link(
            {"kind": pymupdf.LINK_GOTO, "from": row, "page": heading.page - 1, "to": target}
        )
    document.set_toc(
        [
            [h.level, h.title, h.page, {"kind": pymupdf.LINK_GOTO, "to": pymupdf.Point(0, h.y)}]
            for h in layout.headings
        ]
    )
    document.set_metadata({"title": title, "author": "The Lutrin authors"})
    fix_names(document)
    return bytes(document.tobytes(garbage=4, deflate=True, no_new_id=True, use_objstms=True))


def spell_ligatures(document: pymupdf.Document) -> None:
    """Let "fi" drawn as one glyph be found, copied and read as the two letters it stands for."""
    for xref in range(1, document.xref_length()):
        kind, value = document.xref_get_key(xref, "ToUnicode")
        if kind == "xref":
            target = int(value.split()[0])
            document.update_stream(target, LIGATURE.sub(spelt, document.xref_stream(target)))


def spelt(match: re.Match[bytes]) -> bytes:
    """Return a line of a font's table of characters with the letters of its ligatures."""
    start, end, code = match.groups()
    count = int(end, 16) - int(start, 16) + 1 if end else 1
    letters = [LIGATURES[int(code, 16) + i].encode("utf-16-be").hex() for i in range(count)]
    texts = " ".join(f"<{text}>" for text in letters)
    return (
        f"<{start.decode()}> <{end.decode()}> [{texts}]" if end else f"<{start.decode()}> {texts}"
    ).encode()


def fix_names(document: pymupdf.Document) -> None:
    """Replace what is drawn by lot, the tags of font subsets and the file's id, by fixed values."""
    tags: dict[str, str] = {}
    for xref in range(1, document.xref_length()):
        for key in ("BaseFont", "FontName"):
            kind, value = document.xref_get_key(xref, key)
            if kind == "name" and "+" in value:
                tag = tags.setdefault(value, f"LUTRI{chr(ord('A') + len(tags))}")
                name = value.split("+", 1)[1].replace(" ", "#20")
                document.xref_set_key(xref, key, f"/{tag}+{name}")
    document.xref_set_key(-1, "ID", f"[<{ID}> <{ID}>]")


def build() -> bytes:
    """Return the handbook as a PDF."""
    source = SOURCE.read_text(encoding="utf-8").replace(f' xmlns="{XHTML}"', "")
    html = ElementTree.fromstring(source)
    draft = compose(html, [])
    layout = compose(html, [heading for heading in draft.headings if heading.level == 1])
    return finish(layout, html.findtext("head/title") or "")


if __name__ == "__main__":
    TARGET.write_bytes(build())
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size / 1000:.0f} kB")
