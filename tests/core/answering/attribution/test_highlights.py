from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.answering.attribution.highlights import locate
from desktop.core.documents.page_text import rects_of
from desktop.core.errors import UserFacingError
from desktop.core.library.indexing import Indexer
from desktop.core.records import Answer, Citation, Mode, Timings, Verdict
from tests.core import makers

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.library.library import Library

PAGES = ["The heron stands.\nIt waits for fish", "A swan\n\nswims past"]


def answer(*citations: Citation) -> Answer:
    return Answer("q", Mode.RETRIEVAL, "m", "a", False, citations, (), Timings())


def cite(book: str, page: int, text: str, quote: str) -> Citation:
    start = text.index(quote)
    return Citation(
        1, book, "B", page, str(page), quote, start, start + len(quote), Verdict.VERBATIM, 1.0
    )


def test_the_rectangles_are_those_of_the_quoted_words(library: Library, tmp_path: Path) -> None:
    added = Indexer(library).add(makers.pdf(tmp_path / "b.pdf", PAGES))
    assert added.book
    book = added.book.id
    first, second = library.catalog.pages(book)
    located = locate(
        library,
        answer(
            cite(book, 1, first.text, "stands.\nIt waits"),
            cite(book, 2, second.text, "swan"),
            cite(book, 1, first.text, "heron"),
        ),
    )
    document = library.open(book)
    for citation in located.citations:
        words = document.page(citation.page).words
        expected = rects_of(words, citation.start, citation.end)
        assert [tuple(map(float, r)) for r in citation.rects] == [
            pytest.approx(rect, abs=0.006) for rect in expected
        ]
        # The text under the rectangles is the quote.
        inside = [
            w for w in words
            if any(r[0] - 1 < (w.rect[0] + w.rect[2]) / 2 < r[2] + 1
                   and r[1] - 1 < (w.rect[1] + w.rect[3]) / 2 < r[3] + 1 for r in citation.rects)
        ]  # fmt: skip
        text = document.page(citation.page).text
        assert [text[w.start : w.end] for w in inside] == citation.quote.split()
    document.close()
    assert [len(citation.rects) for citation in located.citations] == [2, 1, 1]


def test_an_answer_without_citations_opens_nothing(library: Library) -> None:
    plain = answer()
    assert locate(library, plain) == plain


def test_a_book_whose_file_is_gone_says_so(library: Library) -> None:
    with pytest.raises(UserFacingError, match="is not there"):
        locate(library, answer(cite(makers.book_id("a"), 1, "text", "text")))
