from __future__ import annotations

from pathlib import Path

import pytest

from desktop.core.documents.registry import open_document
from desktop.core.evaluation import claims
from desktop.core.evaluation.claims import LabelledClaim

FILES = sorted((Path(__file__).parents[2] / "data" / "claims").glob("*.jsonl"))
KNOWN = [claim for file in FILES for claim in claims.read(file)]
TRUE = {"true-verbatim", "true-paraphrase", "true-two-sentences"}
FALSE = {
    "false-number", "false-name", "false-role", "false-negation", "false-quantifier",
    "false-direction", "false-cause", "false-condition", "false-opposite", "false-neighbour",
    "false-half", "false-world",
}  # fmt: skip


@pytest.mark.parametrize(
    ("anchor", "found"),
    [
        ("Herons wade … they fish.", "Herons wade in shal-\nlow water, where they ﬁsh."),
        ("where they fish.", "where they ﬁsh."),
        ("Storks … they fish.", None),
        ("they fish. … Herons wade", None),
    ],
)
def test_an_anchor_is_found_however_a_page_is_set(anchor: str, found: str | None) -> None:
    text = "Of birds. Herons wade in shal-\nlow water, where they ﬁsh. Then they rest."
    place = claims.span(text, anchor)
    assert (place and text[slice(*place)]) == found


def test_the_share_that_is_marked_is_told_by_kind_and_by_truth() -> None:
    def claim(label: str, kind: str) -> LabelledClaim:
        return LabelledClaim("1", "b.pdf", (1,), "a", "c", label, kind)

    results = [
        (claim("supported", "true-paraphrase"), True),
        (claim("supported", "true-paraphrase"), False),
        (claim("contradicted", "false-role"), True),
        (claim("absent", "false-world"), False),
    ]
    assert claims.by_kind(results) == {
        "true-paraphrase": {"n": 2, "supported": 0.5},
        "true": {"n": 2, "supported": 0.5},
        "false-role": {"n": 1, "supported": 1.0},
        "false-world": {"n": 1, "supported": 0.0},
        "false": {"n": 2, "supported": 0.5},
    }


def test_the_labelled_claims_are_whole() -> None:
    assert len(KNOWN) >= 600
    assert len({claim.id for claim in KNOWN}) == len(KNOWN)
    assert len({(claim.book, claim.claim) for claim in KNOWN}) == len(KNOWN)
    assert {claim.kind for claim in KNOWN} == TRUE | FALSE
    for claim in KNOWN:
        assert claim.label in claims.LABELS
        assert (claim.label == claims.SUPPORTED) == (claim.kind in TRUE)


@pytest.mark.books
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_decides_stands_on_the_page(file: Path, shared: Path) -> None:
    known = claims.read(file)
    document = open_document(shared / "books" / known[0].book)
    texts = {n: document.page(n).text for claim in known for n in claim.pages}
    document.close()
    lost = [c.id for c in known if not any(claims.span(texts[n], c.anchor) for n in c.pages)]
    assert not lost
