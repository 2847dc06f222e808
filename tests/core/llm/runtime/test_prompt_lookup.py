"""Draft tokens come from the text so far, cost less than they bring, and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from desktop.core.llm.runtime.constrained_decoding import QuotingGuide
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation, Sampling
from desktop.core.llm.runtime.kv_cache import KVCache
from desktop.core.llm.runtime.prompt_lookup import MAX_DRAFT, BatchCosts, PromptLookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

CHEAP, EXPENSIVE = 0.1, 0.95


def costs(extra: float) -> BatchCosts:
    found = BatchCosts()
    found.record(1, 1.0)
    found.record(64, 64 * extra)
    return found


def test_what_followed_an_ngram_before_is_drafted() -> None:
    lookup = PromptLookup([1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2], costs(CHEAP))
    draft = lookup.draft(20)
    assert draft
    assert draft == [3, 4, 5, 6, 7, 8, 9, 1][: len(draft)]
    lookup.append(3)
    assert lookup.draft(20)[:2] == [4, 5]
    assert lookup.draft(1) == [4]
    assert lookup.draft(0) == []
    lookup.append(77)
    assert lookup.draft(20) == []


def test_the_longest_ngram_counts_and_then_its_latest_place() -> None:
    lookup = PromptLookup([5, 1, 2, 10, 6, 1, 2, 20, 5, 1, 2], costs(CHEAP))
    assert lookup.draft(1) == [10]
    lookup = PromptLookup([5, 1, 2, 10, 6, 1, 2, 20, 7, 1, 2], costs(CHEAP))
    assert lookup.draft(1) == [20]


def test_one_token_or_none_drafts_nothing() -> None:
    assert PromptLookup([], costs(CHEAP)).draft(5) == []
    assert PromptLookup([1, 2, 1], costs(CHEAP)).draft(5) == []


def test_the_length_of_a_draft_follows_from_its_cost_and_the_acceptance_rate() -> None:
    prompt = [*range(50), *range(4)]
    assert PromptLookup(prompt, costs(EXPENSIVE)).draft(20) == []
    short, long = (PromptLookup(prompt, costs(extra)).draft(20) for extra in (0.4, 0.02))
    assert 0 < len(short) < len(long) == MAX_DRAFT
    lookup = PromptLookup(prompt, costs(0.2))
    first = len(lookup.draft(20))
    for _ in range(20):
        lookup.record(accepted=False)
    assert len(lookup.draft(20)) < first
    for _ in range(400):
        lookup.record(accepted=True)
    assert len(lookup.draft(20)) > first


@pytest.fixture
def engine(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(
        BatchCosts, "per_extra_token", CHEAP
    )  # whatever else this machine does meanwhile
    opened = Engine(small_model, context_tokens=1024, threads=2)
    yield opened
    opened.close()


PROMPT = (
    "The grey heron stands in shallow water at dawn. The grey goose grazes on the meadow. "
    "The grey heron stands in shallow water at dawn. The grey goose grazes on the"
)


class Batches:
    """Records the lengths of the batches that are evaluated while a text is decoded."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def write(self, engine: Engine, prompt: Sequence[int], **how: object) -> tuple[str, Generation]:
        real: Callable[..., None] = KVCache.evaluate
        lengths: list[int] = []

        def evaluate(cache: KVCache, tokens: Sequence[int], outputs: int = 1) -> None:
            lengths.append(len(tokens))
            real(cache, tokens, outputs)

        figures = Generation()
        pieces = []
        with patch.object(KVCache, "evaluate", evaluate):
            for piece in engine.generate(prompt, figures, most_tokens=60, **how):  # type: ignore[arg-type]
                if not pieces:
                    lengths.clear()
                pieces.append(piece)
        self.lengths = lengths
        return "".join(pieces), figures


@pytest.mark.model
@pytest.mark.parametrize("sampling", [None, Sampling(0.7, seed=3)])
def test_drafts_leave_the_text_the_same_in_fewer_batches(
    engine: Engine, sampling: Sampling | None
) -> None:
    prompt = engine.tokenize(PROMPT)
    batches = Batches()
    with patch.object(PromptLookup, "draft", return_value=[]):
        plain, one = batches.write(engine, prompt, sampling=sampling)
    steps = len(batches.lengths)
    text, other = batches.write(engine, prompt, sampling=sampling)
    assert text == plain
    assert one.generated_tokens == other.generated_tokens
    assert one.certainty == pytest.approx(other.certainty, abs=0.02)
    if sampling is None:
        assert len(batches.lengths) < 0.9 * steps
        assert max(batches.lengths) > 2


@pytest.mark.model
def test_rejected_drafts_leave_no_trace(engine: Engine) -> None:
    prompt = engine.tokenize(PROMPT)
    with patch.object(PromptLookup, "draft", return_value=[]):
        plain, _ = Batches().write(engine, prompt)
    junk = engine.tokenize(" Tuesday Tuesday Tuesday")
    with patch.object(PromptLookup, "draft", lambda *_: list(junk)):
        text, figures = Batches().write(engine, prompt)
    assert text == plain
    # The KV cache holds the prompt and what was decoded of it, and nothing else.
    again = Generation()
    whole = [*prompt, *engine.tokenize(text)]
    "".join(engine.generate([*whole, *junk], again, most_tokens=1))
    assert len(prompt) <= again.reused_tokens <= len(prompt) + figures.generated_tokens


@pytest.mark.model
def test_a_text_that_is_stopped_drops_its_draft_from_the_kv_cache(engine: Engine) -> None:
    prompt = engine.tokenize(PROMPT)
    looks = iter([False, False, True])
    figures = Generation()
    with patch.object(PromptLookup, "draft", lambda _self, _max: list(prompt[:6])):
        # The first look is before the prefill, which is one batch; then one a token.
        list(engine.generate(prompt, figures, most_tokens=60, cancelled=lambda: next(looks)))
    assert figures.finish == "stopped"
    assert len(engine._kv_cache) <= len(prompt) + figures.generated_tokens


@pytest.mark.model
def test_a_guide_constrains_drafts_too(engine: Engine) -> None:
    texts = ["The grey heron stands in shallow water at dawn.", "The grey goose grazes at noon."]
    prompt = engine.tokenize(f"{PROMPT} meadow.\n>")
    guide = QuotingGuide(engine.tokenize, texts, most=1, least=4)
    guide.accept(engine.tokenize(">")[0], ">")
    text, _ = Batches().write(engine, prompt, guide=guide)
    first = text.strip().split("\n")[0].strip()
    assert any(known.endswith(first) for known in texts)
