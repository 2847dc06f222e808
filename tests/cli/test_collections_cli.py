"""`lutrin collections` and `--collection`, over a small library with the fake embedder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from desktop.cli import books, collections, main
from desktop.core.library.indexing import Indexer
from desktop.core.library.library import Library
from tests.core import makers
from tests.fakes import FakeEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.paths import Paths

PAGES = {
    "Herons": "Herons wade in shallow water.",
    "Trout": "Trout live in the cold water of the north.",
    "Stones": "Stones lie under the water for ages.",
}


class Lutrin:
    """Runs verbs in this process, on a library with three books."""

    def __init__(self, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
        self.paths = paths
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        status = main([*words, "--data-dir", str(self.paths.data)])
        shown = self._capsys.readouterr()
        return status, shown.out, shown.err

    def json(self, *words: str) -> dict[str, Any]:
        status, out, err = self(*words, "--json")
        assert status == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    def listed(self) -> dict[str, list[str]]:
        rows = self.json("collections")["collections"]
        return {row["name"]: [book["title"] for book in row["books"]] for row in rows}

    def refused(self, *words: str) -> str:
        status, out, err = self(*words)
        assert (status, out) == (1, "")
        assert err.splitlines()[-1].startswith("error: ")
        return err


@pytest.fixture
def lutrin(
    tmp_path: Path,
    paths: Paths,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Lutrin:
    def opened(paths: Paths) -> Library:
        return Library(paths, embedder=FakeEmbedder())

    library = opened(paths)
    for title, text in PAGES.items():
        Indexer(library).add(makers.pdf(tmp_path / f"{title}.pdf", [text], title=title))
    library.close()
    for module in (books, collections):
        monkeypatch.setattr(module, "Library", opened)
    return Lutrin(paths, capsys)


def test_a_collection_is_made_listed_and_deleted(lutrin: Lutrin) -> None:
    status, out, err = lutrin("collections")
    assert (status, out) == (0, "")
    assert "lutrin collections add" in err
    made = lutrin.json("collections", "add", "Exam in June", "Herons", "trout")["collections"]
    assert [list(row) for row in made] == [["name", "books"]]
    assert [book["title"] for book in made[0]["books"]] == ["Herons", "Trout"]
    assert all(len(book["id"]) == 64 for book in made[0]["books"])
    lutrin("collections", "add", "exam in june", "Stones")
    assert lutrin.listed() == {"Exam in June": ["Herons", "Trout", "Stones"]}
    lutrin("collections", "remove", "EXAM in June", "Herons", "Stones")
    _, out, _ = lutrin("collections", "list")
    assert [line.split()[-1] for line in out.splitlines()] == ["June", "Trout"]
    _, _, err = lutrin("collections", "remove", "exam in june")
    assert "removed Exam in June" in err
    assert lutrin.listed() == {}
    assert len(lutrin.json("books")["books"]) == 3


def test_a_file_is_added_first(lutrin: Lutrin, tmp_path: Path) -> None:
    file = makers.pdf(tmp_path / "new.pdf", ["Snow falls in winter."], title="Snow")
    lutrin("collections", "add", "Exam", str(file))
    assert lutrin.listed() == {"Exam": ["Snow"]}
    lutrin("collections", "remove", "Exam", str(file))
    assert lutrin.listed() == {"Exam": []}


def test_a_book_that_is_removed_leaves(lutrin: Lutrin) -> None:
    lutrin("collections", "add", "Exam", "Herons", "Trout")
    lutrin("remove", "Herons")
    assert lutrin.listed() == {"Exam": ["Trout"]}


def found(lutrin: Lutrin, *words: str) -> set[str]:
    return {hit["title"] for hit in lutrin.json("search", "water", *words)["hits"]}


def test_a_search_keeps_to_a_collection(lutrin: Lutrin) -> None:
    lutrin("collections", "add", "Exam", "Herons", "Trout")
    lutrin("collections", "add", "Other", "Trout")
    assert found(lutrin) == set(PAGES)
    assert found(lutrin, "--collection", "exam") == {"Herons", "Trout"}
    assert found(lutrin, "--collection", "Exam", "--collection", "Other") == {"Herons", "Trout"}
    assert found(lutrin, "--collection", "Other", "--book", "Stones") == {"Trout", "Stones"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("collections", "add", "New", "Swans"), "No book here"),
        (("collections", "add", "  ", "Herons"), "needs a name"),
        (("collections", "remove", "Nowhere"), "There are: “Empty”, “Exam”"),
        (("collections", "remove", "Nowhere", "Herons"), "There are: “Empty”, “Exam”"),
        (("collections", "remove", "exam", "Herons", "Trout"), "“Trout” is not in “Exam”"),
        (("search", "water", "--collection", "Nowhere"), "There are: “Empty”, “Exam”"),
        (("search", "water", "--collection", "empty"), "“Empty” has no books"),
        (("ask", "Why?", "--collection", "Nowhere"), "There are: “Empty”, “Exam”"),
        (("ask", "Why?", "--collection", "empty"), "“Empty” has no books"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_changes(
    lutrin: Lutrin, words: tuple[str, ...], says: str
) -> None:
    lutrin("collections", "add", "Exam", "Herons")
    lutrin("collections", "add", "Empty", "Herons")
    lutrin("collections", "remove", "Empty", "Herons")
    assert says in lutrin.refused(*words)
    assert lutrin.listed() == {"Empty": [], "Exam": ["Herons"]}


@pytest.mark.parametrize("words", [("add",), ("add", "Exam"), ("remove",), ("nonesuch",)])
def test_wrong_usage_exits_with_2(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["collections", *words])
    assert caught.value.code == 2
