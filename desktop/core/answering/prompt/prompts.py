"""The prompts, which are data in resources/prompts/. A missing variable is an error."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from string import Template
from typing import TYPE_CHECKING

from desktop.core.records import Turn
from desktop.core.text.language import language
from desktop.paths import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from desktop.core.answering.prompt.context import Source
    from desktop.core.answering.prompt.recap import Recap
    from desktop.core.llm.runtime.generation import Message


@dataclass(frozen=True)
class Prompts:
    """The texts of one prompt file.

    Attributes:
        system: What the model is to do.
        examples: Questions with passages, and their answers.
        refusal: What the model writes where the passages do not answer.
        asks: What it is asked instead of an answer: whether the passages have one.
        yes: Ways to begin the reply that they have.
        no: Ways to begin the other one.
        partial: What it is told besides, where it takes notes of some pages only.
        several: What it is told besides, where the passages are of several books.
        languages: And where the question is in another language than this file; by its code.
    """

    system: str
    examples: tuple[Turn, ...]
    refusal: str
    passage: Template
    block: Template
    recap: Template
    question: Template
    asks: str = ""
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    partial: str = ""
    several: str = ""
    languages: Mapping[str, str] = field(default_factory=dict, hash=False)

    def start(self) -> list[Message]:
        """Return the messages that every prompt begins with, so that they are read once."""
        return [("system", self.system), *_messages(self.examples)]

    def messages(
        self,
        question: str,
        sources: Sequence[Source],
        history: Sequence[Turn],
        *,
        first: bool = False,
        recaps: Sequence[Recap] = (),
    ) -> list[Message]:
        """Return the messages for a question; blocks are parts of the last one.

        Args:
            question: What the user asked.
            sources: What to read, in this order.
            history: Earlier turns to go on from.
            first: Whether the sources come before the earlier turns, so that prompts about the
                same ones begin alike.
            recaps: What is read once more behind the sources.
        """
        shown = [self.show(n, source) for n, source in enumerate(sources, start=1)]
        shown += [self.recap.substitute(vars(part)) for part in recaps]
        passages = "\n".join(shown)
        if len({source.book for source in sources}) > 1:
            question = f"{question} {self.several}".strip()
        hint = self.languages.get(language(question), "")
        question = f"{question} {hint}".strip()
        texts = [*(turn.question for turn in history), question]
        place = 0 if first else -1
        texts[place] = self.question.substitute(passages=passages, question=texts[place])
        turns = [Turn(text, turn.answer) for text, turn in zip(texts, history, strict=False)]
        return [*self.start(), *_messages(turns), ("user", self._parted(texts[-1], sources))]

    def asked(self, messages: Sequence[Message]) -> list[Message]:
        """Return messages for a question with what is asked instead of an answer."""
        *before, (role, text) = messages
        more = f"\n{self.asks}"
        asked = text + more if isinstance(text, str) else (*text[:-1], text[-1] + more)
        return [*before, (role, asked)]

    def _parted(self, text: str, sources: Sequence[Source]) -> str | tuple[str, ...]:
        """Return a text with its blocks apart: what stands before a block, the block, and so on."""
        parts: list[str] = []
        for block in (source for source in sources if source.block):
            before, whole, text = text.partition(self.block_text(block))
            parts += [before, whole]
        return (*parts, text) if parts else text

    def show(self, number: int, source: Source) -> str:
        """Return a source as the model sees it."""
        template = self.block if source.block else self.passage
        return template.substitute(
            number=number,
            title=source.title,
            page=source.page,
            section=f", {source.section}" if source.section else "",
            text=source.shown,
        )

    def block_text(self, block: Source) -> str:
        """Return a block as it stands in every prompt, with the end of its last line."""
        return self.show(0, block) + "\n"


def _messages(turns: Sequence[Turn]) -> list[Message]:
    return [
        message
        for turn in turns
        for message in (("user", turn.question), ("assistant", turn.answer))
    ]


def load(name: str = "answer") -> Prompts:
    """Read a prompt file.

    Raises:
        KeyError: if it lacks a text or a variable.
    """
    data = tomllib.loads(resource(f"prompts/{name}.toml").read_text(encoding="utf-8"))
    refusal = data["refusal"]
    return Prompts(
        system=Template(data["system"]).substitute(refusal=refusal),
        examples=tuple(
            Turn(example["question"], Template(example["answer"]).substitute(refusal=refusal))
            for example in data.get("examples", ())
        ),
        refusal=refusal,
        passage=Template(data["passage"]),
        block=Template(data.get("block", data["passage"])),
        recap=Template(data.get("recap", "")),
        question=Template(data["question"]),
        asks=data.get("asks", ""),
        yes=tuple(data.get("yes", ())),
        no=tuple(data.get("no", ())),
        partial=data.get("partial", ""),
        several=data.get("several", ""),
        languages=data.get("languages", {}),
    )
