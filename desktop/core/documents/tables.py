"""Tables, found by where their cells stand: a page's text has each cell on a line of its own.

Lines that follow each other to the right at one height are the cells of a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.documents.page_text import around
from desktop.core.text.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desktop.core.records import Page, Rect

LEAST_ROWS = 3
"""Rows of several cells that make a table; two lines side by side are most often a formula."""
MOST_WORDS = 10
"""Words that the cells of a column have at most, on average: more is text in columns."""
NUMBERS = 0.2
"""Share of a table's cells that are numbers, at least."""
SIGNS = 0.2
"""Share of the cells that are neither words nor numbers, at most: equations have a column of
equals signs, and a list of contents has dots."""
_TOGETHER = 0.5
"""Share of the lower of two lines that is at the height of the other, where they are one row."""
_OVERLAP = 0.3
"""Heights of a line that the boxes of two lines may share: set tightly, they do by a little."""
_LEADING = 0.8
"""Heights of a line that may be between the lines of one cell."""


@dataclass(frozen=True)
class _Line:
    start: int
    end: int
    block: int
    rect: Rect


@dataclass
class _Cell:
    lines: list[_Line]

    @property
    def left(self) -> float:
        return min(line.rect[0] for line in self.lines)

    @property
    def right(self) -> float:
        return max(line.rect[2] for line in self.lines)

    def text(self, page: str) -> str:
        return " ".join(" ".join(page[line.start : line.end].split()) for line in self.lines)


_Cells = list[_Cell]


def find(page: Page) -> tuple[Table, ...]:
    """Return a page's tables, from above.

    Args:
        page: As read, with the places of its words.
    """
    found = []
    for rows in _runs(_parted(_rows(_lines(page)))):
        table = _table(page.text, rows)
        columns = list(zip(*(row.cells for row in table.rows), strict=True))
        words = max(sum(len(cell.split()) for cell in column) for column in columns)
        filled = [cell for column in columns for cell in column if cell]
        numbers = sum(map(_is_number, filled))
        signs = sum(not any(map(str.isalnum, cell)) for cell in filled)
        wordy = words > MOST_WORDS * len(table.rows)
        if not wordy and numbers >= NUMBERS * len(filled) and signs <= SIGNS * len(filled):
            found.append(table)
    return tuple(found)


def _lines(page: Page) -> Iterator[_Line]:
    held: _Line | None = None
    block = 0
    for word in page.words:
        gap = page.text[held.end : word.start] if held else ""
        if held is None or "\n" in gap:
            if held is not None:
                yield held
            block += gap.count("\n") > 1
            held = _Line(word.start, word.end, block, word.rect)
            continue
        held = _Line(held.start, word.end, block, around(held.rect, word.rect))
    if held is not None:
        yield held


def _rows(lines: Iterator[_Line]) -> Iterator[_Cells]:
    """Yield rows: runs of cells, each to the right of the one before."""
    row: _Cells = []
    for line in lines:
        if row and _goes_on(row[-1].lines[-1], line):
            row[-1].lines.append(line)
        elif row and _is_beside(row, line):
            row.append(_Cell([line]))
        else:
            if row:
                yield row
            row = [_Cell([line])]
    if row:
        yield row


def _goes_on(above: _Line, line: _Line) -> bool:
    """Whether a line is the next one of the same cell."""
    left, top, right, bottom = line.rect
    height = bottom - top
    under = -_OVERLAP * height < top - above.rect[3] < _LEADING * height
    return above.block == line.block and under and left < above.rect[2] and right > above.rect[0]


def _is_beside(row: _Cells, line: _Line) -> bool:
    left, top, _, bottom = line.rect
    if left < row[-1].right - 1:
        return False
    return any(
        min(bottom, other.rect[3]) - max(top, other.rect[1])
        > _TOGETHER * min(bottom - top, other.rect[3] - other.rect[1])
        for cell in row
        for other in cell.lines
    )


def _parted(rows: Iterator[_Cells]) -> Iterator[_Cells]:
    """Yield rows, and those of a table that is written column by column one by one."""
    for row in rows:
        count = len(row[0].lines)
        if len(row) > 1 and count >= LEAST_ROWS and all(len(c.lines) == count for c in row):
            yield from ([_Cell([cell.lines[n]]) for cell in row] for n in range(count))
        else:
            yield row


def _runs(rows: Iterator[_Cells]) -> Iterator[list[_Cells]]:
    """Yield rows of several cells that follow each other, where they are enough for a table.

    A single line between two of them that are alike belongs to the table too.
    """
    run: list[_Cells] = []
    between: list[_Cells] = []
    for row in rows:
        if run and _overlap((between or run)[-1], row):
            yield from _enough(run)
            run, between = [], []
        if len(row) > 1:
            if between and len(row) != len(run[-1]):
                yield from _enough(run)
                run, between = [], []
            run += [*between, row]
            between = []
        elif run and not between and len(row[0].lines) == 1:
            between = [row]
        else:
            yield from _enough(run)
            run, between = [], []
    yield from _enough(run)


def _overlap(above: _Cells, row: _Cells) -> bool:
    """Whether a row begins higher than the one above it ends, as the parts of fractions do."""
    top = min(line.rect[1] for cell in row for line in cell.lines)
    heights = [line.rect[3] - line.rect[1] for cell in row for line in cell.lines]
    bottom = max(line.rect[3] for cell in above for line in cell.lines)
    return top < bottom - _OVERLAP * min(heights)


def _enough(run: list[_Cells]) -> Iterator[list[_Cells]]:
    if sum(len(row) > 1 for row in run) >= LEAST_ROWS:
        yield run


def _table(page: str, rows: list[_Cells]) -> Table:
    first = [cell.text(page) for cell in rows[0]]
    rest = [cell.text(page) for row in rows[1:] for cell in row]
    numbers = sum(map(_is_number, first)) / len(first)
    headed = numbers < 0.5 * sum(map(_is_number, rest)) / len(rest)
    columns = _columns(page, rows, headed=headed)
    made = [
        Row(
            min(line.start for cell in row for line in cell.lines),
            max(line.end for cell in row for line in cell.lines),
            _placed(page, row, columns),
        )
        for row in rows
    ]
    heading = made[0].cells if headed else ()
    return Table(made[0].start, made[-1].end, heading, tuple(made[headed:]))


def _columns(page: str, rows: list[_Cells], *, headed: bool) -> list[tuple[float, float]]:
    """Return where the columns are, by the row with the most cells.

    A column of words without a heading of its own ("5,820.00 pounds") belongs to the one before.
    """
    widest = max(rows[headed:], key=len)
    spans = [(cell.left, cell.right) for cell in widest]
    if not headed or len(rows[0]) >= len(spans):
        return spans
    merged = spans[:1]
    for (_, before), (left, right), cell in zip(spans, spans[1:], widest[1:], strict=False):
        shared = any(h.left < before and h.right > left for h in rows[0])
        if shared and not _is_number(cell.text(page)):
            merged[-1] = (merged[-1][0], right)
        else:
            merged.append((left, right))
    return merged


def _placed(page: str, row: _Cells, columns: list[tuple[float, float]]) -> tuple[str, ...]:
    """Return a row's texts by columns: each cell goes to the one that it is under or nearest to."""
    texts: list[list[str]] = [[] for _ in columns]
    if len(row) == 1:  # it spans them all
        texts[0] = [row[0].text(page)]
    taken = -1
    for place, cell in enumerate(row if len(row) > 1 else ()):
        room = len(columns) - (len(row) - place)  # so that the cells after it have columns too
        nearest = max(
            range(len(columns)),
            key=lambda n: min(cell.right, columns[n][1]) - max(cell.left, columns[n][0]),
        )
        taken = min(max(nearest, taken + 1), max(room, taken + 1), len(columns) - 1)
        if len(row) > len(columns):
            taken = nearest
        texts[taken].append(cell.text(page))
    return tuple(" ".join(" ".join(parts).replace("|", "/").split()) for parts in texts)


def _is_number(text: str) -> bool:
    return sum(c.isdigit() for c in text) * 2 >= sum(c.isalnum() for c in text) > 0
