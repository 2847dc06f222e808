"""Tying each sentence of an answer to the sentence of the book that proves it.

No word of the model is taken for it: markers it wrote are thrown away, and a marker stands only
where a sentence of a source covers what the answer says.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from desktop.core.answering import folding
from desktop.core.documents import sentences
from desktop.core.records import Citation, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.answering.context import Source

SUPPORT = 0.5
"""Least share of a sentence's weighted words that its proof must cover. Chosen by reading 60
answers of the 1.5B model on two of the test books: below, pairs began to speak of other things."""
VERBATIM_WORDS = 4
"""A run of words shorter than this is a coincidence, not a quotation."""
_QUESTION_WEIGHT = 0.15
"""How much the question's words decide between places that cover a sentence equally."""
_RANK_WEIGHT = 0.01
"""How much a better rank decides, where all else is equal."""
_MARKER = r"\[[1-9]\d*(?:\s*[,;–-]\s*\d+)*\]"
_INVENTED = re.compile(
    r"(?:\s+|^|(?<=[.!?”\"])|(?<=[^\W\d_]{3}))" + _MARKER + r"(?:\s*" + _MARKER + r")*(?!\()"
    r"|\s*\((?:passages?|source)\s*\[?\d+\]?\)",
    re.IGNORECASE,
)
"""Markers that the model wrote; an index such as x[1] or word[0], or a link, is none."""
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_LIST_SPLIT = re.compile(r"\n(?=\s*(?:[-*•]|\d+[.)])\s+)|\n")


@dataclass(frozen=True)
class Proved:
    """An answer with its proofs.

    Attributes:
        text: The answer with markers.
        unsupported: Sentences for which no proof was found.
        claims: Sentences that state something.
    """

    text: str
    citations: tuple[Citation, ...]
    unsupported: tuple[str, ...]
    claims: int


@dataclass(frozen=True)
class _Candidate:
    """A sentence of a source, or two in a row."""

    source: int
    start: int
    end: int
    words: frozenset[str]
    plain: str
    numbers: frozenset[str]
    denies: bool


def prove(answer: str, question: str, sources: Sequence[Source]) -> Proved:
    """Return the answer with a marker behind each sentence that a source proves.

    Args:
        answer: The model's text.
        question: What was asked.
        sources: What the model read, best first.
    """
    text = _INVENTED.sub("", answer).strip()
    candidates = _candidates(sources)
    weights = _weights(candidates)
    asked = frozenset(folding.content_words(question))
    citations: list[Citation] = []
    unsupported = []
    pieces: list[str] = []
    claims = position = 0
    for start, end in _claims(text):
        sentence = text[start:end]
        if not folding.content_words(sentence):
            continue
        claims += 1
        found = _best(sentence, candidates, weights, asked)
        pieces.append(text[position:start])
        position = end
        if found is None:
            unsupported.append(sentence)
            pieces.append(sentence)
            continue
        candidate, verdict, score = found
        citation = _cite(citations, sources[candidate.source], candidate, verdict, score)
        pieces.append(_mark(sentence, citation.marker))
    pieces.append(text[position:])
    return Proved("".join(pieces), tuple(citations), tuple(unsupported), claims)


def _claims(text: str) -> list[tuple[int, int]]:
    """Return the spans of the answer's sentences and list entries."""
    spans = []
    position = 0
    for line in _LIST_SPLIT.split(text):
        offset = text.index(line, position)
        position = offset + len(line)
        mark = _LIST_MARK.match(line)
        skip = mark.end() if mark else 0
        spans += [(offset + skip + a, offset + skip + b) for a, b in sentences.spans(line[skip:])]
    return spans


def _candidates(sources: Sequence[Source]) -> list[_Candidate]:
    result = []
    for index, source in enumerate(sources):
        spans = sentences.spans(source.text)
        pairs = [(first[0], second[1]) for first, second in pairwise(spans)]
        for start, end in [*spans, *pairs]:
            text = source.text[start:end]
            result.append(
                _Candidate(
                    index,
                    start,
                    end,
                    frozenset(folding.content_words(text)),
                    " ".join(folding.words(text)),
                    frozenset(folding.numbers(text)),
                    folding.denies(text),
                )
            )
    return result


def _weights(candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Return inverse document frequencies over the candidates: rare words prove more."""
    counts = Counter(word for candidate in candidates for word in candidate.words)
    total = len(candidates) + 1
    return {word: math.log(1 + total / count) for word, count in counts.items()}


def _best(
    sentence: str,
    candidates: Sequence[_Candidate],
    weights: dict[str, float],
    asked: frozenset[str],
) -> tuple[_Candidate, Verdict, float] | None:
    said = frozenset(folding.content_words(sentence))
    unknown = math.log(2 + len(candidates))
    whole = sum(weights.get(word, unknown) for word in said)
    figures = folding.numbers(sentence)
    denies = folding.denies(sentence)
    quoted = " ".join(folding.words(sentence))
    best: tuple[float, _Candidate, Verdict, float] | None = None
    for candidate in candidates:
        if not figures <= candidate.numbers or (denies and not candidate.denies):
            continue
        covered = sum(weights[word] for word in said & candidate.words) / whole
        verbatim = _is_verbatim(quoted, candidate.plain)
        if covered < SUPPORT and not verbatim:
            continue
        # Of places that cover equally the tighter one, then the one that speaks of the question.
        tightness = len(said & candidate.words) / max(1, len(candidate.words))
        on_topic = len(asked & candidate.words) / max(1, len(asked))
        value = (
            covered
            + verbatim
            + _QUESTION_WEIGHT * (tightness + on_topic)
            - _RANK_WEIGHT * candidate.source
        )
        if best is None or value > best[0]:
            verdict = Verdict.VERBATIM if verbatim else Verdict.SUPPORTED
            best = (value, candidate, verdict, 1.0 if verbatim else covered)
    return best[1:] if best else None


def _is_verbatim(quoted: str, source: str) -> bool:
    short, long = sorted((quoted, source), key=len)
    if short.count(" ") + 1 < VERBATIM_WORDS:
        return False
    # A source's sentence inside a longer one of the answer proves only most of it.
    return f" {short} " in f" {long} " and (short == quoted or len(short) > 0.8 * len(long))


def _cite(
    citations: list[Citation],
    source: Source,
    candidate: _Candidate,
    verdict: Verdict,
    score: float,
) -> Citation:
    start, end = source.start + candidate.start, source.start + candidate.end
    for citation in citations:
        place = (citation.book, citation.page, citation.start, citation.end)
        if place == (source.book, source.page, start, end):
            return citation
    citation = Citation(
        marker=len(citations) + 1,
        book=source.book,
        title=source.title,
        page=source.page,
        page_label=source.page_label,
        quote=source.text[candidate.start : candidate.end],
        start=start,
        end=end,
        verdict=verdict,
        score=round(score, 3),
    )
    citations.append(citation)
    return citation


def _mark(sentence: str, marker: int) -> str:
    body = sentence.rstrip(".!?…。")
    return f"{body} [{marker}]{sentence[len(body) :]}"
