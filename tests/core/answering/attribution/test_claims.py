from __future__ import annotations

from desktop.core.answering.attribution import claims
from desktop.core.answering.attribution.citations import prove
from desktop.core.answering.prompt.context import Source
from desktop.core.records import Verdict

TEXT = "A growth substance gathers in the shade. The cells there grow longer. So the stem bends."
SOURCE = Source("b", "Plants", 3, "3", "", 10, TEXT, 0.9)


def test_quotations_are_parted_from_the_answer() -> None:
    written = claims.part("> One.\n> Two.\n> One.\n\nSo it is [1].")
    assert (written.quotes, written.text) == (("One.", "Two."), "So it is.")


def test_the_rows_of_a_table_are_quoted_without_their_bars() -> None:
    written = claims.part("> | Year | Birds |\n> |---|---|\n> | 1980 | 12 |\n\nTwelve.")
    assert (written.quotes, written.text) == (("Year \u00b7 Birds", "1980 \u00b7 12"), "Twelve.")


def test_quotations_alone_are_the_answer() -> None:
    written = claims.part("> One.\n> Two.")
    assert (written.quotes, written.text) == ((), "One.\nTwo.")


def test_a_true_quotation_is_shown_with_its_place() -> None:
    proved = prove("> The cells there grow longer.\n\nThe stem bends.", "Why?", [SOURCE])
    quote, _, answer = proved.text.partition("\n\n")
    assert quote == "> The cells there grow longer [1]."
    assert answer == "The stem bends [2]."
    assert proved.citations[0].quote == "The cells there grow longer."
    assert proved.citations[0].start == 10 + TEXT.index("The cells")
    assert proved.quotes == 1


def test_an_invented_quotation_is_dropped() -> None:
    proved = prove("> The cells die at once.\n\nThe stem bends.", "Why?", [SOURCE])
    assert proved.text == "The stem bends [1]."
    assert proved.quotes == 0


def test_a_quotation_that_says_no_more_than_the_answer_is_dropped() -> None:
    proved = prove("> So the stem bends.\n\nSo the stem bends.", "Why?", [SOURCE])
    assert proved.text == "So the stem bends [1]."
    assert proved.quotes == 1
    assert [c.verdict for c in proved.citations] == [Verdict.VERBATIM]
