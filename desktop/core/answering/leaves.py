"""Leaves: pages, or as much of a page as is read at a time, each the same whatever is asked.

So what a model made of a leaf can be kept, and a question about it need not read it again: the
leaf's state is put into the prompt where its text would stand. A leaf is read behind the fixed
start of every prompt and the leaves before it in its stride, a few pages: so it knows what "this
method" is, and a page is still read without the book before it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from desktop.core.answering.context import FRAME_TOKENS, Source
from desktop.core.llm.generation import Splice
from desktop.core.retrieval.evidence import PAGE_WORDS
from desktop.core.retrieval.tables import MOST_ROWS, tables_on
from desktop.core.text.tables import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from desktop.core.answering import prompts
    from desktop.core.answering.loaded import LoadedModel
    from desktop.core.library.catalog import Catalog
    from desktop.core.library.library import Library
    from desktop.core.library.where import Where
    from desktop.core.records import Passage
    from desktop.core.text.tables import Table

STRIDE = 4
"""Pages of a stride. With none before it a leaf is read worse: by the likelihood of an answer that
was written from the plain prompt, 0.06 nats a token are lost, behind 192 tokens of text 0.02. Of 18
first drafts 8 were right with leaves read alone, 2 refused; in strides 10 and none; read plainly
11 and none."""
_LEAST = 40
"""Characters of a source on a leaf that count; a line that a table reaches over does not."""
_WHOLE = 0.9
"""Share of a source that leaves must have to stand for it; between passages may be space."""


class Leaves:
    """The leaves of books as one model reads them.

    Args:
        library: Where the books are.
        loaded: The model.
        texts: The prompts.
    """

    def __init__(self, library: Library, loaded: LoadedModel, texts: prompts.Prompts) -> None:
        self._library = library
        self._loaded = loaded
        self._texts = texts
        self._tokens: dict[tuple[str, int, int], list[int]] = {}
        self._strides: dict[tuple[str, int], dict[tuple[int, int], list[int]]] = {}

    @cached_property
    def opening(self) -> list[int]:
        """The tokens behind which a leaf is read ahead."""
        messages = [*self._texts.start(), ("user", ("", ""))]
        tokens, places = self._loaded.engine.chat_in_parts(messages)
        return tokens[: places[0]]

    def of(
        self, book: str, pages: Iterable[int], sections: Sequence[str] | None = None
    ) -> list[Source]:
        """Return the leaves of some pages of a book, in their order.

        Args:
            book: Its id.
            pages: Numbers of pages.
            sections: A leaf that has anything of another section is left out; None for no limit.
        """
        entry = self._library.catalog.find(book)
        if entry is None:
            return []
        numbers = sorted(set(pages))
        on = {number: self._library.catalog.passages_on(book, number) for number in numbers}
        found = tables_on(self._library, [passage for page in on.values() for passage in page])
        leaves = []
        for number in numbers:
            page = self._library.catalog.page(book, number)
            if page is None:
                continue
            tables = found.get((book, number), ())
            for start, end, inside in _cut(on[number], page.text, tables):
                if sections is not None and any(p.section not in sections for p in inside):
                    continue
                leaves.append(
                    Source(
                        book=book,
                        title=entry.title,
                        page=number,
                        page_label=page.label,
                        section=inside[0].section,
                        start=start,
                        text=page.text[start:end],
                        score=0.0,
                        tables=within(tables, start, end),
                        leaf=True,
                    )
                )
        return leaves

    def tokens(self, leaf: Source) -> list[int]:
        """Return a leaf's tokens in a prompt."""
        place = leaf.book, leaf.page, leaf.start
        if place not in self._tokens:
            self._tokens[place] = self._loaded.engine.tokenize(self._texts.body(leaf))
        return self._tokens[place]

    def saved(self, leaf: Source) -> bool:
        """Return whether there is a state of a leaf, sound or not."""
        return self._loaded.states(leaf.book).has([*self._before(leaf), *self.tokens(leaf)])

    def load(self, leaf: Source) -> tuple[bytes, int] | None:
        """See `Splice.load`."""
        before = self._before(leaf)
        state = self._loaded.states(leaf.book).load([*before, *self.tokens(leaf)])
        return None if state is None else (state, len(before))

    def read(self, leaf: Source, *, cancelled: Callable[[], bool]) -> int:
        """Read a leaf ahead and keep its state; return how many tokens were read.

        It is then in the model's memory, behind those before it.

        Raises:
            CancelledError: if stopped.
        """
        before, tokens = self._before(leaf), self.tokens(leaf)
        state, count = self._loaded.engine.read_ahead(before, tokens, cancelled=cancelled)
        self._loaded.states(leaf.book).save([*before, *tokens], state)
        return count

    def _before(self, leaf: Source) -> list[int]:
        """Return the tokens behind which a leaf is read."""
        key = leaf.book, stride_of(leaf.page)
        if key not in self._strides:
            self._strides[key] = self._stride(*key)
        return self._strides[key].get((leaf.page, leaf.start), self.opening)

    def _stride(self, book: str, number: int) -> dict[tuple[int, int], list[int]]:
        """Return the tokens before each leaf of a stride, by its page and where it starts."""
        pages = range(number * STRIDE + 1, (number + 1) * STRIDE + 1)
        found = {}
        for group in self.together(self.of(book, pages)):
            before = self.opening
            for leaf in group:
                found[leaf.page, leaf.start] = before
                before = [*before, *self.tokens(leaf)]
        return found

    def together(self, leaves: Sequence[Source]) -> list[list[Source]]:
        """Return leaves in groups that are read together: half a window at most, in order."""
        groups: list[list[Source]] = []
        most = self._loaded.usual // 2
        length = most
        for leaf in leaves:
            tokens = len(self.tokens(leaf))
            if length + tokens > most:
                groups.append([])
                length = len(self.opening)
            groups[-1].append(leaf)
            length += tokens
        return groups

    def instead(self, sources: Sequence[Source], where: Where, room: int) -> tuple[Source, ...]:
        """Return sources with the leaves that each stands on in its place, where they are saved.

        Args:
            sources: What was chosen, the best one last.
            where: The part of the library to keep to.
            room: Most tokens of all together.

        Returns:
            Each leaf once; a source as it is whose leaves are not all saved, or do not fit.
        """
        if where.marks:
            return tuple(sources)
        pages: dict[str, set[int]] = {}
        for source in sources:
            pages.setdefault(source.book, set()).add(source.page)
        known = {book: self.of(book, numbers, where.sections) for book, numbers in pages.items()}
        left = room - sum(source.tokens + FRAME_TOKENS for source in sources)
        result: list[Source] = []
        for source in reversed(sources):
            under = [leaf for leaf in known[source.book] if _overlap(source, leaf) >= _LEAST]
            new = [
                replace(leaf, score=source.score, tokens=len(self.tokens(leaf)))
                for leaf in under
                if not any(_same(leaf, other) for other in result)
            ]
            freed = source.tokens + FRAME_TOKENS
            wanted = sum(leaf.tokens + FRAME_TOKENS for leaf in new)
            whole = sum(_overlap(source, leaf) for leaf in under) >= _WHOLE * len(source.text)
            if not whole or wanted > left + freed or not all(map(self.saved, new)):
                result.append(source)
                continue
            left += freed - wanted
            result += reversed(new)
        return tuple(reversed(result))

    def splices(self, sources: Sequence[Source], places: Sequence[int]) -> list[Splice]:
        """Return where the leaves among sources may be put into a prompt.

        Args:
            sources: What the prompt shows.
            places: Where its parts begin, see `Vocabulary.chat`.
        """
        leaves = [source for source in sources if source.leaf]
        return [
            Splice(start, end, lambda leaf=leaf: self.load(leaf))  # type: ignore[misc]
            for leaf, start, end in zip(leaves, places[1::2], places[2::2], strict=False)
        ]


def stride_of(page: int) -> int:
    """Return the number of the stride that a page is in, from 0."""
    return (page - 1) // STRIDE


def leaf_count(catalog: Catalog, book: str) -> int:
    """Return how many leaves a book has; nearly so where tables reach over their passages."""
    by_page = groupby(catalog.passages(book), key=lambda passage: passage.page)
    texts = {page.number: page.text for page in catalog.pages(book)}
    return sum(len(_cut(list(page), texts.get(number, ""), ())) for number, page in by_page)


def _overlap(source: Source, leaf: Source) -> int:
    """Return how many characters a source and a leaf of its book have in common."""
    if source.page != leaf.page:
        return 0
    ends = source.start + len(source.text), leaf.start + len(leaf.text)
    return min(ends) - max(source.start, leaf.start)


def _same(one: Source, other: Source) -> bool:
    return (one.book, one.page, one.start, one.leaf) == (
        other.book, other.page, other.start, other.leaf,
    )  # fmt: skip


def _cut(
    passages: Sequence[Passage], text: str, tables: Sequence[Table]
) -> list[tuple[int, int, list[Passage]]]:
    """Return the leaves of a page: where each begins and ends, and the passages that it is of.

    No passage and no table is cut, unless it is itself too long.
    """
    leaves: list[tuple[int, int, list[Passage]]] = []
    end = 0
    for passage in passages:
        start, end = max(end, passage.start), max(end, passage.end)
        for table in tables:
            if len(table.rows) <= MOST_ROWS and start <= table.start < end:
                end = max(end, table.end)
        if start >= end:
            continue
        if leaves and len(text[leaves[-1][0] : end].split()) <= PAGE_WORDS:
            leaves[-1] = (leaves[-1][0], end, [*leaves[-1][2], passage])
        else:
            leaves.append((start, end, [passage]))
    return leaves
