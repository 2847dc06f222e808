"""What is read once more before the question."""

from __future__ import annotations

from dataclasses import replace

from desktop.core.answering.prompt.context import Source
from desktop.core.answering.prompt.recap import MOST_TOKENS, recap

HERONS = (
    "Herons wade in shallow water and wait for fish. A heron weighs about two kilograms. "
    "In winter many of them fly to the south of Spain."
)
OWLS = "Owls hear a mouse under the snow. An owl weighs less than it seems to weigh."


def source(text: str, page: int) -> Source:
    return Source("b", "Birds", page, str(page), "", 0, text, 1.0, block=True)


def again(question: str, *texts: str) -> list[tuple[int, str]]:
    sources = [source(text, page) for page, text in enumerate(texts, start=7)]
    found = recap(question, sources, lambda text: len(text.split()))
    return [(part.page, part.text) for part in found]


def test_the_sentences_that_share_most_with_the_question() -> None:
    found = again("Where do herons fly in winter?", OWLS, HERONS)
    assert found[-1][0] == 8
    assert "In winter many of them fly to the south of Spain." in found[-1][1].split("\n")
    assert all("Owls" not in text for _, text in found)


def test_they_stand_in_the_order_of_the_text() -> None:
    ((_, text),) = again("How do herons wait for fish, and where in winter?", HERONS)
    lines = text.split("\n")
    assert lines == sorted(lines, key=HERONS.index)


def test_no_more_than_may_be_read() -> None:
    long = " ".join(f"The heron of pond {n} waits for a fish that never comes." for n in range(40))
    total = sum(len(text.split()) for _, text in again("What does the heron wait for?", long))
    assert 20 < total <= MOST_TOKENS


def test_nothing_where_nothing_is_shared() -> None:
    assert again("Who built the pyramids?", HERONS, OWLS) == []


def test_nothing_where_all_is_read_then() -> None:
    sources = [replace(source(HERONS, 1), block=False)]
    assert recap("Where do herons fly in winter?", sources, lambda text: 1) == ()
