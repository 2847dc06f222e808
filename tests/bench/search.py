"""Milliseconds of a search over libraries of several sizes, against the smallest of them.

    python tests/bench/search.py QUESTIONS.jsonl --book BOOK.pdf --sizes 1000 10000 100000

The book is really indexed; filler is made of its own sentences put together anew, with vectors
near those of its windows, in books of 10,000 passages. A search is the whole of `search.find`: the
question's vector, full text, vectors, sections, fusion, and the passages from the catalogue.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from desktop import environment, paths

environment.prepare()

import numpy as np  # noqa: E402

from desktop.core.evaluation import questions  # noqa: E402
from desktop.core.evaluation.figures import percentile  # noqa: E402
from desktop.core.library.indexing import Indexer  # noqa: E402
from desktop.core.library.library import Library  # noqa: E402
from desktop.core.records import Book, BookStatus, Page, Passage  # noqa: E402
from desktop.core.retrieval import search  # noqa: E402
from desktop.core.text import sentences, windows  # noqa: E402

if TYPE_CHECKING:
    import numpy.typing as npt

BOOK_PASSAGES = 10_000
SENTENCES = 7
NOISE = 0.6
RUNS = 3


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--book", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    args = parser.parse_args()
    asked = [question.question for question in questions.read(args.questions)]
    folder = Path(tempfile.mkdtemp(prefix="lutrin-bench-"))
    try:
        library = Library(paths.choose(folder))
        Indexer(library).add(args.book)
        maker = Filler(library)
        first = 0.0
        for size in sorted(args.sizes):
            maker.fill(size)
            times = measure(library, asked)
            first = first or times[0]
            disk = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6
            print(
                f"{maker.passages:>9,} passages: median {times[0]:6.1f} ms, "
                f"95th percentile {times[1]:6.1f} ms, {times[0] / first:5.2f} times the smallest, "
                f"{disk:,.0f} MB on disk",
                flush=True,
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(library: Library, asked: list[str]) -> tuple[float, float]:
    """Return median and 95th percentile in milliseconds."""
    for question in asked[:5]:
        search.find(library, question)
    times = []
    for question in asked * RUNS:
        start = time.monotonic()
        search.find(library, question)
        times.append(1000 * (time.monotonic() - start))
    return percentile(times, 50) or 0.0, percentile(times, 95) or 0.0


class Filler:
    """Makes books of filler out of what the library holds."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._random = random.Random(1)
        self._numbers = np.random.default_rng(1)
        book = library.catalog.books()[0]
        real = library.catalog.passages(book.id)
        self.passages = len(real)
        texts = [p.text for p in real]
        self._sentences = [t[a:b] for t in texts for a, b in sentences.spans(t)]
        sample = [t[a:b] for t in texts[::8] for a, b in windows.spans(t)]
        self._vectors = library.embedder.embed(sample)

    def fill(self, size: int) -> None:
        """Add filler until the library has so many passages."""
        while self.passages < size:
            count = min(BOOK_PASSAGES, size - self.passages)
            self._add(count)
            self.passages += count

    def _add(self, count: int) -> None:
        library = self._library
        identity = hashlib.sha256(os.urandom(16)).hexdigest()
        pages, made = [], []
        for number in range(1, count + 1):
            text = " ".join(self._random.choices(self._sentences, k=SENTENCES))
            section = f"{identity[:6]} {number // 200} \u203a Section {number // 10}"
            pages.append(Page(number, str(number), text))
            made.append(
                Passage(f"{identity}:{number}:0", identity, number, str(number), 0, len(text),
                        section, text)
            )  # fmt: skip
        library.catalog.put(
            Book(identity, f"Filler {identity[:6]}", "filler.pdf", BookStatus.INDEXED, pages=count)
        )
        library.catalog.commit_pages(identity, pages, made)
        library.catalog.update(identity, passages_embedded=count)
        library.store.put_text(identity, made)
        owners = [passage for passage in made for _ in range(3)]
        for first in range(0, len(owners), 6000):
            part = owners[first : first + 6000]
            library.store.put_vectors(part, self._near(len(part)))
        library.store.finish(identity)

    def _near(self, count: int) -> npt.NDArray[np.float32]:
        chosen = self._vectors[self._numbers.integers(0, len(self._vectors), count)]
        noise = self._numbers.standard_normal(chosen.shape).astype(np.float32)
        noise *= NOISE / np.sqrt(chosen.shape[1])
        vectors = chosen + noise
        unit: npt.NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


if __name__ == "__main__":
    main()
