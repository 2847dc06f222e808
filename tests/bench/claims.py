"""How many true and false claims are marked supported, by kind; a section of docs/figures.md.

    python tests/bench/claims.py --data ../shared/data --library FOLDER

The claims are those of tests/data/claims, labelled by reading; each is put to the prover with the
passages of the pages that decide about it, as one sentence of an answer, with no question. What is
fitted may use the books of FITTED only; the others are held.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import figures_page

from desktop import environment, paths

environment.prepare()

from desktop.core.answering.attribution import citations  # noqa: E402
from desktop.core.answering.prompt.context import from_hit  # noqa: E402
from desktop.core.evaluation import claims  # noqa: E402
from desktop.core.library.indexing import Indexer  # noqa: E402
from desktop.core.library.library import Library  # noqa: E402
from desktop.core.records import Hit  # noqa: E402

if TYPE_CHECKING:
    from desktop.core.evaluation.claims import LabelledClaim

CLAIMS = Path(__file__).resolve().parents[1] / "data" / "claims"
FITTED = frozenset({
    "history_of_mathematics.pdf", "openstax_economics.pdf", "ipsur_statistics_r.pdf",
    "s2orc_paper_twocolumn.pdf",
})  # fmt: skip
"""Books whose claims may be used for fitting."""


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="has books/")
    parser.add_argument("--library", type=Path, required=True, help="books are added to it")
    parser.add_argument("--every", type=int, default=1, help="only every nth claim")
    args = parser.parse_args()
    library = Library(paths.choose(args.library))
    known = [claim for path in sorted(CLAIMS.glob("*.jsonl")) for claim in claims.read(path)]
    known = known[:: args.every]
    books = {name: _book(library, args.data / "books" / name) for name in {c.book for c in known}}
    results, seconds = [], []
    for claim in known:
        start = time.monotonic()
        results.append((claim, is_supported(library, books[claim.book], claim)))
        seconds.append(time.monotonic() - start)
    fitted = claims.by_kind(pair for pair in results if pair[0].book in FITTED)
    held = claims.by_kind(pair for pair in results if pair[0].book not in FITTED)
    lines = [
        "Made by `tests/bench/claims.py` from the claims of `tests/data/claims`: the share that is "
        "marked as supported, which should be 1 for the true ones and 0 for the false ones. Held "
        "are the books of which nothing is used for fitting.",
        "",
        "| kind | n | prover | n, held | prover, held |",
        "|---|---|---|---|---|",
    ]
    for kind in sorted(fitted, key=lambda kind: ("-" in kind, not kind.startswith("true"), kind)):
        cells = [f"{each['n']} | {each['supported']:.2f}" for each in (fitted[kind], held[kind])]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    lines += ["", f"{1000 * median(seconds):.0f} ms a claim at the median."]
    if args.every == 1:
        figures_page.put({"Proving claims": lines})
    print("\n".join(lines))


def is_supported(library: Library, book: str, claim: LabelledClaim) -> bool:
    """Return whether the prover lets a claim pass, given the passages of its pages."""
    passages = [p for page in claim.pages for p in library.catalog.passages_on(book, page)]
    sources = [from_hit(Hit(n, p, "", 0.5), len) for n, p in enumerate(passages, start=1)]
    proved = citations.prove(claim.claim, "", sources, embed=library.embedder.embed)
    return bool(proved.citations) and not proved.unsupported


def _book(library: Library, file: Path) -> str:
    book = Indexer(library).add(file).book
    assert book is not None
    return book.id


if __name__ == "__main__":
    main()
