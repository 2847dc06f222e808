"""`lutrin ask`: a question, an answer, and the places in the book that prove it."""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any

from desktop.cli.books import find_book
from desktop.cli.options import common
from desktop.cli.output import ProgressLine, notice, print_json
from desktop.core.answering.answerer import MODES, Answerer
from desktop.core.answering.places import locate
from desktop.core.answering.request import Listener, Request
from desktop.core.errors import UserFacingError
from desktop.core.library.library import Library
from desktop.core.llm import catalogue, choice, download, hardware
from desktop.core.llm.shelf import ModelShelf
from desktop.core.records import Mode, encode
from desktop.core.retrieval import evidence, scope, search

if TYPE_CHECKING:
    import argparse

    from desktop.core.records import Answer, Book, Progress
    from desktop.paths import Paths


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser("ask", help="answer a question from a book")
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument("--book", metavar="B", help="id, title or file; a file is added first")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default=Mode.RETRIEVAL)
    parser.add_argument("--chapter", metavar="C", help="number or title of a chapter to keep to")
    parser.add_argument("--pages", metavar="A-B", type=_pages, help="physical pages to keep to")
    parser.add_argument("--model", metavar="M", help="name of an installed model")
    parser.add_argument("--fresh", action="store_true", help="use nothing that was read before")
    common(parser, nested=True)
    parser.set_defaults(run=run)


def _pages(text: str) -> tuple[int, int]:
    import argparse

    match = re.fullmatch(r"(\d+)(?:\s*[-–]\s*(\d+))?", text.strip())
    first = int(match.group(1)) if match else 0
    last = int(match.group(2) or first) if match else 0
    if not 1 <= first <= last:
        message = f"{text!r} is not a page or a range of pages such as 12-20"
        raise argparse.ArgumentTypeError(message)
    return first, last


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Answer the question."""
    if not args.question.strip():
        raise UserFacingError("The question is empty", "Write what you want to know")
    library = Library(paths)
    if Mode(args.mode) not in MODES:
        raise UserFacingError("No adapter has been trained for this book", "Ask in retrieval mode")
    book = find_book(library, args.book) if args.book else None
    search.searchable(library, [book.id] if book else None)  # before a model is fetched for it
    pages = _range(library, book, args)
    shelf = ModelShelf(paths.models, catalogue.load())
    _ensure_model(shelf, paths, args.model)
    answerer = Answerer(library, shelf)
    with ProgressLine() as line:
        answerer.load(args.model, Listener(stage=line))
        library.embedder.load()  # before the clock starts, like the model
        request = _request(library, book, pages, args)
        answer = answerer.answer(request, _listener(line, stream=not args.json))
    answer = locate(library, answer)
    if args.json:
        print_json(_json(answer))
    else:
        _print(answer)
    return 0


def _range(library: Library, book: Book | None, args: argparse.Namespace) -> tuple[int, int] | None:
    if args.chapter is None:
        chosen: tuple[int, int] | None = args.pages
        if chosen is not None and book is not None and chosen[0] > book.pages:
            raise UserFacingError(
                f"“{book.title}” has no page {chosen[0]}", f"It has {book.pages} pages"
            )
        return chosen
    if book is None:
        raise UserFacingError("A chapter needs its book", "Name it with --book")
    return scope.chapter(library.catalog, book, args.chapter)


def _ensure_model(shelf: ModelShelf, paths: Paths, name: str | None) -> None:
    """Fetch the recommended model where none is installed, after saying so."""
    machine = hardware.survey()
    if name is not None or shelf.default(None, machine) is not None:
        return
    recommendation = choice.recommend(catalogue.load(), machine)
    model = recommendation.model
    notice(f"No language model is installed. {recommendation.reason}")
    notice(f"Getting {model.title} ({model.size_bytes / 1e6:,.0f} MB), once.")
    with ProgressLine(model.name) as line:
        download.fetch(model, paths.models, progress=line, cancelled=lambda: False)


def _request(
    library: Library, book: Book | None, pages: tuple[int, int] | None, args: argparse.Namespace
) -> Request:
    books = [book.id] if book else None
    # Indexing elsewhere stands back for the search too.
    with library.turns.answering(waiting=_say_waiting):
        start = time.monotonic()
        hits = evidence.gather(library, args.question, books=books, pages=pages)
        absent = evidence.absent_names(library, args.question, books=books)
    return Request(
        question=args.question,
        mode=Mode(args.mode),
        hits=tuple(hits),
        books=tuple(found.id for found in search.searchable(library, books)),
        pages=pages,
        model=args.model,
        absent=absent,
        retrieve_s=time.monotonic() - start,
        fresh=args.fresh,
    )


def _say_waiting() -> None:
    notice("Another answer is being written; this one comes next.")


def _listener(line: ProgressLine, *, stream: bool) -> Listener:
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

    return Listener(stage=stage, token=token)


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
    if not sys.stdout.isatty() or answer.abstained:
        print(answer.answer)
    else:
        print()
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
