from __future__ import annotations

import pytest

from desktop.core.answering.attribution.citations import prove
from desktop.core.answering.prompt.context import Source
from desktop.core.records import Verdict

HERON = (
    "The grey heron is a wading bird of the marshes. It reaches a height of 98 cm and weighs up "
    "to 2 kilograms. Its diet is made up of small fish, frogs and insects."
)
INFLATION = (
    "Inflation is a general and ongoing rise in the level of prices. In 1980 the rate of "
    "inflation in the United States reached 13.5 percent."
)


def source(text: str, page: int = 7, start: int = 0, book: str = "b1") -> Source:
    return Source(book, "A book", page, f"p{page}", "Section", start, text, score=0.5)


SOURCES = [source(HERON, 7, start=100), source(INFLATION, 9)]


def test_a_quoted_sentence_is_verbatim() -> None:
    proved = prove("The grey heron is a wading bird of the marshes.", "What is it?", SOURCES)
    assert proved.text == "The grey heron is a wading bird of the marshes [1]."
    (citation,) = proved.citations
    assert citation.verdict is Verdict.VERBATIM
    assert citation.score == 1.0
    assert citation.quote == "The grey heron is a wading bird of the marshes."
    assert (citation.book, citation.page, citation.page_label) == ("b1", 7, "p7")
    assert (proved.unsupported, proved.claims) == ((), 1)


def test_verbatim_is_blind_to_case_accents_and_hyphens() -> None:
    (citation,) = prove("the GREY héron is a wading bird of the marshes", "", SOURCES).citations
    assert citation.verdict is Verdict.VERBATIM


def test_other_words_for_the_same_are_supported() -> None:
    proved = prove("Small fish, frogs and insects form the heron's diet.", "", SOURCES)
    (citation,) = proved.citations
    assert citation.verdict is Verdict.SUPPORTED
    assert 0.5 <= citation.score < 1
    assert "Its diet is made up of small fish" in citation.quote


def test_what_no_source_says_is_unmarked() -> None:
    answer = "The grey heron is a wading bird of the marshes. Paris is the capital of France."
    proved = prove(answer, "", SOURCES)
    assert proved.text == (
        "The grey heron is a wading bird of the marshes [1]. Paris is the capital of France."
    )
    assert proved.unsupported == ("Paris is the capital of France.",)
    assert proved.claims == 2
    assert len(proved.citations) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "It reaches a height of 89 cm and weighs up to 2 kilograms.",
        "It reaches a height of 98 cm and weighs up to 20 kilograms.",
        "In 1981 the rate of inflation in the United States reached 13.5 percent.",
        "In 1980 the rate of inflation in the United States reached 135 percent.",
    ],
)
def test_a_number_that_no_source_has_is_never_proved(answer: str) -> None:
    proved = prove(answer, "", SOURCES)
    assert proved.citations == ()
    assert proved.unsupported == (answer,)


def test_numbers_may_be_written_otherwise() -> None:
    sources = [source("The town had 10,000 people in the year 1902.")]
    assert prove("The town had 10000 people in the year 1902.0.", "", sources).citations


@pytest.mark.parametrize(
    "invented",
    ["[3]", " [1, 2]", "[2–4]", " (passage 2)", " (Passages [1])", " (source 4)", " [1][2]"],
)
def test_markers_of_the_model_are_thrown_away(invented: str) -> None:
    answer = f"The grey heron is a wading bird of the marshes{invented}. It is pink{invented}."
    proved = prove(answer, "", SOURCES)
    assert proved.text == "The grey heron is a wading bird of the marshes [1]. It is pink."


def test_a_list_is_marked_entry_by_entry() -> None:
    answer = (
        "The grey heron:\n- is a wading bird of the marshes\n"
        "- reaches a height of 98 cm and weighs up to 2 kilograms\n- sings opera every evening\n"
        "1. Inflation is a general and ongoing rise in the level of prices."
    )
    proved = prove(answer, "", SOURCES)
    lines = proved.text.split("\n")
    assert lines[1] == "- is a wading bird of the marshes [1]"
    assert lines[2].endswith("2 kilograms [2]")
    assert lines[3] == "- sings opera every evening"
    assert lines[4].startswith("1. Inflation")
    assert lines[4].endswith("prices [3].")
    assert "sings opera every evening" in proved.unsupported


def test_the_same_sentence_has_the_same_marker() -> None:
    answer = (
        "The grey heron is a wading bird of the marshes. "
        "Inflation is a general and ongoing rise in the level of prices. "
        "The grey heron is a wading bird of the marshes."
    )
    proved = prove(answer, "", SOURCES)
    assert [c.marker for c in proved.citations] == [1, 2]
    assert proved.text.count("[1]") == 2
    assert proved.text.count("[2]") == 1


def test_of_equal_places_the_better_found_one_is_cited() -> None:
    twins = [source(HERON, 30), source(HERON, 4), source(HERON, 17)]
    (citation,) = prove("The grey heron is a wading bird of the marshes.", "", twins).citations
    assert citation.page == 30
    (citation,) = prove("A bird of the marshes is the grey heron.", "", twins[::-1]).citations
    assert citation.page == 17


def test_offsets_are_those_of_the_page() -> None:
    """The quote stands at its offsets in the page's text, whatever comes before the passage."""
    page = f"A heading\n\nBefore.\n\n{HERON}\n\nAfter."
    start = page.index(HERON)
    answer = "Its diet is made up of small fish, frogs and insects. It weighs up to 2 kilograms."
    proved = prove(answer, "", [source(HERON, start=start)])
    assert len(proved.citations) == 2
    for citation in proved.citations:
        assert page[citation.start : citation.end] == citation.quote


def test_two_sentences_in_a_row_may_prove_one() -> None:
    sources = [source("Herons nest in trees. They share them with storks.")]
    (citation,) = prove("Herons nest in trees that they share with storks.", "", sources).citations
    assert citation.quote == sources[0].text


@pytest.mark.parametrize("answer", ["", "  ", "...", "[1]", "- \n- ", "It is so."])
def test_an_answer_that_claims_nothing(answer: str) -> None:
    proved = prove(answer, "q", SOURCES)
    assert (proved.citations, proved.unsupported, proved.claims) == ((), (), 0)


def test_without_sources_nothing_is_proved() -> None:
    proved = prove("Herons fish.", "q", [])
    assert (proved.text, proved.citations, proved.unsupported) == (
        "Herons fish.",
        (),
        ("Herons fish.",),
    )


def test_white_space_and_lines_of_the_answer_are_kept() -> None:
    answer = "The grey heron is a wading bird of the marshes.\n\nParis is big.\n\n- London is too"
    expected = answer.replace("marshes.", "marshes [1].")
    assert prove(answer, "", SOURCES).text == expected


def test_a_denial_is_not_proved_by_its_opposite() -> None:
    read = source("The grey heron is a wading bird of the marshes.")
    proved = prove("The grey heron is not a wading bird of the marshes.", "What?", [read])
    assert proved.citations == ()


def test_two_proofs_that_begin_alike_stay_two() -> None:
    read = source("Herons nest in trees. They share them with storks in spring.")
    answer = "Herons nest in trees. They share their nests in trees with storks in spring."
    proved = prove(answer, "Where?", [read])
    assert [c.marker for c in proved.citations] == [1, 2]
    assert "storks" in proved.citations[1].quote


@pytest.mark.parametrize("code", ["x[1] is set", "word[0] is set", "see [1](#a) there"])
def test_code_and_links_are_left_alone(code: str) -> None:
    assert code in prove(code + " by herons.", "What?", [source("Nothing of it.")]).text


def test_a_country_that_the_question_names_need_not_be_named_again() -> None:
    text = "The federal minimum wage in 2022 was $7.25 per hour."
    claim = "The US federal minimum wage in 2022 was $7.25 per hour."
    asked = "What was the US minimum wage in 2022?"
    assert len(prove(claim, asked, [source(text)]).citations) == 1
    assert prove(claim.replace("US", "Danish"), asked, [source(text)]).citations == ()


@pytest.mark.parametrize(
    "claim",
    [
        "Inflation is a general and ongoing fall in the level of prices.",
        "Inflation is not a general and ongoing rise in the level of prices.",
        "In 1980 the rate of inflation in the United States reached -13.5 percent.",
        "In 1980 the rate of inflation in the United States reached 13.5 dollars.",
        "In 1980 the rate of inflation in Denmark reached 13.5 percent.",
    ],
)
def test_another_fact_is_not_proved(claim: str) -> None:
    assert prove(claim, "", SOURCES).citations == ()
