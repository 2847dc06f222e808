"""`lutrin study`: a book is prefilled, so that later answers start at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.cli.ask import chosen_pages, ensure_model
from desktop.cli.books import find_book
from desktop.cli.options import common, part
from desktop.cli.output import ProgressLine, notice, print_json
from desktop.core.answering.generation import prefill
from desktop.core.answering.generation.model_manager import ModelManager
from desktop.core.answering.request import Listener
from desktop.core.library.library import Library
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.models import catalogue
from desktop.core.llm.models.store import ModelStore

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
    """Prefill the book, or the part of it, until all is done or Ctrl+C is pressed."""
    library = Library(paths)
    book = find_book(library, args.book)
    where = SearchFilter((book.id,), pages=chosen_pages(library, [book], args))
    model_store = ModelStore(paths.models, catalogue.load())
    ensure_model(model_store, paths, args.model)
    models = ModelManager(library, model_store)
    with ProgressLine() as line:
        done = prefill.prefill(library, models, where, args.model, Listener(stage=line))
    if args.json:
        print_json({key: getattr(done, key) for key in _KEYS})
    else:
        print(
            f"{book.title}: {done.done:,} of {done.passages:,} passages are read ahead with "
            f"{done.model}, {done.bytes / 1e6:,.0f} MB on the disk"
        )
    if done.full:
        notice(
            "The rest does not fit into what may be kept on the disk. Free some space, or remove "
            "a book that was read ahead."
        )
    return 0


_KEYS = ("book", "model", "passages", "done", "bytes", "tokens_per_s")
