from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

FILE = Path(__file__).parent / "bench" / "figures_page.py"


@pytest.fixture
def figures_page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("figures_page", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_bench_writes_its_section_and_keeps_the_others(
    figures_page: ModuleType, tmp_path: Path
) -> None:
    page = tmp_path / "figures.md"
    page.write_text("# Figures\n\nOf books.\n\n## One\n\nold\n\n### In it\n\nx\n\n## Two\n\nkept\n")
    figures_page.put({"One": ["new", "", "### Part", "y"], "Three": ["more"]}, page)
    one, two, three = "## One\n\nnew\n\n### Part\ny", "## Two\n\nkept", "## Three\n\nmore"
    assert page.read_text() == f"# Figures\n\nOf books.\n\n{one}\n\n{two}\n\n{three}\n"
    before = page.read_text()
    figures_page.put({"Three": ["more"]}, page)
    assert page.read_text() == before
