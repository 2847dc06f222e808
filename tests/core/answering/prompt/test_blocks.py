"""How pages fall into blocks, and which blocks stand for what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.answering.prompt import blocks as module
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.blocks import PromptBlocks, block_count
from desktop.core.answering.prompt.context import Source, from_hit
from desktop.core.library.search_filter import EVERYWHERE, SearchFilter
from desktop.core.records import Book, BookStatus, Page
from tests.core import makers

if TYPE_CHECKING:
    from desktop.core.library.library import Library

BOOK = makers.book_id("a")
WORDS = 100
ROOM = 10_000


class Engine:
    """A word is a token."""

    def tokenize(self, text: str) -> list[int]:
        return list(range(len(text.split())))


class Loaded:
    engine = Engine()


class Saved(PromptBlocks):
    """Blocks of which some are saved."""

    def __init__(self, library: Library, *kept: tuple[int, int]) -> None:
        loaded: Any = Loaded()
        super().__init__(library, loaded, prompts.load())
        self._kept = kept

    def saved(self, block: Source) -> bool:
        """Whether one is; by its page and its number there."""
        on_page = [found.start for found in self.of(block.book, [block.page])]
        return (block.page, on_page.index(block.start)) in self._kept


@pytest.fixture
def stocked(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A book of two pages, each of five passages of a hundred words; two of them are a block."""
    monkeypatch.setattr(module, "PAGE_WORDS", 2 * WORDS)
    library.catalog.put(Book(BOOK, "Herons", "/h.pdf", BookStatus.READING, pages=2))
    pages, passages = [], []
    for number in (1, 2):
        texts = [" ".join([f"{number}{n}"] * WORDS) for n in range(5)]
        pages.append(Page(number, str(number), "\n".join(texts)))
        place = 0
        for n, text in enumerate(texts):
            section = "One" if n < 3 else "Two"
            passages.append(makers.passage(BOOK, number, text, start=place, section=section))
            place += len(text) + 1
    library.catalog.commit_pages(BOOK, pages, passages)
    return library


def source(stocked: Library, page: int, *numbers: int, score: float = 1.0) -> Source:
    """Return some neighbouring passages of a page as they are found."""
    found = [stocked.catalog.passages_on(BOOK, page)[n] for n in numbers]
    text = "\n".join(passage.text for passage in found)
    whole = replace(found[0], text=text, end=found[-1].end)
    return from_hit(makers.hit(whole, score=score), lambda t: len(t.split()))


def shown(sources: tuple[Source, ...]) -> list[tuple[int, str, bool]]:
    """Return page, first word and whether it is a block."""
    return [(s.page, s.text.split()[0], s.block) for s in sources]


def test_a_page_falls_into_blocks_at_passages(stocked: Library) -> None:
    found = Saved(stocked).of(BOOK, [2, 1])
    assert [(block.page, len(block.text.split())) for block in found] == [
        (page, words) for page in (1, 2) for words in (200, 200, 100)
    ]
    page = stocked.catalog.page(BOOK, 1)
    assert page is not None
    assert all(block.text == page.text[block.start :][: len(block.text)] for block in found[:3])
    assert [block.section for block in found[:3]] == ["One", "One", "Two"]
    assert all(block.block for block in found)
    assert block_count(stocked.catalog, BOOK) == 6


def test_a_block_of_another_section_is_left_out(stocked: Library) -> None:
    assert len(Saved(stocked).of(BOOK, [1], ["One"])) == 1
    assert len(Saved(stocked).of(BOOK, [1], ["One", "Two"])) == 3


def test_of_a_book_that_is_gone_there_are_none(library: Library) -> None:
    assert Saved(library).of(BOOK, [1]) == []


def test_a_saved_block_stands_for_what_is_on_it(stocked: Library) -> None:
    sources = (source(stocked, 2, 4, score=0.2), source(stocked, 1, 1, score=0.7))
    found = Saved(stocked, (1, 0)).with_saved_blocks(sources, EVERYWHERE, ROOM)
    assert shown(found) == [(2, "24", False), (1, "10", True)]
    assert [block.score for block in found] == [0.2, 0.7]
    assert found[1].tokens >= 2 * WORDS


def test_each_block_comes_once_and_where_its_best_find_was(stocked: Library) -> None:
    sources = (source(stocked, 1, 0), source(stocked, 2, 0), source(stocked, 1, 1))
    found = Saved(stocked, (1, 0), (2, 0)).with_saved_blocks(sources, EVERYWHERE, ROOM)
    assert shown(found) == [(2, "20", True), (1, "10", True)]


def test_what_stands_on_two_blocks_needs_both(stocked: Library) -> None:
    sources = (source(stocked, 1, 1, 2),)
    assert shown(Saved(stocked, (1, 0)).with_saved_blocks(sources, EVERYWHERE, ROOM)) == [
        (1, "11", False)
    ]
    found = Saved(stocked, (1, 0), (1, 1)).with_saved_blocks(sources, EVERYWHERE, ROOM)
    assert shown(found) == [(1, "10", True), (1, "12", True)]


def test_what_does_not_fit_stays_as_it_was_found(stocked: Library) -> None:
    sources = (source(stocked, 2, 0), source(stocked, 1, 1))
    kept = (1, 0), (2, 0)
    found = Saved(stocked, *kept).with_saved_blocks(sources, EVERYWHERE, 3 * WORDS + 100)
    assert shown(found) == [(2, "20", False), (1, "10", True)]


def test_the_part_of_the_library_is_kept_to(stocked: Library) -> None:
    blocks = Saved(stocked, (1, 0), (1, 1))
    across = (source(stocked, 1, 2),)  # its block has a passage of section Two
    assert shown(blocks.with_saved_blocks(across, SearchFilter(sections=("One",)), ROOM)) == [
        (1, "12", False)
    ]
    assert shown(blocks.with_saved_blocks(across, SearchFilter(marks=("definition",)), ROOM)) == [
        (1, "12", False)
    ]
    assert shown(blocks.with_saved_blocks(across, EVERYWHERE, ROOM)) == [(1, "12", True)]
