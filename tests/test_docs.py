"""What is named exists: by the documents, and by scripts that no test runs."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/architecture.md", "CONTRIBUTING.md", "README.md", "tests/bench/README.md")
SCRIPTS = sorted([*(ROOT / "tests/bench").glob("*.py"), *(ROOT / "packaging").glob("*.py")])
_MODULE = re.compile(r"(?<![\w./-])(?:desktop|core|ui|worker|cli)(?:\.\w+)+")
"""With `desktop.` before it or without."""
_PATH = re.compile(
    r"(?<![\w/.-])(?:desktop|docs|packaging|resources|tests|\.ci|\.github)/(?:[\w./-]*[\w/])?"
)
_FILE = re.compile(r"`([a-z.][\w.-]+\.(?:py|md|toml|yaml|json))`")
_LINK = re.compile(r"\]\(([\w./-]+)(?:#[\w-]+)?\)")
_RECIPE = re.compile(r"(?:`|^ {4})just (\w+)", re.MULTILINE)


@cache
def defined(module: Path, classes: tuple[str, ...] = ()) -> frozenset[str]:
    """The names that a module, or a class in it, binds."""
    body = ast.parse(module.read_text(encoding="utf-8")).body
    for name in classes:
        found = [n.body for n in body if isinstance(n, ast.ClassDef) and n.name == name]
        body = found[0] if found else []
    names: set[str] = set()
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            names |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return frozenset(names)


def there(name: str) -> bool:
    """Whether a dotted name is a module or package of ours, or something in one."""
    parts = name.removeprefix("desktop.").split(".")
    place = ROOT / "desktop"
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    module = place / f"{parts[0]}.py" if parts else place
    module, parts = (module, parts[1:]) if module.is_file() else (place / "__init__.py", parts)
    return all(n in defined(module, tuple(parts[:depth])) for depth, n in enumerate(parts))


def missing(text: str, folder: Path) -> list[str]:
    """Return what a document in a folder names and what isn't there."""
    names = [name for name in _MODULE.findall(text) if not there(name)]
    paths = [path for path in _PATH.findall(text) if not (ROOT / path).exists()]
    beside = [*_FILE.findall(text), *_LINK.findall(text)]
    files = [n for n in beside if not any((each / n).exists() for each in (folder, ROOT))]
    recipes = re.findall(r"^(\w+)[^:=\n]*:(?!=)", (ROOT / "justfile").read_text(), re.MULTILINE)
    return [*names, *paths, *files, *(r for r in _RECIPE.findall(text) if r not in recipes)]


def test_what_is_missing_is_found() -> None:
    good = (
        "`core.records.Hit.score`, `core.library`, desktop.core.llm, `cli.parser` in "
        "`desktop/cli/__init__.py`. See [it](../../README.md#more), `asking.py`, `just quick`, "
        "[a link](https://example.org/desktop/x), just any word, and `worker.host`."
    )
    assert missing(good, ROOT / "tests" / "bench") == []
    bad = (
        "`core.leaves`, core.records.Hut, desktop.core.records.Hit.scoar, worker.host.EACH.x; "
        "`desktop/core/none.py`, `none.py`, [a](../NONE.md), tests/none/.\n\n    just nothing -x\n"
    )
    assert missing(bad, ROOT / "tests") == [
        "core.leaves", "core.records.Hut", "desktop.core.records.Hit.scoar", "worker.host.EACH.x",
        "desktop/core/none.py", "tests/none/", "none.py", "../NONE.md", "nothing",
    ]  # fmt: skip


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_exists(document: str) -> None:
    path = ROOT / document
    assert missing(path.read_text(encoding="utf-8"), path.parent) == []


def test_the_architecture_names_every_package() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    for init in (ROOT / "desktop" / "core").glob("*/__init__.py"):
        assert f"`desktop/core/{init.parent.name}/`" in text


def test_every_bench_stands_in_the_list() -> None:
    text = (ROOT / "tests/bench/README.md").read_text(encoding="utf-8")
    benches = {path for path in (ROOT / "tests/bench").glob("*.py") if "main" in defined(path)}
    assert len(benches) > 10
    assert [path.name for path in benches if f"| `{path.name}` |" not in text] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_what_a_script_imports_exists(script: Path) -> None:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    programs = [ast.parse(t) for t in texts if isinstance(t, str) and t.startswith("\nimport sys")]
    wanted = [
        f"{node.module}.{alias.name}"
        for each in (tree, *programs)
        for node in ast.walk(each)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("desktop")
        for alias in node.names
    ]
    assert [name for name in wanted if not there(name)] == []
