"""`lutrin add`, `books`, `remove` and `search`: the library without the window."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.cli.options import choosing, common
from desktop.cli.output import ProgressLine, notice, print_json
from desktop.core.documents.registry import SUFFIXES
from desktop.core.errors import PasswordNeededError, UserFacingError
from desktop.core.library.file_import import file_id
from desktop.core.library.indexing import Indexer
from desktop.core.library.library import Library
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Added
from desktop.core.retrieval import search

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from desktop.core.records import Book, Hit
    from desktop.paths import Paths

PREVIEW_CHARACTERS = 300


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verbs to the command line."""
    adding = verbs.add_parser("add", help="read and index PDFs")
    adding.add_argument("files", nargs="+", metavar="FILE", help="PDF files, or folders of them")
    adding.add_argument("--password", help="opens a locked file")
    adding.set_defaults(run=run_add)
    listing = verbs.add_parser("books", help="list the books of the library")
    listing.set_defaults(run=run_books)
    removing = verbs.add_parser("remove", help="take a book out of the library")
    removing.add_argument("book", metavar="BOOK", help="its id, a start of it, or its title")
    removing.set_defaults(run=run_remove)
    finding = verbs.add_parser("search", help="find passages; needs no language model")
    finding.add_argument("query", metavar="QUERY")
    choosing(finding)
    finding.add_argument("-k", type=int, default=10, help="how many passages (10)")
    finding.set_defaults(run=run_search)
    for verb in (adding, listing, removing, finding):
        common(verb, nested=True)


def run_add(args: argparse.Namespace, paths: Paths) -> int:
    """Add files; one that fails does not keep the others out."""
    library = Library(paths)
    results = [add(library, path, password=args.password) for path in _files(args.files)]
    if args.json:
        print_json({"books": [_added_row(added) for added in results]})
    failures = [added for added in results if added.status in ("failed", "needs_password")]
    for added in failures:
        notice(f"error: {added.error}")
    if not args.json:
        for added in results:
            if added.book is not None:
                word = "already here" if added.status == "already" else "added"
                print(f"{word}: {_line(added.book)}")
    return 1 if failures else 0


def add(library: Library, path: Path, *, password: str | None = None) -> Added:
    """Add one file with progress on standard error; a failure is a result, not an exception."""
    with ProgressLine(path.name) as line:
        indexer = Indexer(library, progress=lambda _book, progress: line(progress))
        try:
            return indexer.add(path, password=password)
        except PasswordNeededError as error:
            return Added("needs_password", str(path), error=str(error))
        except UserFacingError as error:
            named = path.name in error.what
            return Added(
                "failed", str(path), error=str(error) if named else f"{path.name}: {error}"
            )


def _files(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        path = Path(name).expanduser()
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES)
            if not found:
                raise UserFacingError(f"The folder “{name}” holds no PDF", "Name another folder")
            yield from found
        else:
            yield path


def _added_row(added: Added) -> dict[str, Any]:
    if added.book is not None:
        row = _row(added.book)
    else:
        row = {"id": None, "title": None, "pages": 0, "passages": 0, "warnings": [added.error]}
    return {**row, "file": added.file, "status": added.status, "timings": added.timings}


def _row(book: Book) -> dict[str, Any]:
    return {
        "id": book.id,
        "title": book.title,
        "file": book.file,
        "status": book.status,
        "pages": book.pages,
        "passages": book.passages,
        "warnings": [*book.warnings, *([book.error] if book.error else [])],
    }


def _line(book: Book) -> str:
    return f"{book.id[:8]}  {book.title}  ({book.pages:,} pages, {book.passages:,} passages)"


def run_books(args: argparse.Namespace, paths: Paths) -> int:
    """List the books."""
    books = Library(paths).catalog.books()
    if args.json:
        print_json({"books": [_row(book) for book in books]})
        return 0
    for book in books:
        state = "" if book.status == "indexed" else f"  {book.status}"
        print(_line(book) + state)
    if not books:
        notice("The library is empty. Add a book with: lutrin add FILE")
    return 0


def run_remove(args: argparse.Namespace, paths: Paths) -> int:
    """Remove a book for good."""
    library = Library(paths)
    book = known_book(library, args.book)
    library.remove(book.id)
    library.purge(book.id)
    if args.json:
        print_json({"books": [_row(left) for left in library.catalog.books()]})
    else:
        print(f"removed: {_line(book)}")
    return 0


def run_search(args: argparse.Namespace, paths: Paths) -> int:
    """Print the passages that match, best first."""
    if not args.query.strip():
        raise UserFacingError("The query is empty", "Write some words to look for")
    library = Library(paths)
    where = SearchFilter(tuple(book.id for book in chosen_books(library, args)) or None)
    search.searchable(library, where.books)
    library.embedder.load()  # loading the embedder is no part of a search
    start = time.monotonic()
    hits = search.find(library, args.query, where=where, limit=max(1, args.k))
    seconds = round(time.monotonic() - start, 3)
    if args.json:
        rows = [_hit_row(hit) for hit in hits]
        print_json({"query": args.query, "hits": rows, "timings": {"total_s": seconds}})
        return 0
    for hit in hits:
        passage = hit.passage
        print(f"{hit.rank}. {hit.title}, page {passage.page}  {passage.section}")
        print(f"   {' '.join(passage.text.split())[:PREVIEW_CHARACTERS]}\n")
    return 0


def _hit_row(hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    return {
        "rank": hit.rank,
        "book": passage.book,
        "title": hit.title,
        "page": passage.page,
        "page_label": passage.page_label,
        "section": passage.section,
        "text": passage.text,
        "start": passage.start,
        "end": passage.end,
        "score": round(hit.score, 6),
    }


def chosen_books(library: Library, args: argparse.Namespace) -> list[Book]:
    """Return the books that `--book` and `--collection` name, each once; none for all.

    Raises:
        UserFacingError: if a book or collection is not there, or a collection has no books.
    """
    members: list[Book] = []
    for reference in args.collection:
        name, books = library.collections.find(reference)
        if not books:
            raise UserFacingError(
                f"The collection “{name}” has no books", "Add some with `lutrin collections add`"
            )
        members += filter(None, map(library.catalog.find, books))
    named = [find_book(library, reference) for reference in args.book]
    return list({book.id: book for book in (*named, *members)}.values())


def known_book(library: Library, reference: str) -> Book:
    """Return the book that is meant by an id, a title, or a file that was added.

    Raises:
        UserFacingError: if there is no such book.
    """
    path = Path(reference).expanduser()
    known = library.catalog.find(file_id(path)) if path.is_file() else None
    return known or library.catalog.resolve(reference)


def find_book(library: Library, reference: str) -> Book:
    """Return the book that is meant by an id, a title, or a file, which is added first.

    Raises:
        UserFacingError: if there is no such book, or the file can't be added.
    """
    path = Path(reference).expanduser()
    if not path.is_file():
        return library.catalog.resolve(reference)
    added = add(library, path)
    if added.book is None:
        raise UserFacingError(added.error.rstrip("."), "See `lutrin add` for adding books")
    return added.book
