"""Map-reduce: questions over several pages, chapters read through against passages found.

    python tests/bench/map_reduce.py QUESTIONS.jsonl --book BOOK --library FOLDER

Reading a whole book takes an hour or more on two cores; with what is read here, the chapters that
hold the pages a right answer is on, it takes minutes. Finding searches the whole book. Says for
each question whether the answer states the facts that a right one must, and for both ways how many
do. The models are those of LUTRIN_MODELS or of the usual place.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from asking import arguments, opened

from desktop import environment
from desktop.core.answering.modes import budget
from desktop.core.answering.pipeline import steps
from desktop.core.answering.pipeline.executor import execute
from desktop.core.answering.request import Listener
from desktop.core.evaluation import questions
from desktop.core.evaluation.scoring import correct
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Mode

if TYPE_CHECKING:
    from desktop.core.library.library import Library
    from desktop.core.records import Answer

TYPE = "multi-page"


def main() -> None:
    environment.prepare()
    parser = arguments(__doc__)
    parser.add_argument("--whole", action="store_true", help="read the whole book")
    args = parser.parse_args()
    library, answerer, book = opened(args)
    asked = [q for q in questions.read(args.questions) if q.type == TYPE and q.must][:: args.every]
    right = {"found": 0, "read": 0}
    for question in asked:
        everything = SearchFilter((book,))
        part = everything if args.whole else chapters(library, book, question.pages)
        for way, where in (("found", everything), ("read", part)):
            read = way == "read"
            mode = Mode.LONG_CONTEXT if read else Mode.RETRIEVAL
            wanted = steps.Question(
                question.question, mode, where, model=args.model, map_reduce=read
            )
            start = time.monotonic()
            answer: Answer = steps.run(
                steps.answer_pipeline(wanted),
                lambda step: execute(step, library, answerer, Listener()),
            )
            good = bool(correct(answer.answer, question.must))
            right[way] += good
            print(question.id, way, good, f"{time.monotonic() - start:.0f} s", flush=True)
            print("   ", " ".join(answer.answer.split()), *answer.notes, sep="\n    ", flush=True)
    for way, count in right.items():
        print(f"{way}: {count} of {len(asked)} right")


def chapters(library: Library, book: str, pages: tuple[int, ...]) -> SearchFilter:
    """Return the chapters of a book that some pages are in."""
    found = [
        part
        for part in budget.parts(library.catalog, book)
        if part.chapter and any(part.pages[0] <= page <= part.pages[1] for page in pages)
    ]
    return SearchFilter((book,), sections=tuple(path for part in found for path in part.sections))


if __name__ == "__main__":
    main()
