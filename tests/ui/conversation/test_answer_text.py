from __future__ import annotations

import dataclasses

from desktop.core.records import Answer, Citation, LeftOut, Limit, Mode, Timings, Verdict
from desktop.ui.conversation import answer_text


def citation(marker: int, quote: str = "A quote.") -> Citation:
    return Citation(marker, "b", "Title", 57, "37", quote, 0, 8, Verdict.UNSUPPORTED, 0.1)


def answer(text: str, *citations: Citation) -> Answer:
    left_out = (LeftOut("b", (1, 9), 5000), LeftOut("b", (12, 12), 300))
    took = Timings(ttft_s=1.25, tokens_per_s=27.4, total_s=9.0)
    return Answer("q", Mode.RETRIEVAL, "m", text, False, citations, (), took, left_out)


def test_markers_become_links_only_where_there_is_a_place() -> None:
    given = answer("Yes [1]. And [1, 2][3] but [4](http://x).", citation(1), citation(2))
    text = answer_text.with_links(given)
    assert text.count("(cite:1)") == 2
    assert text.count("(cite:2)") == 1
    assert "[3]" in text
    assert "[4](http://x)" in text


def test_sources_say_page_label_and_verdict_and_escape_the_book() -> None:
    html = answer_text.sources([citation(1, "<b>x</b> & y")], lambda _: "#000", titles=True)
    assert "1 · p. 57 (printed 37) · Title" in html
    assert "&lt;b&gt;x&lt;/b&gt; &amp; y" in html
    assert "not found in the book" in html


def test_details_say_what_was_left_out() -> None:
    text = answer_text.details(answer("x"), "Tiny")
    assert "Retrieval · Tiny" in text
    assert "First word after 1.2 s · 27 tokens/s" in text
    assert "pages 1-9, page 12 (5,300 tokens)" in text


def test_limits_are_links_and_their_text_is_no_markup() -> None:
    text = answer_text.limits(
        [Limit("section", "Chapter 4 · *C* [x](y)"), Limit("pages", "page 3")]
    )
    assert "(limit:section)" in text
    assert "(limit:pages)" in text
    assert r"\*C\* \[x\](y)" in text


def test_a_list_from_the_book_has_no_model_in_its_details() -> None:
    listed = dataclasses.replace(answer("x"), model="", notes=("Listed from the book itself",))
    assert answer_text.details(listed, "") == "Listed from the book itself"


def test_copied_answer_carries_its_sources() -> None:
    text = answer_text.plain(answer("Yes [1].", citation(1)))
    assert text == "Yes [1].\n\n[1] Title, p. 57 (printed 37): “A quote.”"


def test_rounds_are_told_where_there_was_more_than_one() -> None:
    assert "Written 2 times" in answer_text.details(
        dataclasses.replace(answer("x"), rounds=2), "Tiny"
    )
    assert "Written " not in answer_text.details(answer("x"), "Tiny")


def test_a_limit_is_one_line_whatever_the_book_calls_it() -> None:
    text = answer_text.limits([Limit("section", "Chapter 4\n\n# <b>a</b> | `x`")])
    assert "\n" not in text
    assert r"\# \<b\>a\</b\> \| \`x\`" in text
