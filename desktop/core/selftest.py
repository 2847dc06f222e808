"""Does each native part work on this machine? A small real task for each, nothing simulated.

Each runs in another process: one that a native fault ends has failed, and the others go on.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.core.documents.registry import open_document
from desktop.core.library.embedding import MiniLM
from desktop.core.library.library import Library
from desktop.paths import Paths, resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HANDBOOK = "handbook/handbook.pdf"


@dataclass(frozen=True)
class Check:
    """What came of one check.

    Attributes:
        detail: What was seen, or what went wrong.
    """

    name: str
    ok: bool
    detail: str


def run(checks: Iterable[tuple[str, Callable[[], str]]]) -> list[Check]:
    """Run checks; one that raises, or ends its process, has failed, and the others go on.

    Args:
        checks: Names, and what can be sent to another process and called there.
    """
    results = []
    pool = _process()
    for name, check in checks:
        try:
            results.append(Check(name, ok=True, detail=pool.submit(check).result()))
        except BrokenProcessPool:
            pool = _process()
            results.append(Check(name, ok=False, detail="its process ended without a word"))
        except Exception as error:  # whatever it is, it is this check's result
            results.append(Check(name, ok=False, detail=f"{type(error).__name__}: {error}"))
    pool.shutdown()
    return results


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def checks(paths: Paths) -> list[tuple[str, Callable[[], str]]]:
    """Return the checks of the core's native parts, cheap ones first."""
    return [
        ("data folder", partial(_writable, paths.data)),
        ("models folder", partial(_writable, paths.models)),
        ("pdf", _pdf),
        ("torch", _torch),
        ("embedder", _embedder),
        ("index", _index),
        ("llama.cpp", _llama),
    ]


def _writable(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"lutrin")
    return str(folder)


def _pdf() -> str:
    document = open_document(resource(HANDBOOK))
    try:
        page = document.page(1)
        picture = document.draw(1, 0.5)
        return f"{document.page_count} pages, {len(page.words)} words on the first, " \
               f"drawn at {picture.width} x {picture.height}"  # fmt: skip
    finally:
        document.close()


def _torch() -> str:
    import torch

    product = torch.eye(64) @ torch.ones(64, 64)
    if float(product.sum()) != 64 * 64:
        message = "a matrix product came out wrong"
        raise ArithmeticError(message)
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"


def _embedder() -> str:
    vectors = MiniLM().embed(
        ["A cat sits on the mat.", "A kitten is sitting on a rug.", "Bond yields rose."]
    )
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    if near <= far:
        message = f"alike sentences are no nearer ({near:.2f}) than others ({far:.2f})"
        raise ArithmeticError(message)
    return f"{MiniLM.identity}: alike {near:.2f}, unlike {far:.2f}"


def _index() -> str:
    from desktop.core.library.indexing import Indexer
    from desktop.core.retrieval.search import find

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        library = Library(Paths(data=data, models=data, logs=data))
        Indexer(library).add(resource(HANDBOOK))
        hits = find(library, "reciprocal rank fusion", limit=1)
        library.close()
    if not hits:
        message = "the handbook was indexed, but nothing is found in it"
        raise LookupError(message)
    return f"handbook indexed and searched: page {hits[0].passage.page}"


def _llama() -> str:
    from desktop.core.llm.runtime import engine

    return engine.description()
