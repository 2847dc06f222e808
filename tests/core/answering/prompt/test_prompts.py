from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.context import Source
from desktop.core.records import Turn
from desktop.core.text.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Write = Callable[[dict[str, str]], None]

SOURCE = Source("b", "Prices $5", 12, "10", "1 Money", 0, "A $heron costs $5 and ${x}.", 0.5)
GOOD = {
    "system": "Be brief. Say $refusal",
    "refusal": "No.",
    "passage": "[$number] $title, page $page$section: $text",
    "question": "$passages Q: $question",
}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a prompt file in place of the shipped one."""
    file = tmp_path / "answer.toml"
    monkeypatch.setattr(prompts, "resource", lambda _name: file)

    def put(texts: dict[str, str]) -> None:
        file.write_text("\n".join(f'{k} = "{v}"' for k, v in texts.items()), "utf-8")

    return put


def test_the_shipped_prompts_are_whole() -> None:
    loaded = prompts.load()
    messages = loaded.messages("Why $5?", [SOURCE, SOURCE], [])
    assert messages[: len(loaded.start())] == loaded.start()
    assert [role for role, _ in messages] == ["system", *["user", "assistant"] * 3, "user"]
    assert loaded.refusal in messages[0][1]
    assert messages[6][1] == loaded.refusal
    text = messages[-1][1]
    assert "[1] Prices $5, page 12, 1 Money\nA $heron costs $5 and ${x}.\n" in text
    assert "[2] Prices $5" in text
    assert text.index("[2]") < text.index("Question: Why $5?")


def test_the_model_is_shown_to_copy_before_it_answers() -> None:
    for turn in prompts.load().examples[:-1]:
        quotes = [line[2:] for line in turn.answer.split("\n") if line.startswith("> ")]
        assert quotes
        for quote in quotes:
            assert set(quote.split()) <= set(turn.question.split())


def test_passages_of_several_books_are_to_be_told_apart() -> None:
    loaded = prompts.load()
    other = replace(SOURCE, book="another")
    assert loaded.several in loaded.messages("Why?", [SOURCE, other], [])[-1][1]
    assert loaded.several not in loaded.messages("Why?", [SOURCE, SOURCE], [])[-1][1]


@pytest.mark.parametrize(
    ("question", "hint"),
    [("Pourquoi le héron est-il gris ?", "(Réponds en français.)"), ("Why is it grey?", "")],
)
def test_the_answer_is_to_be_in_the_language_of_the_question(question: str, hint: str) -> None:
    text = prompts.load().messages(question, [SOURCE], [])[-1][1]
    assert text.endswith(f"Question: {question} {hint}".strip())


def test_a_table_is_shown_in_rows() -> None:
    text = "Years.\n\nYear\nBirds\n\n1980\n12"
    table = Table(8, len(text), ("Year", "Birds"), (Row(20, len(text), ("1980", "12")),))
    shown = prompts.load().show(1, replace(SOURCE, text=text, tables=(table,)))
    assert "Years.\n\n| Year | Birds |\n|---|---|\n| 1980 | 12 |\n" in shown


def test_earlier_turns_come_between() -> None:
    history = [Turn("q1", "a1"), Turn("q2", "a2")]
    messages = prompts.load().messages("q3", [], history)
    assert messages[len(prompts.load().start()) : -1] == [
        ("user", "q1"), ("assistant", "a1"), ("user", "q2"), ("assistant", "a2"),
    ]  # fmt: skip
    assert "q3" in messages[-1][1]


def test_what_is_read_may_come_before_the_earlier_turns() -> None:
    history = [Turn("q1", "a1"), Turn("q2", "a2")]
    loaded = prompts.load()
    messages = loaded.messages("q3", [SOURCE], history, first=True)[len(loaded.start()) :]
    assert [role for role, _ in messages] == ["user", "assistant"] * 2 + ["user"]
    assert loaded.show(1, SOURCE) in messages[0][1]
    assert messages[0][1].endswith("Question: q1")
    assert [text for _, text in messages[1:]] == ["a1", "q2", "a2", "q3"]
    alone = loaded.messages("q1", [SOURCE], (), first=True)
    assert alone[-1] == messages[0]


def test_the_fixed_text_does_not_depend_on_the_question() -> None:
    first, second = (prompts.load().messages(q, [SOURCE], [])[0] for q in ("a", "b"))
    assert first == second


@pytest.mark.parametrize("missing", list(GOOD))
def test_a_missing_text_is_an_error(write: Write, missing: str) -> None:
    write({key: text for key, text in GOOD.items() if key != missing})
    with pytest.raises(KeyError, match=missing):
        prompts.load()


@pytest.mark.parametrize("where", ["system", "passage", "question"])
def test_an_unknown_variable_is_an_error(write: Write, where: str) -> None:
    write({**GOOD, where: f"{GOOD[where]} $author"})

    def use() -> None:
        prompts.load().messages("q", [SOURCE], [])

    with pytest.raises(KeyError, match="author"):
        use()


def test_a_source_without_a_section_shows_none(write: Write) -> None:
    write(GOOD)
    bare = Source("b", "T", 3, "3", "", 0, "text", 0.0)
    assert prompts.load().show(4, bare) == "[4] T, page 3: text"
