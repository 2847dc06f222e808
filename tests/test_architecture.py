"""The layers of the design, held by tests."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "desktop"
HEAVY = ("torch", "sentence_transformers", "lancedb", "llama_cpp", "pymupdf", "transformers",
         "numpy", "pyarrow")  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def imports(path: Path) -> frozenset[str]:
    """What a module imports anywhere, in functions and for the type checker too.

    Of `from a import b` it is "a.b", whether that is a module or something in one.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph() -> dict[str, set[str]]:
    """Module of ours -> modules of ours that it imports."""
    modules = {dotted(path): path for path in MODULES}
    graph = {}
    for module, path in modules.items():
        names = (n if n in modules else n.rpartition(".")[0] for n in imports(path))
        graph[module] = {name for name in names if name in modules}
    return graph


def between_parts(graph: Mapping[str, Set[str]], package: str) -> dict[str, set[str]]:
    """Module or package right below a package -> those beside it that it imports from."""
    depth = package.count(".") + 2

    def part(module: str) -> str:
        return ".".join(module.split(".")[:depth])

    parts: dict[str, set[str]] = {}
    for module, imported in graph.items():
        if module.startswith(package + "."):
            inside = {part(name) for name in imported if name.startswith(package + ".")}
            parts.setdefault(part(module), set()).update(inside - {part(module)})
    return parts


def circle(graph: Mapping[str, Set[str]]) -> list[str]:
    """Return one circle of a graph, each importing the next, the first and last the same."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def test_a_circle_is_found_wherever_it_is() -> None:
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    found = circle({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}})
    assert found[0] == found[-1]
    assert "".join(found) in {"bcdb", "cdbc", "dbcd"}
    assert circle({"a": {"a"}}) == ["a", "a"]


def test_a_circle_between_packages_is_found_where_modules_have_none() -> None:
    graph = {"p.a.one": {"p.b.two"}, "p.b.two": set(), "p.b.three": {"p.a.four"}, "p.a.four": set()}
    assert circle(graph) == []
    assert between_parts(graph, "p") == {"p.a": {"p.b"}, "p.b": {"p.a"}}
    assert sorted(set(circle(between_parts(graph, "p")))) == ["p.a", "p.b"]


def test_imports_are_seen_wherever_they_stand(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from desktop.core import records\n"
        "def late():\n    import desktop.app\n"
    )
    assert imports(module) == {"typing.TYPE_CHECKING", "desktop.core.records", "desktop.app"}


def test_no_module_imports_itself_through_others() -> None:
    graph = import_graph()
    assert len(graph) == len(MODULES)
    assert "desktop.worker.host" in graph["desktop.worker.process"]
    assert " -> ".join(circle(graph)) == ""


@pytest.mark.parametrize("package", ["desktop", "desktop.core", "desktop.core.llm", "desktop.ui"])
def test_packages_stand_in_layers(package: str) -> None:
    assert " -> ".join(circle(between_parts(import_graph(), package))) == ""


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
