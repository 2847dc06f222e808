"""`lutrin ask`: a question, an answer, and the places in the book that prove it."""

from __future__ import annotations

import re
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from desktop.cli.books import chosen_books
from desktop.cli.options import answering, choosing, common, mode, part
from desktop.cli.output import ProgressLine, notice, print_json
from desktop.core.answering.attribution.highlights import locate
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.modes.registry import MODES
from desktop.core.answering.pipeline import steps
from desktop.core.answering.pipeline.executor import execute
from desktop.core.answering.request import Listener
from desktop.core.codec import encode
from desktop.core.errors import UserFacingError
from desktop.core.library.library import Library
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.hardware import machine_info
from desktop.core.llm.models import catalogue, download, selection
from desktop.core.llm.models.store import ModelStore
from desktop.core.retrieval import search, table_of_contents

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from desktop.core.records import Answer, Book, Progress
    from desktop.paths import Paths


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser("ask", help="answer a question from a book")
    parser.add_argument("question", metavar="QUESTION", help="what you want to know, in quotes")
    choosing(parser)
    part(parser)
    answering(parser)
    common(parser, nested=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Answer the question."""
    if not args.question.strip():
        raise UserFacingError("The question is empty", "Write what you want to know")
    library = Library(paths)
    if mode(args) not in MODES:
        raise UserFacingError("No adapter has been trained for this book", "Ask in retrieval mode")
    books = chosen_books(library, args)
    where = SearchFilter(tuple(book.id for book in books) or None)
    search.searchable(library, where.books)  # before a model is fetched for it
    where = replace(where, pages=chosen_pages(library, books, args))
    model_store = ModelStore(paths.models, catalogue.load())
    ensure_model(model_store, paths, args.model)
    answerer = AnswerGenerator(library, model_store)
    with ProgressLine() as line:
        answerer.load(args.model, Listener(stage=line))
        library.embedder.load()  # before the clock starts, like the model
        asked = steps.Question(
            args.question,
            mode(args),
            where=where,
            model=args.model,
            fresh=args.fresh,
            map_reduce=args.through,
        )
        with _stopping(enabled=args.through) as stopped:
            listener = _listener(line, stream=not args.json, cancelled=stopped)
            answer = steps.run(steps.answer_pipeline(asked), _Carrier(library, answerer, listener))
    answer = locate(library, answer)
    if args.json:
        print_json(_json(answer))
    else:
        _print(answer)
    return 0


class _Carrier:
    """Carries steps out; only the first text is shown as it is written."""

    def __init__(self, library: Library, answerer: AnswerGenerator, listener: Listener) -> None:
        self._library = library
        self._answerer = answerer
        self._listener = listener

    def __call__(self, step: steps.Step) -> Any:
        result = execute(step, self._library, self._answerer, self._listener)
        if isinstance(step, steps.Generate):
            self._listener = replace(self._listener, token=lambda _text: None)
        return result


def chosen_pages(
    library: Library, books: Sequence[Book], args: argparse.Namespace
) -> tuple[int, int] | None:
    """Return the first and last page that `--chapter` or `--pages` says; None for all.

    Raises:
        UserFacingError: if the book has no such part, or none is named.
    """
    book = books[0] if len(books) == 1 else None
    if args.chapter is None:
        chosen: tuple[int, int] | None = args.pages
        if chosen is not None and book is not None and chosen[0] > book.pages:
            raise UserFacingError(
                f"“{book.title}” has no page {chosen[0]}", f"It has {book.pages} pages"
            )
        return chosen
    if book is None:
        raise UserFacingError("A chapter needs its book", "Name one with --book")
    return table_of_contents.chapter(library.catalog, book, args.chapter)


def ensure_model(model_store: ModelStore, paths: Paths, name: str | None) -> None:
    """Fetch the recommended model where none is installed, after saying so."""
    machine = machine_info.survey()
    if name is not None or model_store.default(None, machine) is not None:
        return
    recommendation = selection.recommend(catalogue.load(), machine)
    model = recommendation.model
    notice(f"No language model is installed. {recommendation.reason}")
    notice(f"Getting {model.title} ({model.size_bytes / 1e6:,.0f} MB), once.")
    with ProgressLine(model.name) as line:
        download.fetch(model, paths.models, progress=line, cancelled=lambda: False)


def _say_waiting() -> None:
    notice("Another answer is being written; this one comes next.")


@contextmanager
def _stopping(*, enabled: bool) -> Iterator[Callable[[], bool]]:
    """Give what says whether Ctrl-C was pressed, which at first only ends the reading.

    Args:
        enabled: Whether there is something to stop for; else Ctrl-C ends the program as always.
    """
    pressed = threading.Event()
    if not enabled:
        yield pressed.is_set
        return

    def press(_number: int, _frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        notice("Stopping: what was found so far comes in a moment.")

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _listener(line: ProgressLine, *, stream: bool, cancelled: Callable[[], bool]) -> Listener:
    """Stream to a terminal; into a pipe the finished answer goes, with its markers."""
    streaming = stream and sys.stdout.isatty()

    def stage(progress: Progress) -> None:
        if progress.stage == "waiting":
            _say_waiting()
        elif progress.stage == "writing" and streaming:
            line.__exit__(None, None, None)
        else:
            line(progress)

    def token(text: str) -> None:
        if streaming:
            sys.stdout.write(text)
            sys.stdout.flush()

    return Listener(stage=stage, token=token, cancelled=cancelled)


def _json(answer: Answer) -> dict[str, Any]:
    row: dict[str, Any] = encode(answer)
    citation = ("marker", "book", "title", "page", "page_label", "quote", "verdict", "rects",
                "score")  # fmt: skip
    item = ("book", "page", "section", "tokens", "score", "reused")
    row["citations"] = [{key: c[key] for key in citation} for c in row["citations"]]
    row["context"] = [{key: c[key] for key in item} for c in row["context"]]
    del row["stopped"]
    return row


def _print(answer: Answer) -> None:
    shown = sys.stdout.isatty() and answer.rounds == 1 and not answer.abstained
    if sys.stdout.isatty():
        print()
    if not shown:
        print(answer.answer)
    for citation in answer.citations:
        quote = " ".join(citation.quote.split())
        print(f"\n[{citation.marker}] {citation.title}, page {citation.page} ({citation.verdict})")
        claim = _claim(answer.answer, citation.marker) if sys.stdout.isatty() else ""
        if claim:
            print(f"    for: {claim}")
        print(f"    “{quote}”")
    if answer.abstained and answer.context:
        near = ", ".join(dict.fromkeys(f"page {item.page}" for item in answer.context))
        print(f"\nNearest: {near}")
    for note in answer.notes:
        notice(note)
    timings = answer.timings
    if not timings.generated_tokens:  # no model was asked
        return
    notice(
        f"{answer.model}: first word after {timings.ttft_s:.1f} s, {timings.total_s:.1f} s in all"
    )


def _claim(text: str, marker: int) -> str:
    """Return the sentence of an answer that a marker stands behind."""
    before = text.partition(f" [{marker}]")[0]
    return re.split(r"\[\d+\]\S*\s*|(?<=[.!?])\s+|\n", before)[-1].strip()
