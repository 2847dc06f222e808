"""Prompt lookup: writing with guesses that are checked, against writing token by token.

    python tests/bench/prompt_lookup.py QUESTIONS.jsonl --book BOOK --library FOLDER

Each question is answered in both ways from the same prompt, which is read before; quotations, of
which the guide leaves no choice, are read at once in both. Says how much sooner the text is there
and how many texts are the same to the letter. The models are those of LUTRIN_MODELS or of the
usual place.
"""

from __future__ import annotations

from statistics import median
from unittest.mock import patch

from asking import arguments, opened

from desktop import environment
from desktop.core.answering.request import Listener, Request
from desktop.core.evaluation import questions
from desktop.core.library.search_filter import SearchFilter
from desktop.core.llm.runtime.prompt_lookup import PromptLookup
from desktop.core.records import Mode
from desktop.core.retrieval.retrieve import retrieve


def main() -> None:
    environment.prepare()
    args = arguments(__doc__).parse_args()
    library, answerer, book = opened(args)
    times: dict[str, list[float]] = {"plain": [], "guessed": []}
    same = 0
    for question in questions.read(args.questions)[:: args.every]:
        found = retrieve(library, question.question, where=SearchFilter((book,)))
        if found.listing:
            continue
        request = Request(question.question, Mode.RETRIEVAL, found, args.model)
        answerer.generate(request, Listener())
        with patch.object(PromptLookup, "draft", return_value=[]):
            plain = answerer.generate(request, Listener())
        guessed = answerer.generate(request, Listener())
        for way, draft in (("plain", plain), ("guessed", guessed)):
            figures = draft.timings
            times[way].append(figures.generated_tokens / figures.tokens_per_s)
        same += plain.text == guessed.text
        ratio = times["plain"][-1] / times["guessed"][-1]
        speeds = [each.timings.tokens_per_s for each in (plain, guessed)]
        print(question.id, speeds, f"{ratio:.2f}", plain.text == guessed.text, flush=True)
    ratios = [one / other for one, other in zip(times["plain"], times["guessed"], strict=True)]
    print(f"{len(ratios)} questions, {same} with the same text to the letter")
    whole = sum(times["plain"]) / sum(times["guessed"])
    print(f"written {whole:.2f} times as fast, {median(ratios):.2f} times at the median")


if __name__ == "__main__":
    main()
