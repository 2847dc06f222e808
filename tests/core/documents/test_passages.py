from __future__ import annotations

import random
import re

import pytest

from desktop.core.documents.outline import Sections, block_spans
from desktop.core.documents.passages import Splitter, Tokenizer
from desktop.core.library.embedding import BUDGET, WINDOW, MiniLM
from desktop.core.records import Heading, Page, Passage
from desktop.core.text import windows
from tests.fakes import FakeEmbedder

BOOK = "ab" * 32


def page(number: int, text: str) -> Page:
    return Page(number, f"p{number}", text)


def split(
    pages: list[Page],
    budget: int,
    headings: tuple[Heading, ...] = (),
    tokenizer: Tokenizer | None = None,
) -> list[Passage]:
    return Splitter(BOOK, Sections(headings), tokenizer or FakeEmbedder(), budget).split(pages)


def random_page(rng: random.Random, number: int) -> Page:
    words = ["word", "A", "e.g.", "long-ish", "end.", "What?", "3.14", "界。", "x" * 200, "“q.”"]
    blocks = [
        "".join(
            rng.choice(words) + rng.choice([" ", " ", " ", "\n"])
            for _ in range(rng.choice([1, 5, 40, 300]))
        ).strip()
        for _ in range(rng.randint(0, 6))
    ]
    return page(number, "\n\n".join(blocks))


def check(passages: list[Passage], pages: list[Page], sections: Sections) -> None:
    """Passages are pieces of their pages, in order, that together hold every word once."""
    texts = {p.number: p for p in pages}
    assert [(p.page, p.start) for p in passages] == sorted({(p.page, p.start) for p in passages})
    for number, whole in texts.items():
        own = [p for p in passages if p.page == number]
        covered = 0
        boundaries = sections.on_page(whole)
        for passage in own:
            assert passage.text == whole.text[passage.start : passage.end]
            assert passage.text.strip()
            assert passage.id == f"{BOOK}:{number}:{passage.start}"
            assert (passage.book, passage.page_label) == (BOOK, whole.label)
            assert whole.text[covered : passage.start].strip() == ""
            covered = passage.end
            within = [b for b in boundaries if b.offset <= passage.start]
            assert passage.section == within[-1].section
            later = [b for b in boundaries if passage.start < b.offset < passage.end]
            assert later == [], "a passage runs over the start of a section"
        assert whole.text[covered:].strip() == ""
    words = [w for p in passages for w in p.text.split()]
    assert words == [w for whole in pages for w in whole.text.split()]


@pytest.mark.parametrize("seed", range(20))
def test_passages_of_random_pages(seed: int) -> None:
    rng = random.Random(seed)
    pages = [random_page(rng, number) for number in range(1, 6)]
    headings = []
    for whole in pages:
        for start, end in block_spans(whole.text):
            if rng.random() < 0.3:
                title = whole.text[start:end][:60]
                headings.append(Heading(rng.randint(1, 3), title, whole.number))
    budget = rng.choice([1, 2, 7, 50, 221])
    passages = split(pages, budget, tuple(headings))
    check(passages, pages, Sections(headings))
    assert all(len(p.text.split()) <= budget for p in passages)


@pytest.mark.parametrize("seed", range(8))
def test_the_real_tokenizer_never_sees_more_than_its_window(seed: int) -> None:
    """Text of any kind with a title of any length fits; what is longer would be cut silently."""
    rng = random.Random(seed)
    words = [
        "the", "unbelievability", "Donaudampfschifffahrtsgesellschaft", "naïve", "12,345.67",
        "线性表", "a.b@c", "(x)", "hypersensitization-like", "ok.", "no!", "été", "—", "ﷺ", "\n\n",
        "pneumonoultramicroscopicsilicovolcanoconiosis",
    ]  # fmt: skip
    embedder = MiniLM()
    for _ in range(12):
        whole = page(1, " ".join(rng.choices(words, k=rng.randint(1, 900))).strip())
        title = " ".join(rng.choices(words[:-2], k=rng.randint(1, 40)))
        passages = split([whole], BUDGET, (Heading(1, title, 1),), embedder)
        cut = [p.text[start:end] for p in passages for start, end in windows.spans(p.text)]
        counts = [len(starts) for starts in embedder.token_starts([p.text for p in passages])]
        assert max(counts, default=0) <= BUDGET
        counts = [len(starts) for starts in embedder.token_starts(cut)]
        assert max(counts, default=0) <= WINDOW - len(("[CLS]", "[SEP]"))


def test_short_paragraphs_share_a_passage() -> None:
    passages = split([page(1, "a b\n\nc d\n\ne f")], 4)
    assert [p.text for p in passages] == ["a b\n\nc d", "e f"]


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    text = "One two three. Four five six. Seven eight nine."
    assert [p.text for p in split([page(1, text)], 6)] == [
        "One two three. Four five six.",
        "Seven eight nine.",
    ]


def test_a_long_sentence_is_cut_at_tokens() -> None:
    passages = split([page(1, "a b c d e f g")], 3)
    assert [p.text.strip() for p in passages] == ["a b c", "d e f", "g"]


def test_a_passage_never_leaves_its_page_or_section() -> None:
    pages = [page(1, "a\n\nNew\n\nb"), page(2, "c")]
    passages = split(pages, 100, (Heading(1, "Old", 1, 0.0), Heading(1, "New", 1)))
    found = [(p.page, p.section, re.sub(r"\s+", " ", p.text)) for p in passages]
    assert found == [(1, "Old", "a"), (1, "New", "New b"), (2, "New", "c")]


def test_a_page_without_text_has_no_passage() -> None:
    assert split([page(1, ""), page(2, "")], 10) == []
    assert split([], 10) == []
