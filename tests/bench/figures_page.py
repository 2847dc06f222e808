"""The page docs/figures.md, section by section: each bench writes its own and keeps the others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TARGET = Path(__file__).resolve().parents[2] / "docs" / "figures.md"
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


def put(sections: Mapping[str, Sequence[str]], page: Path = TARGET) -> None:
    """Write sections of the page, by their headings; those that are there are replaced."""
    head, *parts = _SECTION.split(page.read_text(encoding="utf-8"))
    kept = {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}
    kept |= {name: "\n".join(lines).strip() for name, lines in sections.items()}
    texts = [f"## {name}\n\n{text}" for name, text in kept.items()]
    page.write_text("\n\n".join([head.strip(), *texts]) + "\n", encoding="utf-8")
