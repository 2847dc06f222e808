from __future__ import annotations

from dataclasses import replace

import pytest

from desktop.core.answering.pipeline.listing_answer import listing_answer
from desktop.core.records import Limit, Mode, Verdict
from desktop.core.retrieval.listing import Entry
from desktop.core.retrieval.results import RetrievalResult
from desktop.ui.conversation.answer_text import with_links
from tests.core import makers

A, B = makers.book_id("a"), makers.book_id("b")
HERON = Entry("Figure 1\nA heron at dawn", A, 3, "p3", 40, 64, "1 Birds")
TROUT = Entry("Figure 2 A trout", B, 9, "p9", 0, 16, "2 Fish")
LOST = Entry("2 Fish", A, 7, "p7", 0, 0, "2 Fish", level=2)


def found(*entries: Entry, listing: str = "figures") -> RetrievalResult:
    limits = (Limit("marks", listing),)
    books = ((A, "Birds"), (B, "Fish"))
    return RetrievalResult(
        "", (), books, limits=limits, listing=listing, entries=entries, retrieve_s=0.5
    )


def test_each_entry_is_cited_where_it_stands() -> None:
    answer = listing_answer("the figures", Mode.RETRIEVAL, found(HERON, TROUT))
    assert answer.answer == (
        "2 figures:\n\n- Figure 1 A heron at dawn, page 3 [1]\n- Figure 2 A trout, page 9 [2]"
    )
    one, two = answer.citations
    assert (one.book, one.title, one.page, one.page_label) == (A, "Birds", 3, "p3")
    assert (one.start, one.end, one.quote) == (40, 64, HERON.text)
    assert (two.marker, two.title, two.verdict, two.score) == (2, "Fish", Verdict.VERBATIM, 1.0)


def test_an_entry_whose_place_is_not_known_has_no_marker() -> None:
    answer = listing_answer("the chapters", Mode.RETRIEVAL, found(LOST, HERON, listing="contents"))
    lines = answer.answer.split("\n")
    assert lines[2:] == ["  - 2 Fish, page 7", "- Figure 1 A heron at dawn, page 3 [1]"]
    assert [citation.page for citation in answer.citations] == [3]


def test_it_says_that_no_model_was_asked() -> None:
    answer = listing_answer("q", Mode.LONG_CONTEXT, found(HERON))
    assert (answer.question, answer.mode, answer.model) == ("q", Mode.LONG_CONTEXT, "")
    assert (answer.abstained, answer.unsupported, answer.context) == (False, (), ())
    assert answer.limits == (Limit("marks", "figures"),)
    assert answer.timings.total_s == 0.5
    assert "no model" in answer.notes[0]


@pytest.mark.parametrize("listing", ["contents", "figures", "tables", "definitions"])
def test_every_kind_of_list_has_its_heading(listing: str) -> None:
    answer = listing_answer("q", Mode.RETRIEVAL, found(HERON, TROUT, listing=listing))
    assert answer.answer.startswith("2 ")
    assert listing in answer.answer.split("\n")[0]


def test_a_number_in_brackets_in_the_book_is_no_marker() -> None:
    entry = replace(HERON, text="Figure 1 A heron, after [2]")
    answer = listing_answer("q", Mode.RETRIEVAL, found(entry, TROUT))
    assert with_links(answer).count("(cite:2)") == 1


def test_a_list_that_was_cut_says_how_many_more_there_are() -> None:
    answer = listing_answer("q", Mode.RETRIEVAL, found(HERON, replace(TROUT, more=40)))
    lines = answer.answer.split("\n")
    assert lines[0] == "42 figures:"
    assert lines[-1] == "The first 2 are listed; there are 40 more."
    assert len(answer.citations) == 2
