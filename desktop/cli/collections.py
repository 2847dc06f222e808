"""`lutrin collections`: named collections of books, of which questions can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from desktop.cli.books import find_book, known_book
from desktop.cli.options import common
from desktop.cli.output import notice, print_json
from desktop.core.errors import UserFacingError
from desktop.core.library.library import Library

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from desktop.paths import Paths


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser("collections", help="list and change collections of books")
    common(parser, nested=True)
    parser.set_defaults(run=run, action="list")
    actions = parser.add_subparsers(metavar="ACTION")
    listing = actions.add_parser("list", help="show what there is (the default)")
    adding = actions.add_parser("add", help="put books into a collection, or make it of them")
    adding.add_argument("name", metavar="NAME", help="such as “Exam in June”")
    adding.add_argument(
        "books", metavar="BOOK", nargs="+", help="id, title or file, which is added first"
    )
    removing = actions.add_parser("remove", help="take books out of a collection, or delete it")
    removing.add_argument("name", metavar="NAME")
    removing.add_argument(
        "books", metavar="BOOK", nargs="*", help="what to take out; without any the collection goes"
    )
    for name, action in (("list", listing), ("add", adding), ("remove", removing)):
        common(action, nested=True)
        action.set_defaults(action=name)


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Do what was asked, then print the collections.

    Raises:
        UserFacingError: if it can't be done.
    """
    library = Library(paths)
    if args.action == "add":
        books = [find_book(library, name).id for name in args.books]
        library.collections.add(args.name, books)
    elif args.action == "remove":
        _remove(library, args)
    rows = _rows(library)
    if args.json:
        print_json({"collections": rows})
    elif args.action == "list":
        _print(rows)
    return 0


def _remove(library: Library, args: argparse.Namespace) -> None:
    name, members = library.collections.find(args.name)
    books = [known_book(library, reference) for reference in args.books]
    for book in books:
        if book.id not in members:
            raise UserFacingError(
                f"“{book.title}” is not in “{name}”", "See `lutrin collections` for what is"
            )
    if books:
        library.collections.take_out(name, [book.id for book in books])
    else:
        library.collections.delete(name)
        notice(f"removed {name}")


def _rows(library: Library) -> list[dict[str, Any]]:
    titles = {book.id: book.title for book in library.catalog.books()}
    return [
        {"name": name, "books": [{"id": book, "title": titles.get(book, "")} for book in books]}
        for name, books in library.collections.all().items()
    ]


def _print(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        print(row["name"])
        for book in row["books"]:
            print(f"    {book['id'][:8]}  {book['title']}")
    if not rows:
        notice("There is no collection. Make one with: lutrin collections add NAME BOOK")
