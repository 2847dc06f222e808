"""What the benches share that ask the questions of a file of a book in a library."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from desktop import paths
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.library.library import Library
from desktop.core.llm.models import catalogue
from desktop.core.llm.models.store import ModelStore
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.kv_type import KVType

if TYPE_CHECKING:
    from collections.abc import Callable


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return the command line: which questions, of which book, to which model."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--book", required=True, help="id or title of a book in the library")
    parser.add_argument("--library", type=Path, required=True, help="the library's folder")
    parser.add_argument("--model", help="name of an installed model")
    parser.add_argument("--every", type=int, default=1, help="ask every so manieth question")
    parser.add_argument("--kv", choices=[kv.name.lower() for kv in KVType], default="f16")
    return parser


def opened(args: argparse.Namespace) -> tuple[Library, AnswerGenerator, str]:
    """Return the library, what answers on it, and the book's id."""
    places = paths.choose(args.library)
    library = Library(places)
    kv = KVType[args.kv.upper()]

    def engine(path: Path, window: int, threads: int, cancelled: Callable[[], bool]) -> Engine:
        return Engine(path, context_tokens=window, threads=threads, cancelled=cancelled, kv=kv)

    model_store = ModelStore(places.models, catalogue.load())
    answerer = AnswerGenerator(library, model_store, make_engine=engine)
    return library, answerer, library.catalog.resolve(args.book).id
