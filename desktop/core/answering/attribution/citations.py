"""Tying each sentence of an answer to the sentence of the book that proves it.

Markers that a model wrote are thrown away, and a marker stands only where a sentence of a source
proves what the answer says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.core.answering.attribution import claims
from desktop.core.answering.attribution.alignment import Aligner
from desktop.core.records import Citation, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.answering.attribution.alignment import Embed, Proof
    from desktop.core.answering.prompt.context import Source


@dataclass(frozen=True)
class Proved:
    """An answer with its proofs.

    Attributes:
        text: The answer with markers.
        own: The answer without markers and quotations.
        unsupported: Sentences for which no proof was found.
        claims: Sentences that state something.
        scores: For each of them the share that its proof covers; 0 where there is none.
        quotes: Lines that the model copied word for word.
    """

    text: str
    own: str
    citations: tuple[Citation, ...]
    unsupported: tuple[str, ...]
    claims: int
    scores: tuple[float, ...] = ()
    quotes: int = 0


def prove(
    answer: str, question: str, sources: Sequence[Source], *, embed: Embed | None = None
) -> Proved:
    """Return the answer with a marker behind each sentence that a source proves.

    A quotation stays only where it stands in a source so, and says more than the answer does.

    Args:
        answer: The model's text.
        question: What was asked.
        sources: What the model read, best first.
        embed: Returns unit vectors of texts; None compares words only.
    """
    written = claims.part(answer)
    aligner = Aligner(sources, question, embed=embed)
    said = written.sentences()
    found = aligner.proofs([*said, *written.quotes])
    cited: list[Citation] = []
    true = [
        (quote, proof, adds)
        for quote, proof, adds in zip(written.quotes, found[len(said) :], written.adds, strict=True)
        if proof is not None and proof.verdict is Verdict.VERBATIM
    ]
    kept = [f"> {_marked(quote, proof, cited, sources)}" for quote, proof, adds in true if adds]
    pieces: list[str] = []
    position = 0
    for (start, end), proof in zip(written.claims, found, strict=False):
        pieces.append(written.text[position:start])
        pieces.append(_marked(written.text[start:end], proof, cited, sources))
        position = end
    pieces.append(written.text[position:])
    text = "\n\n".join(part for part in ("\n>\n".join(kept), "".join(pieces)) if part)
    proofs = found[: len(said)]
    return Proved(
        text,
        written.text,
        tuple(cited),
        tuple(claim for claim, proof in zip(said, proofs, strict=True) if proof is None),
        len(proofs),
        tuple(proof.score if proof else 0.0 for proof in proofs),
        len(true),
    )


def _marked(
    sentence: str, proof: Proof | None, cited: list[Citation], sources: Sequence[Source]
) -> str:
    """Return a sentence with its marker, and keep the citation."""
    if proof is None:
        return sentence
    marker = _cite(cited, sources[proof.source], proof).marker
    body = sentence.rstrip(".!?…。")
    return f"{body} [{marker}]{sentence[len(body) :]}"


def _cite(cited: list[Citation], source: Source, proof: Proof) -> Citation:
    start, end = source.start + proof.start, source.start + proof.end
    for citation in cited:
        place = (citation.book, citation.page, citation.start, citation.end)
        if place == (source.book, source.page, start, end):
            return citation
    citation = Citation(
        marker=len(cited) + 1,
        book=source.book,
        title=source.title,
        page=source.page,
        page_label=source.page_label,
        quote=source.text[proof.start : proof.end],
        start=start,
        end=end,
        verdict=proof.verdict,
        score=proof.score,
    )
    cited.append(citation)
    return citation
