"""Splicing: the first word from blocks that were prefilled, against reading them then.

    python tests/bench/splicing.py QUESTIONS.jsonl --book BOOK --library FOLDER

Each question is answered twice from the same blocks: put in by their states, and read. Only the
blocks that a question needs are prefilled, so that no whole book has to be. What is compared is
the answer of one round, the model's first draft with its proofs, by the figures of
`desktop/core/evaluation/figures.py`. The models are those of LUTRIN_MODELS or of the usual place.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING
from unittest.mock import patch

from asking import arguments, opened

from desktop import environment
from desktop.core.answering.generation.prefill import prefill
from desktop.core.answering.pipeline.executor import execute_in_library
from desktop.core.answering.pipeline.steps import Verify
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.blocks import PromptBlocks
from desktop.core.answering.request import Draft, Listener, Request
from desktop.core.evaluation import questions
from desktop.core.evaluation.figures import Outcome, summarise
from desktop.core.evaluation.scoring import correct
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import Answer, Mode
from desktop.core.retrieval.retrieve import retrieve

if TYPE_CHECKING:
    from desktop.core.answering.generation.answer_generator import AnswerGenerator
    from desktop.core.evaluation.questions import Question
    from desktop.core.library.library import Library

WAYS = ("plain", "spliced")
FIGURES = (
    "answer_correct", "citation_precision", "citation_on_gold_page", "citation_recall",
    "false_refusal_rate",
)  # fmt: skip


def main() -> None:
    environment.prepare()
    parser = arguments(__doc__)
    parser.add_argument("--most", type=int, default=30, help="ask at most so many")
    args = parser.parse_args()
    bench = Bench(*opened(args), args.model)
    asked = [q for q in questions.read(args.questions) if q.pages and q.must]
    rows = [row for q in asked[:: args.every][: args.most] if (row := bench.ask(q))]
    plain, spliced = ([row[way] for row in rows] for way in WAYS)
    ratio = median(
        _first_word(one) / _first_word(other) for one, other in zip(plain, spliced, strict=True)
    )
    print(f"{len(rows)} questions: first word {ratio:.1f} times sooner at the median")
    for way, outcomes in zip(WAYS, (plain, spliced), strict=True):
        figures = summarise(outcomes)
        print(
            f"{way}: {median(map(_first_word, outcomes)):.2f} s;",
            *(f"{name} {figures[name]}" for name in FIGURES),
        )


def _first_word(outcome: Outcome) -> float:
    """Return the seconds to the first word, without finding."""
    assert outcome.answer is not None
    return outcome.answer.timings.ttft_s - outcome.answer.timings.retrieve_s


class Bench:
    """Asks each question in both ways."""

    def __init__(
        self, library: Library, answerer: AnswerGenerator, book: str, model: str | None
    ) -> None:
        self._library = library
        self._answerer = answerer
        self._book = book
        self._model = model
        self._texts = prompts.load()

    def ask(self, question: Question) -> dict[str, Outcome] | None:
        """Return what came of a question in each way; None where it only wants a list."""
        found = retrieve(self._library, question.question, where=SearchFilter((self._book,)))
        if found.listing:
            return None
        for page in sorted({hit.passage.page for hit in found.hits}):
            part = SearchFilter((self._book,), pages=(page, page))
            prefill(self._library, self._answerer.models, part, self._model, Listener())
        request = Request(question.question, Mode.RETRIEVAL, found, self._model)
        spliced = self._write(request)
        with patch.object(PromptBlocks, "load", return_value=None):
            plain = self._write(request)
        pages = tuple(hit.passage.page for hit in found.hits)
        row = {}
        for way, draft in zip(WAYS, (plain, spliced), strict=True):
            answer = execute_in_library(self._library, Verify(request, draft))
            assert isinstance(answer, Answer)
            good = correct(answer.answer, question.must)
            row[way] = outcome = Outcome(question, pages, answer, good)
            times = draft.timings
            read = times.prompt_tokens - times.reused_tokens
            print(
                f"{question.id} {way}: {_first_word(outcome):.2f} s, {read} of "
                f"{times.prompt_tokens:,} tokens read, right {good}, refused {answer.abstained}",
                flush=True,
            )
        return row

    def _write(self, request: Request) -> Draft:
        """Write an answer, of the last one nothing being in the memory but the fixed start."""
        with self._answerer.models.foreground(self._model, Listener()) as loaded:
            prefix = PromptBlocks(self._library, loaded, self._texts).prefix
            loaded.engine.prefill_block(prefix, ())
        return self._answerer.generate(request, Listener())


if __name__ == "__main__":
    main()
