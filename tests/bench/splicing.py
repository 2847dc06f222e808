"""The first word from a book that was read ahead, against reading the same passages then.

    python tests/bench/splicing.py QUESTIONS.jsonl --book BOOK --library FOLDER

Each question is answered twice from the same leaves: put in by their states, and read. Only the
leaves that a question needs are read ahead, so that no whole book has to be. What is compared is
the model's first draft: whether it states the facts that a right answer must, and whether it
refuses. The models are those of LUTRIN_MODELS or of the usual place.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from asking import arguments, opened

from desktop import environment
from desktop.core.answering import prompts
from desktop.core.answering.leaves import Leaves
from desktop.core.answering.request import Draft, Listener, Request
from desktop.core.answering.study import study
from desktop.core.evaluation import questions
from desktop.core.evaluation.scoring import correct
from desktop.core.library.where import Where
from desktop.core.records import Mode
from desktop.core.retrieval.lookup import look_up

if TYPE_CHECKING:
    from desktop.core.answering.answerer import Answerer
    from desktop.core.library.library import Library


def main() -> None:
    environment.prepare()
    parser = arguments(__doc__)
    parser.add_argument("--most", type=int, default=30, help="ask at most so many")
    args = parser.parse_args()
    bench = Bench(*opened(args), args.model)
    asked = [q for q in questions.read(args.questions) if q.pages and q.must]
    rows = [row for q in asked[:: args.every][: args.most] if (row := bench.ask(q))]
    ratio = median(row["plain_s"] / row["spliced_s"] for row in rows)
    count = len(rows)
    print(f"{count} questions, {median(row['tokens'] for row in rows):,} tokens at the median")
    print(f"first word {ratio:.1f} times sooner at the median")
    for way in ("plain", "spliced"):
        right, refused = (
            sum(row[f"{way}_{what}"] for row in rows) for what in ("right", "refused")
        )
        seconds = median(row[f"{way}_s"] for row in rows)
        print(f"{way}: {seconds:.2f} s; right {right} of {count}; refused {refused}")


class Bench:
    """Asks each question in both ways."""

    def __init__(self, library: Library, answerer: Answerer, book: str, model: str | None) -> None:
        self._library = library
        self._answerer = answerer
        self._book = book
        self._model = model
        self._texts = prompts.load()

    def ask(self, question: questions.Question) -> dict[str, Any] | None:
        """Return the figures of a question; None where it only wants a list."""
        found = look_up(self._library, question.question, where=Where((self._book,)))
        if found.listing:
            return None
        for page in sorted({hit.passage.page for hit in found.hits}):
            part = Where((self._book,), pages=(page, page))
            study(self._library, self._answerer.models, part, self._model, Listener())
        request = Request(question.question, Mode.RETRIEVAL, found, self._model)
        spliced = self._write(request)
        with patch.object(Leaves, "load", return_value=None):
            plain = self._write(request)
        times = spliced.timings
        row: dict[str, Any] = {
            "tokens": times.prompt_tokens,
            "read": times.prompt_tokens - times.reused_tokens,
        }
        for way, draft in (("spliced", spliced), ("plain", plain)):
            row[f"{way}_s"] = draft.timings.ttft_s - draft.timings.retrieve_s
            row[f"{way}_right"] = bool(correct(draft.text, question.must))
            row[f"{way}_refused"] = self._texts.refusal in draft.text
        print(question.id, row, flush=True)
        for draft in (plain, spliced):
            print("   ", " ".join(draft.text.split())[-200:], flush=True)
        return row

    def _write(self, request: Request) -> Draft:
        """Write an answer, of the last one nothing being in the memory but the fixed start."""
        with self._answerer.models.used(self._model, Listener()) as loaded:
            opening = Leaves(self._library, loaded, self._texts).opening
            loaded.engine.read_ahead(opening, ())
        return self._answerer.write(request, Listener())


if __name__ == "__main__":
    main()
