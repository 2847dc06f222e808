"""Constrained decoding: behind the mark a line is a copy of a text, whatever the model prefers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from desktop.core.llm.runtime.constrained_decoding import QuotingGuide
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation, Sampling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = [
    "The grey heron is a wading bird of the marshes, and it stands there for hours.",
    "The grey goose is no wader, and it grazes on the meadows.",
    "| Year | Birds |",
    "| 1980 | 12 |",
]


class Vocabulary:
    """Tokens are words with the blank before them, and line breaks."""

    def __init__(self) -> None:
        self.known: list[str] = []

    def __call__(self, text: str) -> list[int]:
        return [self.id(piece) for piece in re.findall(r"\n+| ?[^\s]+", text)]

    def id(self, piece: str) -> int:
        if piece not in self.known:
            self.known.append(piece)
        return self.known.index(piece)


class Writer:
    """Writes what it is told, where the guide lets it."""

    def __init__(self, texts: list[str], most: int = 3) -> None:
        self.words = Vocabulary()
        self.guide = QuotingGuide(self.words, texts, most=most, least=4)

    def may(self) -> set[str] | None:
        allowed = self.guide.allowed()
        return None if allowed is None else {self.words.known[token] for token in allowed}

    def write(self, text: str) -> None:
        for token in self.words(text):
            allowed = self.guide.allowed()
            assert allowed is None or token in allowed
            assert token not in self.guide.forbidden()
            self.guide.accept(token, self.words.known[token])


def test_anything_may_be_written_where_nothing_is_quoted() -> None:
    writer = Writer(TEXTS)
    writer.write("The book > does not say.\nOr does it?\n\n")
    assert writer.may() is None
    assert not writer.guide.forbidden()


def test_a_quotation_goes_on_to_the_end_of_its_text() -> None:
    writer = Writer(TEXTS)
    writer.write("> The grey")
    assert writer.may() == {" heron", " goose"}
    writer.write(" goose")
    assert writer.may() == {" is"}
    writer.write(" is no wader, and it grazes on the meadows.")
    assert writer.may() == {"\n", "\n\n"}
    writer.write("\n> | 1980 | 12 |\n\nSo there were twelve.")
    assert writer.may() is None


def test_a_quotation_may_begin_inside_a_text_but_not_near_its_end() -> None:
    writer = Writer(["Herons wade at dawn in ponds."])
    writer.write(">")
    assert writer.may() == {" Herons", " wade", " at"}
    writer.write(" at dawn in ponds.\n>")
    assert writer.may() == {" Herons", " wade", " at"}


def test_a_short_text_is_quoted_whole() -> None:
    writer = Writer(["Herons wade."])
    writer.write(">")
    assert writer.may() == {" Herons"}


def test_a_text_may_end_where_a_longer_one_goes_on() -> None:
    writer = Writer(["Herons wade", "Herons wade at dawn"])
    writer.write("> Herons wade")
    assert writer.may() == {"\n", "\n\n", " at"}


def test_there_are_no_more_quotations_than_wanted() -> None:
    writer = Writer(TEXTS, most=1)
    writer.write("> | Year | Birds |\n")
    assert {writer.words.known[token] for token in writer.guide.forbidden()} >= {">", " >"}
    writer.write("Twelve > eleven.\n")
    assert writer.guide.forbidden()


def test_without_texts_a_mark_is_a_mark() -> None:
    writer = Writer([])
    writer.write("> anything\n")
    assert writer.may() is None


def test_a_vocabulary_without_the_mark_or_the_break_guides_nothing() -> None:
    for lacking in (">", "\n"):

        def tokens(text: str, lacking: str = lacking) -> Iterator[int]:
            for letter in text:
                yield from [ord(letter)] * (2 if letter in lacking else 1)

        guide = QuotingGuide(lambda text: list(tokens(text)), TEXTS, most=3, least=4)
        for letter in "> x\n\n> y":
            assert guide.allowed() is None
            guide.accept(ord(letter), letter)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_real_model_quotes_and_forced_tokens_are_in_the_kv_cache(
    small_model: Path, temperature: float
) -> None:
    engine = Engine(small_model, context_tokens=1024, threads=2)
    try:
        texts = [*TEXTS, "Storks " + "clap and clap " * 60 + "again."]
        prompt = engine.tokenize("Copied from the book, each behind a mark:\n>")
        guide = QuotingGuide(engine.tokenize, texts, most=2, least=4)
        guide.accept(engine.tokenize(">")[0], ">")
        figures = Generation()
        text = "".join(
            engine.generate(
                prompt,
                figures,
                most_tokens=400,
                guide=guide,
                sampling=Sampling(temperature, seed=7),
            )
        )
        assert any(known.endswith(text.strip().split("\n")[0].strip()) for known in texts)
        assert figures.certainty < 0
        assert figures.generated_tokens > 5
        again = Generation()
        "".join(engine.generate(prompt, again, most_tokens=2))
        assert again.reused_tokens == len(prompt) - 1
    finally:
        engine.close()
