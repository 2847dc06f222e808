"""The LanceDB index: full text and vectors of passages. The only importer of lancedb.

It holds nothing that the catalogue does not: an index that is lost or damaged is made again.
Two tables: `passages` with the text under a full-text index, and one of vectors for each
embedder, so that vectors of two embedders never mix and are appended without touching the text.
"""

from __future__ import annotations

import logging
import re
import shutil
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import lancedb
import pyarrow as pa
from lancedb.index import FTS
from lancedb.query import MatchQuery

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from desktop.core.records import Passage

logger = logging.getLogger(__name__)

_TEXT_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("book", pa.string()),
        ("page", pa.int32()),
        ("section", pa.string()),
        ("text", pa.string()),
    ]
)
_NOT_WORD = re.compile(r"[^\w]+")
_BOOK_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Where:
    """A part of the library.

    Attributes:
        books: Ids of books.
        pages: First and last page; None for all.
    """

    books: tuple[str, ...]
    pages: tuple[int, int] | None = None

    def filter(self) -> str:
        """Return it as a filter on the tables' columns; nothing in it is a user's text."""
        books = _only(self.books)
        if self.pages is None:
            return books
        first, last = (int(page) for page in self.pages)
        return f"{books} AND page BETWEEN {first} AND {last}"


class Store:
    """The index of one library.

    Args:
        folder: The LanceDB folder; made where missing.
        embedder: The embedder's identity; it names the table of its vectors.
        dimension: Length of its vectors.
    """

    def __init__(self, folder: Path, *, embedder: str, dimension: int) -> None:
        self._folder = folder
        self._vectors_name = "vectors_" + _NOT_WORD.sub("_", embedder)
        self._vector_schema = pa.schema(
            [
                ("id", pa.string()),
                ("book", pa.string()),
                ("page", pa.int32()),
                ("vector", pa.list_(pa.float32(), dimension)),
            ]
        )
        self._open()

    def _open(self) -> None:
        try:
            self._database = lancedb.connect(self._folder)
            self._text = self._database.create_table("passages", schema=_TEXT_SCHEMA, exist_ok=True)
            self._vectors = self._database.create_table(
                self._vectors_name, schema=self._vector_schema, exist_ok=True
            )
            self._probe()
        except (OSError, RuntimeError, ValueError):
            logger.exception("the index is damaged and is made again")
            aside = self._folder.with_name(self._folder.name + ".damaged")
            shutil.rmtree(aside, ignore_errors=True)
            self._folder.rename(aside)
            self._database = lancedb.connect(self._folder)
            self._text = self._database.create_table("passages", schema=_TEXT_SCHEMA)
            self._vectors = self._database.create_table(
                self._vectors_name, schema=self._vector_schema
            )

    def _probe(self) -> None:
        """Read a little of everything; damage shows only then."""
        for table in (self._text, self._vectors):
            table.search().limit(1).to_arrow()
        if self._text.list_indices():
            self._text.search(MatchQuery("a", "text"), query_type="fts").limit(1).to_arrow()

    def refresh(self) -> None:
        """See what other processes wrote since."""
        self._text.checkout_latest()
        self._vectors.checkout_latest()

    def put_text(self, book: str, passages: Sequence[Passage]) -> None:
        """Put a book's passages into the full-text index, in place of what it had of the book."""
        self._text.delete(_only([book]))
        if passages:
            columns = {name: [getattr(p, name) for p in passages] for name in _TEXT_SCHEMA.names}
            self._text.add(pa.table(columns, schema=_TEXT_SCHEMA))
        if self._text.list_indices():
            self._text.optimize(cleanup_older_than=timedelta(minutes=10))
        elif passages:
            # Stop words stay in: "to be or not to be" and "the who" are questions too, and
            # BM25 weighs them down by itself.
            words = FTS(stem=True, remove_stop_words=False, ascii_folding=True, with_position=True)
            self._text.create_index("text", config=words)

    def put_vectors(self, passages: Sequence[Passage], vectors: npt.NDArray[np.float32]) -> None:
        """Append the vectors of some passages.

        Args:
            passages: n passages.
            vectors: Shape (n, dimension), unit length.
        """
        dimension = self._vector_schema.field("vector").type.list_size
        flat = pa.array(vectors.reshape(-1), type=pa.float32())
        columns = [
            pa.array([p.id for p in passages]),
            pa.array([p.book for p in passages]),
            pa.array([p.page for p in passages], type=pa.int32()),
            pa.FixedSizeListArray.from_arrays(flat, dimension),
        ]
        self._vectors.add(pa.table(columns, schema=self._vector_schema))

    def texts(self, book: str) -> int:
        """Return how many passages of a book are in the full-text index."""
        if not self._text.list_indices():  # a kill came before it was made
            return 0
        return int(self._text.count_rows(_only([book])))

    def vectors(self, book: str) -> int:
        """Return how many passages of a book have a vector."""
        return int(self._vectors.count_rows(_only([book])))

    def embedded(self, book: str) -> set[str]:
        """Return the ids of a book's passages that have a vector."""
        rows = self._vectors.search().where(_only([book])).select(["id"]).limit(None).to_arrow()
        return set(rows["id"].to_pylist())

    def tidy(self) -> None:
        """Put the small pieces together that appending leaves."""
        self._vectors.optimize(cleanup_older_than=timedelta(minutes=10))

    def delete(self, book: str) -> None:
        """Delete all that stands here of a book."""
        self._text.delete(_only([book]))
        self._vectors.delete(_only([book]))

    def search_text(self, query: str, where: Where, *, limit: int) -> list[str]:
        """Return ids of passages by BM25 over the query's words, best first.

        Args:
            query: Words; none of its characters is an operator.
            where: Where to look.
            limit: Most ids.
        """
        words = " ".join(_NOT_WORD.sub(" ", query).split())
        if not words or not self._text.list_indices():
            return []
        search = self._text.search(MatchQuery(words, "text"), query_type="fts")
        search = search.where(where.filter(), prefilter=True)
        rows = search.select(["id", "_score"]).limit(limit).to_arrow()
        return list(rows["id"].to_pylist())

    def search_vectors(
        self, vector: npt.NDArray[np.float32], where: Where, *, limit: int
    ) -> list[tuple[str, float]]:
        """Return ids of passages with their cosine similarity, best first.

        Args:
            vector: Shape (dimension,), unit length.
            where: Where to look.
            limit: Most ids.
        """
        search = self._vectors.search(vector, vector_column_name="vector").distance_type("dot")
        search = search.where(where.filter(), prefilter=True)
        rows = search.select(["id", "_distance"]).limit(limit).to_arrow()
        distances = rows["_distance"].to_pylist()
        # LanceDB's dot distance is 1 - dot product.
        return [(i, 1.0 - d) for i, d in zip(rows["id"].to_pylist(), distances, strict=True)]


def _only(books: Sequence[str]) -> str:
    """Return the filter for some books. Ids are hexadecimal, so nothing needs quoting."""
    for book in books:
        if not _BOOK_ID.fullmatch(book):
            message = f"not a book id: {book!r}"
            raise ValueError(message)
    return f"book IN ({', '.join(repr(book) for book in books)})" if books else "false"
