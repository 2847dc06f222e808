"""Guesses come from what was read, cost less than they bring, and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from desktop.core.llm.runtime.constrained_decoding import QuotingGuide
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation, Sampling
from desktop.core.llm.runtime.kv_cache import KVCache
from desktop.core.llm.runtime.prompt_lookup import LONGEST, Costs, PromptLookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

CHEAP, DEAR = 0.1, 0.95


def costs(more: float) -> Costs:
    found = Costs()
    found.note(1, 1.0)
    found.note(64, 64 * more)
    return found


def test_what_followed_before_is_guessed() -> None:
    drafts = PromptLookup([1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2], costs(CHEAP))
    guess = drafts.guess(20)
    assert guess
    assert guess == [3, 4, 5, 6, 7, 8, 9, 1][: len(guess)]
    drafts.take(3)
    assert drafts.guess(20)[:2] == [4, 5]
    assert drafts.guess(1) == [4]
    assert drafts.guess(0) == []
    drafts.take(77)
    assert drafts.guess(20) == []


def test_the_longest_agreement_counts_and_then_the_latest_place() -> None:
    drafts = PromptLookup([5, 1, 2, 10, 6, 1, 2, 20, 5, 1, 2], costs(CHEAP))
    assert drafts.guess(1) == [10]
    drafts = PromptLookup([5, 1, 2, 10, 6, 1, 2, 20, 7, 1, 2], costs(CHEAP))
    assert drafts.guess(1) == [20]


def test_nothing_is_guessed_from_one_token_or_none() -> None:
    assert PromptLookup([], costs(CHEAP)).guess(5) == []
    assert PromptLookup([1, 2, 1], costs(CHEAP)).guess(5) == []


def test_the_length_follows_from_what_it_costs_and_brings() -> None:
    prompt = [*range(50), *range(4)]
    assert PromptLookup(prompt, costs(DEAR)).guess(20) == []
    short, long = (PromptLookup(prompt, costs(more)).guess(20) for more in (0.4, 0.02))
    assert 0 < len(short) < len(long) == LONGEST
    drafts = PromptLookup(prompt, costs(0.2))
    first = len(drafts.guess(20))
    for _ in range(20):
        drafts.judge(right=False)
    assert len(drafts.guess(20)) < first
    for _ in range(400):
        drafts.judge(right=True)
    assert len(drafts.guess(20)) > first


@pytest.fixture
def engine(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(Costs, "more", CHEAP)  # whatever else this machine does meanwhile
    opened = Engine(small_model, context_tokens=1024, threads=2)
    yield opened
    opened.close()


PROMPT = (
    "The grey heron stands in shallow water at dawn. The grey goose grazes on the meadow. "
    "The grey heron stands in shallow water at dawn. The grey goose grazes on the"
)


class Reads:
    """Counts what is read while a text is written."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def write(self, engine: Engine, prompt: Sequence[int], **how: object) -> tuple[str, Generation]:
        real: Callable[..., None] = KVCache.read
        lengths: list[int] = []

        def read(memory: KVCache, tokens: Sequence[int], outputs: int = 1) -> None:
            lengths.append(len(tokens))
            real(memory, tokens, outputs)

        figures = Generation()
        pieces = []
        with patch.object(KVCache, "read", read):
            for piece in engine.generate(prompt, figures, most_tokens=60, **how):  # type: ignore[arg-type]
                if not pieces:
                    lengths.clear()
                pieces.append(piece)
        self.lengths = lengths
        return "".join(pieces), figures


@pytest.mark.model
@pytest.mark.parametrize("sampling", [None, Sampling(0.7, seed=3)])
def test_the_text_is_the_same_and_takes_fewer_steps(
    engine: Engine, sampling: Sampling | None
) -> None:
    prompt = engine.tokenize(PROMPT)
    reads = Reads()
    with patch.object(PromptLookup, "guess", return_value=[]):
        plain, one = reads.write(engine, prompt, sampling=sampling)
    steps = len(reads.lengths)
    text, other = reads.write(engine, prompt, sampling=sampling)
    assert text == plain
    assert one.generated_tokens == other.generated_tokens
    assert one.certainty == pytest.approx(other.certainty, abs=0.02)
    if sampling is None:
        assert len(reads.lengths) < 0.9 * steps
        assert max(reads.lengths) > 2


@pytest.mark.model
def test_wrong_guesses_leave_no_trace(engine: Engine) -> None:
    prompt = engine.tokenize(PROMPT)
    with patch.object(PromptLookup, "guess", return_value=[]):
        plain, _ = Reads().write(engine, prompt)
    junk = engine.tokenize(" Tuesday Tuesday Tuesday")
    with patch.object(PromptLookup, "guess", lambda *_: list(junk)):
        text, figures = Reads().write(engine, prompt)
    assert text == plain
    # The memory holds the prompt and what was written of it, and nothing else.
    again = Generation()
    whole = [*prompt, *engine.tokenize(text)]
    "".join(engine.generate([*whole, *junk], again, most_tokens=1))
    assert len(prompt) <= again.reused_tokens <= len(prompt) + figures.generated_tokens


@pytest.mark.model
def test_a_text_that_ends_or_is_stopped_takes_its_guess_back(engine: Engine) -> None:
    prompt = engine.tokenize(PROMPT)
    looks = iter([False, False, True])
    figures = Generation()
    with patch.object(PromptLookup, "guess", lambda _self, _room: list(prompt[:6])):
        # The first look is before the prompt is read, in one step; then one a token.
        list(engine.generate(prompt, figures, most_tokens=60, cancelled=lambda: next(looks)))
    assert figures.finish == "stopped"
    assert len(engine._memory) <= len(prompt) + figures.generated_tokens


@pytest.mark.model
def test_a_guide_has_its_say_over_guesses(engine: Engine) -> None:
    texts = ["The grey heron stands in shallow water at dawn.", "The grey goose grazes at noon."]
    prompt = engine.tokenize(f"{PROMPT} meadow.\n>")
    guide = QuotingGuide(engine.tokenize, texts, most=1, least=4)
    guide.take(engine.tokenize(">")[0], ">")
    text, _ = Reads().write(engine, prompt, guide=guide)
    first = text.strip().split("\n")[0].strip()
    assert any(known.endswith(first) for known in texts)
