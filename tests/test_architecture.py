"""The layers of the design, held by tests."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "desktop"
HEAVY = ("torch", "sentence_transformers", "lancedb", "llama_cpp", "pymupdf", "transformers",
         "numpy", "pyarrow")  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Top-level names that a module imports anywhere, and whole names of its own package."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return found


def importers(library: str) -> set[str]:
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if any(name == library or name.startswith(library + ".") for name in imports(path))
    }


def test_core_imports_no_qt() -> None:
    assert not {name for name in importers("PySide6") if name.startswith("core/")}


def test_core_knows_neither_window_nor_workers_nor_command_line() -> None:
    for upper in ("desktop.ui", "desktop.worker", "desktop.cli", "desktop.app"):
        assert not {name for name in importers(upper) if name.startswith("core/")}


def test_only_the_store_imports_lancedb() -> None:
    assert importers("lancedb") == {"core/library/store.py"}


def test_only_the_engine_and_its_parts_import_llama_cpp() -> None:
    parts = ("engine", "kv_cache", "sampler", "vocabulary")
    assert importers("llama_cpp") == {
        "core/llm/hardware/accelerator.py",
        *(f"core/llm/runtime/{part}.py" for part in parts),
    }


def test_only_the_pdf_reader_imports_pymupdf() -> None:
    assert importers("pymupdf") == {"core/documents/pdf.py"}


def test_the_steps_of_an_answer_load_nothing_heavy() -> None:
    """The window takes them up with the first question."""
    code = (
        "import sys, desktop.core.answering.pipeline.steps; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_window_starts_no_thread_of_its_own() -> None:
    assert not {name for name in importers("threading") if name.startswith("ui/")}


def test_packaging_is_no_package() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_module_says_what_it_is_and_stays_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 400


@pytest.mark.parametrize("module", ["desktop.ui", "desktop.app", "desktop.ui.shell.main_window"])
def test_the_window_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"
