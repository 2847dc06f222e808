"""`lutrin eval`: figures over questions whose answers and pages are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.cli.books import find_book
from desktop.cli.options import answering, common, mode
from desktop.cli.output import ProgressLine, notice, print_json
from desktop.core.answering.generation.answer_generator import AnswerGenerator
from desktop.core.answering.pipeline import steps
from desktop.core.answering.pipeline.executor import execute
from desktop.core.answering.request import Listener
from desktop.core.evaluation import figures
from desktop.core.evaluation.questions import read
from desktop.core.evaluation.run import Asked, evaluate
from desktop.core.library.library import Library
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.models import catalogue
from desktop.core.llm.models.store import ModelStore
from desktop.core.retrieval import search

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from desktop.core.answering.request import Draft
    from desktop.core.evaluation.figures import Outcome
    from desktop.core.records import Answer
    from desktop.paths import Paths


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser("eval", help="measure over questions with known answers")
    parser.add_argument("questions", metavar="QUESTIONS.jsonl", type=Path, help="one a line")
    parser.add_argument(
        "--book", metavar="B", required=True, help="id, title or file; a file is added first"
    )
    parser.add_argument(
        "--retrieval-only", action="store_true", help="measure finding; needs no language model"
    )
    answering(parser)
    common(parser, nested=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Ask all the questions and print the figures."""
    questions = read(args.questions)
    library = Library(paths)
    book = find_book(library, args.book)
    where = SearchFilter((book.id,))
    search.searchable(library, where.books)
    library.embedder.load()  # loading is no part of an answer
    with ProgressLine() as line:
        ask = None if args.retrieval_only else _asker(library, where, args, paths, line)
        outcomes = evaluate(
            questions,
            find=lambda question, limit: search.find(library, question, where=where, limit=limit),
            ask=ask,
            progress=line,
        )
    report = summary(outcomes)
    if args.json:
        print_json({**report, "per_question": [outcome.row() for outcome in outcomes]})
    else:
        _print(report)
    return 0


def _asker(
    library: Library,
    where: SearchFilter,
    args: argparse.Namespace,
    paths: Paths,
    line: ProgressLine,
) -> Callable[[str], Asked]:
    answerer = AnswerGenerator(library, ModelStore(paths.models, catalogue.load()))
    answerer.load(args.model, Listener(stage=line))

    def ask(question: str) -> Asked:
        drafts: list[Draft] = []
        rounds: list[Answer] = []

        def one(step: steps.Step) -> Any:
            result = execute(step, library, answerer, Listener())
            if isinstance(step, steps.Verify):
                rounds.append(result)
                drafts.append(step.draft)
            return result

        asked = steps.Question(
            question,
            mode(args),
            where=where,
            model=args.model,
            fresh=args.fresh,
            map_reduce=args.through,
        )
        given = steps.run(steps.answer_pipeline(asked), one)
        return Asked(given, tuple(drafts), tuple(rounds))

    return ask


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures over all sound questions, by type, and of the doubtful ones apart."""
    sound = [outcome for outcome in outcomes if not outcome.question.weak]
    weak = [outcome for outcome in outcomes if outcome.question.weak]
    report = {**figures.summarise(sound), "by_type": figures.by_type(sound)}
    if weak:
        report["weak"] = figures.summarise(weak)
    return report


def _print(report: dict[str, Any]) -> None:
    groups = {"all": report, **report["by_type"]}
    if "weak" in report:
        groups["(doubtful)"] = report["weak"]
    names = [name for name, value in report.items() if not isinstance(value, dict)]
    width = max(map(len, names))
    print(" " * width, *(f"{group:>12}" for group in groups))
    for name in names:
        cells = (group.get(name) for group in groups.values())
        print(f"{name:<{width}}", *(f"{_cell(cell):>12}" for cell in cells))
    if "answer_correct" not in report:
        notice("Only finding was measured.")


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.2f}"
