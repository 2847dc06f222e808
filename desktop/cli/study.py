"""`lutrin study`: a book is read ahead, so that later answers start at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.cli.ask import chosen_pages, ensure_model
from desktop.cli.books import find_book
from desktop.cli.options import common, part
from desktop.cli.output import ProgressLine, notice, print_json
from desktop.core.answering import study
from desktop.core.answering.holder import ModelHolder
from desktop.core.answering.request import Listener
from desktop.core.library.library import Library
from desktop.core.library.where import Where
from desktop.core.llm import catalogue
from desktop.core.llm.shelf import ModelShelf

if TYPE_CHECKING:
    import argparse

    from desktop.paths import Paths


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser("study", help="read a book ahead, so that answers start at once")
    parser.add_argument("book", metavar="BOOK", help="id, title or file, which is added first")
    parser.add_argument("--model", metavar="M", help="name of an installed model")
    part(parser)
    common(parser, nested=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Read the book, or the part of it, until all is done or Ctrl+C is pressed."""
    library = Library(paths)
    book = find_book(library, args.book)
    where = Where((book.id,), pages=chosen_pages(library, [book], args))
    shelf = ModelShelf(paths.models, catalogue.load())
    ensure_model(shelf, paths, args.model)
    models = ModelHolder(library, shelf)
    with ProgressLine() as line:
        studied = study.study(library, models, where, args.model, Listener(stage=line))
    if args.json:
        print_json({key: getattr(studied, key) for key in _KEYS})
    else:
        print(
            f"{book.title}: {studied.done:,} of {studied.passages:,} passages are read ahead with "
            f"{studied.model}, {studied.bytes / 1e6:,.0f} MB on the disk"
        )
    if studied.full:
        notice(
            "The rest does not fit into what may be kept on the disk. Free some space, or remove "
            "a book that was read ahead."
        )
    return 0


_KEYS = ("book", "model", "passages", "done", "bytes", "tokens_per_s")
