from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.core.llm.engine import Engine
from desktop.core.llm.generation import Generation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def engine(small_model: Path) -> Iterator[Engine]:
    opened = Engine(small_model, context_tokens=512, threads=2)
    yield opened
    opened.close()


def test_the_odds_of_a_reply_are_those_of_its_first_tokens(engine: Engine) -> None:
    prompt = engine.tokenize("The opposite of black is")
    likely = engine.odds(prompt, [" white"], [" Tuesday"])
    assert likely > 2
    assert engine.odds(prompt, [" Tuesday"], [" white"]) == pytest.approx(-likely)
    both = engine.odds(prompt, [" white", " Tuesday", " white"], [" Tuesday"])
    assert both > likely
    written = "".join(engine.generate(prompt, Generation(), most_tokens=1))
    assert engine.odds(prompt, [written], [" Tuesday"]) >= likely


def test_the_odds_leave_the_memory_for_the_next_prompt(engine: Engine) -> None:
    prompt = engine.tokenize("Herons wade in shallow water and wait for fish. Do they swim?")
    figures = Generation()
    first = "".join(engine.generate(prompt, figures, most_tokens=5))
    engine.odds([*prompt, *engine.tokenize(" Say yes or no:")], ["yes"], ["no"])
    again = Generation()
    assert "".join(engine.generate(prompt, again, most_tokens=5)) == first
    assert again.reused_tokens == len(prompt) - 1
