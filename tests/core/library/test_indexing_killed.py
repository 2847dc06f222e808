"""Indexing in processes of its own: killed at any moment, and two at once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from desktop import paths as places
from desktop.core.library.indexing import Indexer, file_id
from desktop.core.library.library import Library
from desktop.core.records import BookStatus
from tests.core import makers
from tests.fakes import FakeEmbedder

if TYPE_CHECKING:
    from desktop.core.records import Book, Page, Passage
    from desktop.paths import Paths

ROOT = Path(__file__).resolve().parents[3]


def start(paths: Paths, delay: float, *files: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable, "-m", "tests.core.library.indexing_child",
            str(paths.data), str(delay), *map(str, files),
        ],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def kill_at(child: subprocess.Popen[str], stage: str, done: int, pause: float) -> bool:
    """Kill a child with SIGKILL some time after it said a step; False where it ended before."""
    assert child.stdout is not None
    reached = False
    for line in child.stdout:
        said, _, number = line.strip().partition(" ")
        if said == stage and int(number or 0) >= done:
            reached = True
            break
    time.sleep(pause)
    child.kill()
    child.communicate()
    return reached and child.returncode == -9


Contents = tuple[list["Page"], list["Passage"], dict[str, list[float]], int]


def contents(library: Library, identity: str) -> Contents:
    """Return all that the library holds of a book."""
    store = library.store
    store.refresh()
    rows = store._vectors.to_arrow().to_pylist()
    own = [row for row in rows if row["book"] == identity]
    vectors = {f"{row['id']} {row['part']}": row["vector"] for row in own}
    assert len(own) == len(vectors), "a vector stands twice"
    texts = store._text.to_arrow().to_pylist()
    ids = [row["id"] for row in texts if row["book"] == identity]
    passages = library.catalog.passages(identity)
    assert sorted(ids) == sorted(p.id for p in passages)
    return library.catalog.pages(identity), passages, vectors, len(ids)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, handbook: Path) -> tuple[Book, Contents]:
    """The handbook as it is where nothing went wrong."""
    library = Library(
        places.choose(tmp_path_factory.mktemp("reference")).create(), embedder=FakeEmbedder()
    )
    added = Indexer(library).add(handbook)
    assert added.book
    whole = contents(library, added.book.id)
    library.close()
    return added.book, whole


@pytest.mark.parametrize(
    "moments",
    [
        [("copying", 0), ("reading", 0), ("reading", 6), ("embedding", 0)],
        [("listing", 0), ("embedding", 6), ("embedding", 24)],
    ],
    ids=["early", "late"],
)
def test_a_killed_process_loses_nothing(
    paths: Paths, handbook: Path, reference: tuple[Book, Contents], moments: list[tuple[str, int]]
) -> None:
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    for stage, done in moments:
        child = start(paths, 0.03, handbook)
        killed = kill_at(child, stage, done, rng.uniform(0, 0.08))
        assert killed, f"the child ended before {stage} {done} (seed {seed})"
    library = Library(paths, embedder=FakeEmbedder())
    steps: list[str] = []
    indexer = Indexer(library, progress=lambda _book, step: steps.append(step.stage))
    if moments[0][0] != "copying":
        (unfinished,) = indexer.unfinished()
        assert unfinished.status in (BookStatus.READING, BookStatus.ASKABLE)
    before = library.store.embedded(file_id(handbook))
    added = indexer.add(handbook)
    book, whole = reference
    assert added.book
    assert added.book.status is BookStatus.INDEXED
    assert (added.book.passages, added.book.passages_embedded, added.book.pages_read) == (
        book.passages,
        book.passages_embedded,
        book.pages_read,
    ), f"seed {seed}"
    assert contents(library, book.id) == whole, f"seed {seed}"
    if moments[-1] == ("embedding", 24):
        assert len(before) >= 16  # what was kept was not made again
        assert "listing" not in steps
        assert "reading" not in steps
    assert [path.name for path in (library.paths.books / book.id).iterdir()] == ["book.pdf"]
    library.close()


def test_two_processes_at_once(
    paths: Paths, tmp_path: Path, handbook: Path, reference: tuple[Book, Contents]
) -> None:
    """Each adds the same two files in another order: both come out whole, once."""
    other = makers.pdf(tmp_path / "other.pdf", [f"on swan {n}" for n in range(30)])
    children = [start(paths, 0.0, handbook, other), start(paths, 0.0, other, handbook)]
    ended = [child.communicate(timeout=90) for child in children]
    for child, (said, errors) in zip(children, ended, strict=True):
        assert child.returncode == 0, errors
        ends = [line for line in said.split("\n") if line in ("indexed", "already")]
        assert len(ends) == 2
    library = Library(paths, embedder=FakeEmbedder())
    assert {book.status for book in library.catalog.books()} == {BookStatus.INDEXED}
    assert len(library.catalog.books()) == 2
    book, whole = reference
    assert contents(library, book.id) == whole
    pages, passages, vectors, texts = contents(library, file_id(other))
    assert len(pages) == len(passages) == len(vectors) == texts == 30
    library.close()
