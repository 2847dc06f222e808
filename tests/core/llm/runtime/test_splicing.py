"""Blocks of a prompt that are spliced in by their KV states, in a real model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.errors import CancelledError
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation, Splice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = "A book about birds says this.\n"
HERONS = "Herons wade in shallow water and wait for fish. " * 4
OWLS = "Owls fly at night and hear a mouse under the snow. " * 4
QUESTION = "\nSo at night, owls"
AGAIN = "\nOwls fly at night and hear a"
"""What comes behind it is plain, whatever the last bits of the states are."""


@pytest.fixture(scope="module")
def opened(small_model: Path) -> Iterator[Engine]:
    engine = Engine(small_model, context_tokens=512, threads=2)
    yield engine
    engine.close()


class Bench:
    """An engine with two prefilled blocks."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.start, self.herons, self.owls, self.question, self.again = map(
            engine.tokenize, (START, HERONS, OWLS, QUESTION, AGAIN)
        )
        self.states = {
            name: bytes(engine.prefill_block(self.start, block)[0])
            for name, block in (("herons", self.herons), ("owls", self.owls))
        }
        self.both = [*self.start, *self.herons, *self.owls, *self.again]

    def splice(self, name: str, start: int, state: bytes | None = b"") -> Splice:
        found = self.states[name] if state == b"" else state
        end = start + len(getattr(self, name))
        return Splice(start, end, lambda: None if found is None else (found, len(self.start)))

    def splices(self) -> list[Splice]:
        """Return those of the prompt with both: the first at its place, the second moved."""
        first = len(self.start)
        return [self.splice("herons", first), self.splice("owls", first + len(self.herons))]

    def odds_with(self, state: bytes | bytearray) -> float:
        """Return the odds that the owls fly and don't wade, by a state of theirs."""
        prompt = [*self.start, *self.owls, *self.question]
        splice = self.splice("owls", len(self.start), bytes(state))
        self.write([7, 8, 9])
        return self.engine.odds(prompt, [" fly"], [" wade"], splices=[splice])

    def write(self, prompt: list[int], *splices: Splice, **more: Any) -> tuple[str, Generation]:
        figures = Generation()
        pieces = self.engine.generate(prompt, figures, most_tokens=8, splices=splices, **more)
        return "".join(pieces), figures


@pytest.fixture
def bench(opened: Engine) -> Bench:
    made = Bench(opened)
    opened.generate([1], Generation(), most_tokens=1)
    return made


def test_spliced_right_behind_its_prefix_a_block_is_as_if_computed(bench: Bench) -> None:
    prompt = [*bench.start, *bench.owls, *bench.again]
    plain, _ = bench.write(prompt, fresh=True)
    bench.write([7, 8, 9])  # nothing of it is left
    splice = bench.splice("owls", len(bench.start))
    text, figures = bench.write(prompt, splice)
    assert text == plain
    assert figures.spliced == {splice.start}
    assert figures.reused_tokens == len(bench.owls)
    assert figures.prompt_tokens == len(prompt)


def test_spliced_behind_another_a_block_is_still_known(bench: Bench) -> None:
    words, others = [" fly"], [" wade"]
    prompt = [*bench.start, *bench.herons, *bench.owls, *bench.question]
    plain = bench.engine.odds(prompt, words, others)
    bench.write([7, 8, 9])
    spliced = bench.engine.odds(prompt, words, others, splices=bench.splices())
    without = [*bench.start, *bench.herons, *bench.herons, *bench.question]
    assert bench.engine.odds(without, words, others) < spliced - 0.5
    assert abs(spliced - plain) < 2.5


def test_only_what_is_new_is_computed(bench: Bench) -> None:
    bench.write([7, 8, 9])
    done: list[int] = []
    _, figures = bench.write(bench.both, *bench.splices(), reading=lambda n, _: done.append(n))
    assert figures.reused_tokens == len(bench.herons) + len(bench.owls)
    assert done[0] == 0
    assert done[-1] == len(bench.both)
    _, again = bench.write(bench.both, *bench.splices())
    assert again.reused_tokens == len(bench.both) - 1
    assert again.spliced == {splice.start for splice in bench.splices()}


@pytest.mark.parametrize("state", [None, b"\0" * 64, b"\xff" * 4096], ids=["none", "0", "1"])
def test_a_block_without_a_sound_state_is_computed(bench: Bench, state: bytes | None) -> None:
    plain, _ = bench.write(bench.both, fresh=True)
    bench.write([7, 8, 9])
    first = len(bench.start)
    bad = [
        bench.splice("herons", first, state),
        bench.splice("owls", first + len(bench.herons), state),
    ]
    text, figures = bench.write(bench.both, *bad)
    assert text == plain
    assert (figures.reused_tokens, figures.spliced) == (0, set())
    _, again = bench.write(bench.both, *bad)  # it is not looked for where all was computed
    assert again.reused_tokens == len(bench.both) - 1


def test_without_splices_spliced_blocks_are_computed(bench: Bench) -> None:
    plain, _ = bench.write(bench.both, fresh=True)
    bench.write([7, 8, 9])
    bench.write(bench.both, *bench.splices())
    text, figures = bench.write(bench.both)
    assert text == plain
    assert figures.reused_tokens == len(bench.start)
    bench.write(bench.both, *bench.splices())
    fresh, figures = bench.write(bench.both, *bench.splices(), fresh=True)
    assert (fresh, figures.reused_tokens) == (plain, 0)


def test_another_block_that_begins_alike_is_not_taken_for_it(bench: Bench) -> None:
    longer = bench.engine.tokenize(OWLS + "They are silent.")
    prompt = [*bench.start, *bench.herons, *longer, *bench.again]
    plain, _ = bench.write(prompt, fresh=True)
    bench.write([7, 8, 9])
    bench.write(bench.both, *bench.splices())
    place = len(bench.start) + len(bench.herons)
    lost = Splice(place, place + len(longer), lambda: None)
    text, figures = bench.write(prompt, bench.splices()[0], lost)
    assert figures.reused_tokens == place
    assert text
    assert bench.write(prompt, fresh=True)[0] == plain


def test_prefilling_a_block_changes_no_answer(bench: Bench) -> None:
    plain, _ = bench.write(bench.both, fresh=True)
    state, count = bench.engine.prefill_block(bench.start, bench.owls)
    assert count == len(bench.owls)  # the start was still there
    assert bench.write(bench.both)[0] == plain
    assert bench.odds_with(bytes(state)) == pytest.approx(
        bench.odds_with(bench.states["owls"]), abs=0.1
    )


def test_prefilling_a_block_can_be_stopped(bench: Bench) -> None:
    asked = iter([False, True])
    with pytest.raises(CancelledError):
        bench.engine.prefill_block(bench.start, bench.owls * 2, cancelled=lambda: next(asked))
    state, _ = bench.engine.prefill_block(bench.start, bench.owls)
    assert bench.odds_with(bytes(state)) == pytest.approx(
        bench.odds_with(bench.states["owls"]), abs=0.1
    )
