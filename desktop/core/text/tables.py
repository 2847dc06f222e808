"""Tables as rows: what a reader that can't see the page reads instead of one cell a line.

Where a page has them is found by `desktop.core.documents.tables`; a text and its offsets stay as
they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        start: Offset of its first character in the text.
        end: Offset after its last one.
        cells: One for each column; "" where there is none.
    """

    start: int
    end: int
    cells: tuple[str, ...]

    def __str__(self) -> str:
        """Return it as Markdown has it."""
        return f"| {' | '.join(self.cells)} |"


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        start: Offset of its first row that is in the text.
        end: Offset after its last one.
        heading: What stands above the columns; empty where nothing does.
        rows: All others, from above.
    """

    start: int
    end: int
    heading: tuple[str, ...]
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        """Return it as Markdown has it: language models know it well."""
        lines = [str(row) for row in self.rows]
        if self.heading:
            lines[:0] = [str(Row(0, 0, self.heading)), "|---" * len(self.heading) + "|"]
        return "\n".join(lines)


def within(tables: Sequence[Table], start: int, end: int) -> tuple[Table, ...]:
    """Return what a part of the page has of its tables, counted from the start of the part.

    Every table keeps its heading, wherever that stands.
    """
    parts = []
    for table in tables:
        rows = [
            replace(row, start=row.start - start, end=row.end - start)
            for row in table.rows
            if start <= row.start and row.end <= end
        ]
        if rows:
            first = table.start - start if table.start >= start else rows[0].start
            parts.append(Table(first, rows[-1].end, table.heading, tuple(rows)))
    return tuple(parts)


def whole(tables: Iterable[Table], start: int, end: int) -> tuple[int, int]:
    """Return where a part of a text begins and ends together with the tables that it touches."""
    for table in tables:
        if table.start < end and table.end > start:
            start, end = min(start, table.start), max(end, table.end)
    return start, end


def laid_out(text: str, tables: Sequence[Table]) -> str:
    """Return a text with its tables in rows."""
    pieces, position = [], 0
    for table in tables:
        pieces += [text[position : table.start].rstrip(), str(table)]
        position = table.end
    return "\n\n".join(piece for piece in [*pieces, text[position:].lstrip("\n")] if piece)
