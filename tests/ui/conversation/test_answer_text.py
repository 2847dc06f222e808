from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor

from desktop.core.answering.modes.budget import Estimate
from desktop.core.llm.hardware.memory_plan import Shortage
from desktop.core.records import Answer, Citation, LeftOut, Limit, Mode, Progress, Timings, Verdict
from desktop.ui import formatting
from desktop.ui.conversation import answer_text
from desktop.ui.conversation.status_line import status_text
from desktop.ui.flow_text import FlowText
from desktop.ui.shell.drag_and_drop import promise, sort_paths

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot


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


def test_numbers_and_times_are_plain() -> None:
    assert formatting.size(98_400_000) == "98 MB"
    assert formatting.size(1_117_000_000) == "1.1 GB"
    assert formatting.time_left(4.2) == "4 s left"
    assert formatting.time_left(52) == "about 50 s left"
    assert formatting.time_left(200) == "about 3 min left"
    assert formatting.time_left(8000) == "about 2 h left"
    assert formatting.time_left(None) == ""
    assert formatting.reading(312, 1087, 4) == "Reading page 312 of 1,087 · 4 s left"
    assert formatting.listed(["a", "b", "c", "d"]) == "a, b, c and 1 more"
    step = Progress("reading", 40, 100, "tokens", 9.0)
    assert status_text(step) == "Reading the passages… 40 % · 9 s left"


def test_answer_text_shows_html_as_text_and_loads_nothing(
    qtbot: QtBot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = FlowText()
    qtbot.addWidget(text)
    text.resize(300, 50)
    text.set_markdown("a <script>x</script> ![p](file:///etc/passwd) [\u20091\u2009](cite:1)")
    assert "<script>" in text.toPlainText()
    assert "root:" not in text.toPlainText()
    text.style_links("cite:", back=QColor("red"), front=QColor("blue"))
    (span,) = list(text._links("cite:"))
    assert span[1] - span[0] == 3


def test_text_is_as_tall_as_what_is_in_it(qtbot: QtBot) -> None:
    text = FlowText()
    qtbot.addWidget(text)
    text.resize(200, 20)
    text.show()
    for _ in range(40):
        text.append_text("several words more ")
    assert text.height() > 10 * text.fontMetrics().lineSpacing()
    assert text.verticalScrollBar().maximum() == 0


def test_dropped_paths_are_sorted_by_name(tmp_path: Path) -> None:
    names = ("a.pdf", "B.PDF", "m.gguf", "x.txt")
    dropped = sort_paths([tmp_path, *(tmp_path / name for name in names)])
    assert [path.name for path in dropped.books] == ["a.pdf", "B.PDF"]
    assert dropped.folders == (tmp_path,)
    assert "Add as a model: m.gguf" in promise(dropped)
    assert "nothing here can be added" in promise(sort_paths([tmp_path / "x.txt"]))


def test_rounds_are_told_where_there_was_more_than_one() -> None:
    assert "Written 2 times" in answer_text.details(
        dataclasses.replace(answer("x"), rounds=2), "Tiny"
    )
    assert "Written " not in answer_text.details(answer("x"), "Tiny")


def test_a_limit_is_one_line_whatever_the_book_calls_it() -> None:
    text = answer_text.limits([Limit("section", "Chapter 4\n\n# <b>a</b> | `x`")])
    assert "\n" not in text
    assert r"\# \<b\>a\</b\> \| \`x\`" in text


def test_the_meter_says_what_lacks_where_memory_is_short() -> None:
    measure = Estimate(20, 31_234, 7_912, 300.0, False, Shortage(32_768, 2_450_000_000, 10**9))
    assert formatting.estimate_text(measure) == (
        "31,000 tokens; with the 1.0 GB of memory that are free this model reads 7,900 at once "
        "here, and 33,000 would need 2.5 GB. Close other programs, choose less, or read it through "
        "afterwards (about 5 min the first time)."
    )
    enough = dataclasses.replace(measure, short=None)
    assert "Only the pages around the best finds are read" in formatting.estimate_text(enough)
    assert "afterwards (about 5 min the first time)." in formatting.estimate_text(enough)
    unknown = dataclasses.replace(enough, seconds=None)
    assert "afterwards." in formatting.estimate_text(unknown)
    fits = dataclasses.replace(measure, tokens=5_000)
    assert formatting.estimate_text(fits) == (
        "5,000 tokens; this model reads 7,900 at once here. About 5 min the first time, then at "
        "once."
    )
