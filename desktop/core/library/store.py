"""The LanceDB index: full text, vectors and section centroids. The only importer of lancedb.

It holds nothing that the catalogue does not: an index that is lost or damaged is made again.
Three tables: `passages` with their terms under a full-text index, and for each embedder one of
the vectors of their windows and one of the mean vector of each section. Vectors of two embedders
never mix, and vectors are appended without touching the text.
"""

from __future__ import annotations

import logging
import re
import shutil
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, IvfRq
from lancedb.query import MatchQuery

from desktop.core.documents.outline import own_title
from desktop.core.documents.section_kind import MARKS, marks
from desktop.core.library.search_filter import only, section_number
from desktop.core.text import normalisation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from desktop.core.library.search_filter import SearchFilter
    from desktop.core.records import Passage

logger = logging.getLogger(__name__)

VERSION = 2
"""Of the tables' columns and of what is indexed; other tables are dropped and made again."""
_PLACE = [
    ("id", pa.string()),
    ("book", pa.string()),
    ("page", pa.int32()),
    ("section", pa.int64()),
    *((name, pa.bool_()) for name in MARKS),
]
_TEXT_SCHEMA = pa.schema([*_PLACE, ("terms", pa.string())])
_NOT_WORD = re.compile(r"[^\w]+")
_FOUND = ["id", "book", "section", "side"]
INDEXED_ROWS = 65_536
"""With fewer vectors than this, comparing all of them is as fast as an index and exact."""
PROBES = 48
"""Partitions of the vector index that are looked into."""
REFINE = 4
"""So many times the wanted rows are compared exactly after the index's estimate. Of 300,000
windows the 100 nearest are then found for 0.975, and the 20 nearest for 0.997."""
MISSPELT = (5, 8)
"""A word of so many letters is known again with one, or two, of them wrong."""
WINDOWS_A_PASSAGE = 2
"""Windows asked for, for each passage wanted: the best ones often are of the same passage."""


@dataclass(frozen=True)
class Found:
    """A passage as a search of one kind finds it.

    Attributes:
        section: Number of its section, see `section_number`.
        side: See `Marks.side`.
        score: BM25 or cosine similarity.
    """

    id: str
    book: str
    section: int
    side: bool
    score: float


class Store:
    """The index of one library.

    Args:
        folder: The LanceDB folder; made where missing.
        embedder: The embedder's identity; it names the tables of its vectors.
        dimension: Length of its vectors.
    """

    def __init__(self, folder: Path, *, embedder: str, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension
        name = _NOT_WORD.sub("_", embedder)
        vector = ("vector", pa.list_(pa.float16(), dimension))
        self._schemas = {
            f"passages_v{VERSION}": _TEXT_SCHEMA,
            f"windows_v{VERSION}_{name}": pa.schema([*_PLACE, ("part", pa.int16()), vector]),
            f"sections_v{VERSION}_{name}": pa.schema(
                [("book", pa.string()), ("section", pa.int64()), vector]
            ),
        }
        self._open()

    def _open(self) -> None:
        try:
            self._make_tables()
            self._probe()
        except (OSError, RuntimeError, ValueError):
            logger.exception("the index is damaged and is made again")
            aside = self._folder.with_name(self._folder.name + ".damaged")
            shutil.rmtree(aside, ignore_errors=True)
            self._folder.rename(aside)
            self._make_tables()

    def _make_tables(self) -> None:
        database = lancedb.connect(self._folder)
        for old in _outdated(database.list_tables().tables):
            database.drop_table(old)
        self._text, self._vectors, self._sections = (
            database.create_table(name, schema=schema, exist_ok=True)
            for name, schema in self._schemas.items()
        )
        self._tables = (self._text, self._vectors, self._sections)
        self._sections_read: (
            tuple[int, dict[tuple[str, int], int], npt.NDArray[np.float16]] | None
        ) = None

    def _probe(self) -> None:
        """Read a little of everything; damage shows only then."""
        for table in self._tables:
            table.search().limit(1).to_arrow()
        if self._text.list_indices():
            self._text.search(MatchQuery("a", "terms"), query_type="fts").limit(1).to_arrow()

    def refresh(self) -> None:
        """See what other processes wrote since."""
        for table in self._tables:
            table.checkout_latest()

    def put_text(self, book: str, passages: Sequence[Passage]) -> None:
        """Put a book's passages into the full-text index, in place of what it had of the book."""
        self._text.delete(only([book]))
        if passages:
            column = pa.array([_terms(passage) for passage in passages])
            self._text.add(pa.table([*_places(passages), column], schema=_TEXT_SCHEMA))
        if self._text.list_indices():
            self._text.optimize(cleanup_older_than=timedelta(minutes=10))
        elif passages:
            # The terms are made by `desktop.core.text.normalisation`, for query and text alike.
            words = FTS(
                base_tokenizer="whitespace",
                stem=False,
                remove_stop_words=False,
                ascii_folding=False,
                lower_case=False,
            )
            self._text.create_index("terms", config=words)

    def put_vectors(self, owners: Sequence[Passage], vectors: npt.NDArray[np.float32]) -> None:
        """Append the vectors of all windows of some passages.

        Args:
            owners: The passage of each window; those of a passage follow each other.
            vectors: Shape (len(owners), dimension), unit length.
        """
        parts: list[int] = []
        for row, owner in enumerate(owners):
            parts.append(parts[-1] + 1 if row and owners[row - 1].id == owner.id else 0)
        columns = [*_places(owners), pa.array(parts, type=pa.int16()), self._column(vectors)]
        self._vectors.add(pa.table(columns, schema=self._vectors.schema))

    def _column(self, vectors: npt.NDArray[np.float32]) -> pa.FixedSizeListArray:
        flat = pa.array(vectors.astype(np.float16).reshape(-1), type=pa.float16())
        return pa.FixedSizeListArray.from_arrays(flat, self._dimension)

    def finish(self, book: str) -> None:
        """Make the mean vector of each section once a book's vectors are all there, and tidy up.

        With many vectors in the library an index of them is made, or brought up to date.
        """
        rows = self._vectors.search().where(only([book])).select(["section", "vector"])
        table = rows.limit(None).to_arrow()
        if table.num_rows:
            vectors = _flat(table).astype(np.float32).reshape(-1, self._dimension)
            numbers, members = np.unique(table["section"].to_numpy(), return_inverse=True)
            means = np.zeros((len(numbers), self._dimension), dtype=np.float32)
            np.add.at(means, members, vectors)
            means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
            self._sections.delete(only([book]))
            columns = [pa.array([book] * len(numbers)), pa.array(numbers), self._column(means)]
            self._sections.add(pa.table(columns, schema=self._sections.schema))
        if not self._vectors.list_indices() and self._vectors.count_rows() >= INDEXED_ROWS:
            # A bit for each number of a vector; the best are compared exactly afterwards. As good
            # as product quantization, and made in a twentieth of the time.
            self._vectors.create_index("vector", config=IvfRq(distance_type="dot"))
        for part in (self._vectors, self._sections):
            part.optimize(cleanup_older_than=timedelta(minutes=10))

    def is_finished(self, book: str) -> bool:
        """Whether `finish` was done since the book was put in."""
        return bool(self._sections.count_rows(only([book])))

    def texts(self, book: str) -> int:
        """Return how many passages of a book are in the full-text index."""
        if not self._text.list_indices():  # a kill came before it was made
            return 0
        return int(self._text.count_rows(only([book])))

    def vectors(self, book: str) -> int:
        """Return how many passages of a book have their vectors."""
        return int(self._vectors.count_rows(f"{only([book])} AND part = 0"))

    def embedded(self, book: str) -> set[str]:
        """Return the ids of a book's passages that have their vectors."""
        rows = self._vectors.search().where(f"{only([book])} AND part = 0").select(["id"])
        return set(rows.limit(None).to_arrow()["id"].to_pylist())

    def delete(self, book: str) -> None:
        """Delete all that stands here of a book."""
        for table in self._tables:
            table.delete(only([book]))

    def search_text(self, query: str, where: SearchFilter, *, limit: int) -> list[Found]:
        """Return passages by BM25 over the query's terms, best first.

        Args:
            query: Words; none of its characters is an operator.
            where: Where to look.
            limit: Most passages.
        """
        words = " ".join(normalisation.query_terms(query))
        if not words or not self._text.list_indices():
            return []
        search = self._text.search(MatchQuery(words, "terms"), query_type="fts")
        rows = _within(search, where).select([*_FOUND, "_score"]).limit(limit).to_arrow()
        return _found(rows, rows["_score"].to_pylist())

    def mentions(self, word: str, where: SearchFilter) -> bool:
        """Return whether a word stands anywhere, in this spelling or, if long, a near one."""
        found = normalisation.query_terms(word)
        if not found or not self._text.list_indices():
            return False
        edits = sum(len(found[0]) >= length for length in MISSPELT)
        query = MatchQuery(found[0], "terms", fuzziness=edits, prefix_length=1)
        search = _within(self._text.search(query, query_type="fts"), where)
        return bool(search.select(["id"]).limit(1).to_arrow().num_rows)

    def search_vectors(
        self, vector: npt.NDArray[np.float32], where: SearchFilter, *, limit: int
    ) -> list[Found]:
        """Return passages by the cosine similarity of their best window, best first.

        Args:
            vector: Shape (dimension,), unit length.
            where: Where to look.
            limit: Most passages.
        """
        search = self._vectors.search(vector, vector_column_name="vector").distance_type("dot")
        search = _within(search, where).nprobes(PROBES).refine_factor(REFINE)
        rows = search.select([*_FOUND, "_distance"]).limit(WINDOWS_A_PASSAGE * limit).to_arrow()
        best: dict[str, Found] = {}
        for found in _found(rows, _similarities(rows)):
            best.setdefault(found.id, found)
        return list(best.values())[:limit]

    def similar_sections(
        self, vector: npt.NDArray[np.float32], found: Iterable[Found]
    ) -> dict[tuple[str, int], float]:
        """Return the cosine similarity of the sections of passages: (book, section) -> value."""
        rows, vectors = self._section_rows()
        wanted = {(f.book, f.section) for f in found}
        there = [key for key in wanted if key in rows]
        chosen = vectors[[rows[key] for key in there]].astype(np.float32)
        return dict(zip(there, (chosen @ vector).tolist(), strict=True))

    def _section_rows(self) -> tuple[dict[tuple[str, int], int], npt.NDArray[np.float16]]:
        """Return the row of each section, and all their vectors, read again where they changed.

        They are few, and reading some of them takes as long as reading them all: 10 ms with 10,000.
        """
        version = self._sections.version
        if self._sections_read is None or self._sections_read[0] != version:
            search = self._sections.search().select(["book", "section", "vector"])
            table = search.limit(None).to_arrow()
            keys = zip(table["book"].to_pylist(), table["section"].to_pylist(), strict=True)
            rows = {key: row for row, key in enumerate(keys)}
            self._sections_read = version, rows, _flat(table).reshape(-1, self._dimension)
        return self._sections_read[1:]

    def list_passages(self, where: SearchFilter) -> list[str]:
        """Return ids of the passages in a part of the library, in no order."""
        rows = _within(self._text.search(), where).select(["id"]).limit(None).to_arrow()
        return list(rows["id"].to_pylist())


def _outdated(names: Iterable[str]) -> list[str]:
    """Return the tables of another version, of whatever embedder."""
    return [name for name in names if f"_v{VERSION}" not in name]


def _terms(passage: Passage) -> str:
    return " ".join(normalisation.index_terms(f"{own_title(passage.section)}\n{passage.text}"))


def _places(passages: Sequence[Passage]) -> list[Any]:
    """Return the columns that say where passages are and what stands in them."""
    by_id = {p.id: marks(p.section, p.text) for p in {p.id: p for p in passages}.values()}
    marked = [by_id[passage.id] for passage in passages]
    return [
        pa.array([passage.id for passage in passages], type=pa.string()),
        pa.array([passage.book for passage in passages], type=pa.string()),
        pa.array([passage.page for passage in passages], type=pa.int32()),
        pa.array([section_number(passage.section) for passage in passages], type=pa.int64()),
        *(pa.array([getattr(m, name) for m in marked], type=pa.bool_()) for name in MARKS),
    ]


def _within(search: Any, where: SearchFilter) -> Any:
    """Return a search kept to a part of the library."""
    condition = where.filter()
    return search if condition is None else search.where(condition, prefilter=True)


def _found(rows: Any, scores: Iterable[float]) -> list[Found]:
    columns = (rows[name].to_pylist() for name in _FOUND)
    return [Found(*row) for row in zip(*columns, scores, strict=True)]


def _flat(rows: Any) -> npt.NDArray[np.float16]:
    """Return the numbers of all vectors of some rows, one vector after the other."""
    flat: npt.NDArray[np.float16] = rows["vector"].combine_chunks().flatten().to_numpy()
    return flat


def _similarities(rows: Any) -> list[float]:
    """Return cosine similarities; LanceDB's dot distance is 1 - dot product."""
    return [1.0 - distance for distance in rows["_distance"].to_pylist()]
