from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.library.search_filter import SearchFilter, section_number
from desktop.core.library.store import Store
from tests.core import makers
from tests.fakes import FakeEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.core.records import Passage

A, B, C, D = (makers.book_id(letter) for letter in "abcd")
EMBEDDER = FakeEmbedder()


def open_store(folder: Path, identity: str = EMBEDDER.identity) -> Store:
    return Store(folder, embedder=identity, dimension=EMBEDDER.dimension)


def put(store: Store, passages: list[Passage], *, vectors: bool = True) -> None:
    store.put_text(passages[0].book, passages)
    if vectors:
        store.put_vectors(passages, EMBEDDER.embed([p.text for p in passages]))


def passages(book: str, *texts: str) -> list[Passage]:
    return [makers.passage(book, page, text) for page, text in enumerate(texts, 1)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def store(folder: Path) -> Store:
    """Two books: herons on each page of the first, on page 2 of the second."""
    store = open_store(folder)
    put(store, passages(A, "grey heron", "white heron", "heron nest", "heron egg"))
    put(store, passages(B, "a swan", "a heron"))
    return store


def found(store: Store, query: str, *books: str, pages: tuple[int, int] | None = None) -> set[str]:
    ids = [row.id for row in store.search_text(query, SearchFilter(books, pages), limit=50)]
    assert len(ids) == len(set(ids))
    return {f"{i[0]}{i.split(':')[1]}" for i in ids}


def near(store: Store, query: str, *books: str, pages: tuple[int, int] | None = None) -> list[str]:
    vector = EMBEDDER.embed([query])[0]
    rows = store.search_vectors(vector, SearchFilter(books, pages), limit=50)
    scores = [row.score for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert all(-1e-3 <= score <= 1 + 1e-3 for score in scores)
    return [f"{row.id[0]}{row.id.split(':')[1]}" for row in rows]


def test_words_are_found_by_their_stem_without_accents_and_case(store: Store) -> None:
    put(store, passages(C, "The naïve CAFÉ owners", "running away", "to be or not to be"))
    assert found(store, "naive cafe", C) == {"c1"}
    assert found(store, "owner", C) == {"c1"}
    assert found(store, "RUNS", C) == {"c2"}
    assert found(store, "not to be", C) == {"c3"}  # stop words count


def test_the_nearest_come_first(store: Store) -> None:
    assert near(store, "white heron", A, B)[0] == "a2"
    vector = EMBEDDER.embed(["white heron"])[0]
    (best,) = store.search_vectors(vector, SearchFilter((A,)), limit=1)
    assert best.score == pytest.approx(1.0, abs=1e-3)


def test_filters_by_books_and_pages(store: Store) -> None:
    assert found(store, "heron", A, B) == {"a1", "a2", "a3", "a4", "b2"}
    assert found(store, "heron", A) == {"a1", "a2", "a3", "a4"}
    assert found(store, "heron", B) == {"b2"}
    assert found(store, "heron", C) == set()
    assert found(store, "heron", A, B, pages=(2, 3)) == {"a2", "a3", "b2"}
    assert found(store, "heron", A, pages=(4, 9)) == {"a4"}
    assert found(store, "heron", A, pages=(9, 1)) == set()
    assert found(store, "heron") == set()
    assert set(near(store, "heron", A, B, pages=(2, 2))) == {"a2", "b2"}
    assert near(store, "heron") == []


def test_a_limit_holds_after_the_filter(store: Store) -> None:
    assert len(store.search_text("heron", SearchFilter((B,)), limit=1)) == 1
    assert len(store.search_text("heron", SearchFilter((A,)), limit=3)) == 3


@pytest.mark.parametrize("identity", ["", "a", "A" * 64, "a' OR '1'='1", "a" * 63 + "'"])
def test_only_ids_get_into_a_filter(store: Store, identity: str) -> None:
    with pytest.raises(ValueError, match="not a book id"):
        store.search_text("heron", SearchFilter((A, identity)), limit=5)
    with pytest.raises(ValueError, match="not a book id"):
        store.delete(identity)


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ('"', 0), ("'", 0), ("", 0), ("  \n", 0), ("%", 0), ("_", 0), ("*", 0), ("\x00", 0),
        ("😀", 0), ("\\", 0), ("AND", 0), ("OR", 0), ("'; DROP TABLE passages; --", 0),
        ('"heron', 4), ("heron'", 4), ("heron AND swan", 4), ("NOT heron", 4), ("(heron", 4),
        ("text:heron^5~2", 4), ("heron*", 4), ("😀 heron 😀", 4), ("+heron -egg", 4),
        ("{heron}[]/\\", 4), ("heron\x00\ud800", 4),
        ("x" * 10_000, 0), ("heron " * 2_000, 4), ("\" ' % " * 2_000, 0),
    ],
)  # fmt: skip
def test_hostile_queries_are_only_words(store: Store, query: str, hits: int) -> None:
    assert len(found(store, query, A)) == hits


def test_text_is_replaced_as_a_whole(store: Store) -> None:
    put(store, passages(A, "only owls"), vectors=False)
    assert found(store, "heron", A) == set()
    assert found(store, "owl", A) == {"a1"}
    assert found(store, "heron", B) == {"b2"}
    assert store.texts(A) == 1
    store.put_text(A, [])
    assert store.texts(A) == 0
    assert found(store, "owl", A) == set()


def test_delete_takes_all_of_one_book(store: Store) -> None:
    store.delete(A)
    assert (store.texts(A), store.vectors(A), store.embedded(A)) == (0, 0, set())
    assert found(store, "heron", A, B) == {"b2"}
    assert "a" not in {i[0] for i in near(store, "heron", A, B)}
    assert store.vectors(B) == 2
    store.delete(A)  # twice does no harm
    store.finish(B)
    assert set(near(store, "heron", A, B)) == {"b1", "b2"}


def test_embedded_are_those_with_a_vector(store: Store) -> None:
    more = passages(C, "one", "two", "three")
    put(store, more, vectors=False)
    assert store.embedded(C) == set()
    store.put_vectors(more[1:], EMBEDDER.embed(["two", "three"]))
    assert store.embedded(C) == {more[1].id, more[2].id}
    assert (store.texts(C), store.vectors(C)) == (3, 2)


def test_an_empty_store_finds_nothing(folder: Path) -> None:
    store = open_store(folder)
    assert found(store, "heron", A) == set()
    assert near(store, "heron", A) == []
    assert (store.texts(A), store.vectors(A)) == (0, 0)


def test_another_process_sees_what_was_written(store: Store, folder: Path) -> None:
    other = open_store(folder)
    put(store, passages(C, "a kingfisher"))
    other.refresh()
    assert found(other, "kingfisher", C) == {"c1"}
    assert other.vectors(C) == 1


def test_vectors_of_two_embedders_never_mix(store: Store, folder: Path) -> None:
    other = open_store(folder, "another/model@2")
    assert other.vectors(A) == 0
    assert near(other, "heron", A) == []
    assert found(other, "heron", A) == {"a1", "a2", "a3", "a4"}  # the text is one
    assert store.vectors(A) == 4


def test_text_without_its_index_does_not_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between adding the rows and making the index must not look like a finished book."""
    store = open_store(folder)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store._text, "create_index", killed)
    with pytest.raises(KeyboardInterrupt):
        store.put_text(A, passages(A, "heron"))
    reopened = open_store(folder)
    assert reopened.texts(A) == 0
    reopened.put_text(A, passages(A, "heron"))
    assert found(reopened, "heron", A) == {"a1"}
    assert reopened.texts(A) == 1


DAMAGE = ["_versions/*.manifest", "data/*.lance"]


@pytest.mark.parametrize("how", ["junk", "empty", "cut"])
@pytest.mark.parametrize("table", ["passages_v2", "windows_v2_fake_1"])
@pytest.mark.parametrize("pattern", DAMAGE)
def test_a_damaged_index_is_set_aside_and_made_again(
    store: Store, folder: Path, table: str, pattern: str, how: str
) -> None:
    files = list((folder / f"{table}.lance").glob(pattern))
    assert files
    for file in files:
        data = file.read_bytes()
        file.write_bytes(
            {"junk": b"\x99" * len(data), "empty": b"", "cut": data[: len(data) // 2]}[how]
        )
    again = open_store(folder)
    assert (folder.parent / "index.damaged").is_dir()
    assert (again.texts(A), again.vectors(A)) == (0, 0)
    put(again, passages(A, "grey heron"))
    assert found(again, "heron", A) == {"a1"}
    assert near(again, "heron", A) == ["a1"]


def test_a_damaged_full_text_index_is_seen_at_the_start(store: Store, folder: Path) -> None:
    for file in (folder / "passages_v2.lance" / "_indices").rglob("*.lance"):
        file.write_bytes(b"\x00" * 40)
    again = open_store(folder)
    assert (folder.parent / "index.damaged").is_dir()
    assert again.texts(A) == 0


def test_a_file_in_its_place_is_set_aside(folder: Path) -> None:
    folder.write_text("not a folder")
    store = open_store(folder)
    put(store, passages(A, "heron"))
    assert found(store, "heron", A) == {"a1"}


def test_what_was_set_aside_before_is_replaced(store: Store, folder: Path) -> None:
    put(store, passages(C, "a wren"))
    for round_number in (1, 2):
        for file in folder.rglob("*.manifest"):
            file.write_bytes(b"")
        again = open_store(folder)
        assert again.texts(C) == 0
        put(again, passages(C, *["a wren"] * round_number))
    assert found(again, "wren", C) == {"c1", "c2"}


def windows(store: Store, passages: list[Passage], *texts: str) -> None:
    """Put one passage in with a window for each text."""
    store.put_text(passages[0].book, passages)
    store.put_vectors([passages[0]] * len(texts), EMBEDDER.embed(list(texts)))


def test_a_passage_is_found_once_by_its_best_window(store: Store) -> None:
    (long,) = passages(C, "owl and kingfisher")
    windows(store, [long], "owl", "kingfisher", "something else")
    (best,) = store.search_vectors(EMBEDDER.embed(["kingfisher"])[0], SearchFilter((C,)), limit=5)
    assert best.id == long.id
    assert best.score == pytest.approx(1.0, abs=1e-3)
    assert (store.vectors(C), store.embedded(C)) == (1, {long.id})


def test_a_section_is_the_mean_of_its_windows(store: Store) -> None:
    one = makers.passage(C, 1, "owl", section="Birds")
    two = makers.passage(C, 2, "trout", section="Fish")
    put(store, [one, two])
    assert not store.is_finished(C)
    store.finish(C)
    assert store.is_finished(C)
    vector = EMBEDDER.embed(["owl"])[0]
    found = store.search_text("owl trout", SearchFilter((C,)), limit=5)
    near = {section: score for (_, section), score in store.similar_sections(vector, found).items()}
    assert near[section_number("Birds")] > near[section_number("Fish")]
    store.finish(C)  # again does no harm
    assert len(store.similar_sections(vector, found)) == 2


def test_sections_and_marks_are_filters(store: Store) -> None:
    asks = "How does a heron fish at dawn? Why does the heron nest in trees?"
    put(
        store,
        [
            makers.passage(C, 1, "A heron is called a wader.", section="Birds \u203a Waders"),
            makers.passage(C, 2, "Figure 1 A heron at dawn", section="Birds"),
            makers.passage(C, 3, asks, section="Birds \u203a Review Questions"),
        ],
    )

    def pages(**where: Any) -> set[int]:
        rows = store.search_text("heron", SearchFilter((C,), **where), limit=9)
        return {int(row.id.split(":")[1]) for row in rows}

    assert pages() == {1, 2, 3}
    assert pages(sections=("Birds",)) == {2}
    assert pages(sections=("Birds \u203a Waders", "Birds")) == {1, 2}
    assert pages(sections=()) == set()
    assert pages(marks=("figure",)) == {2}
    assert pages(marks=("definition",)) == {1}
    (side,) = [row for row in store.search_text("heron", SearchFilter((C,)), limit=9) if row.side]
    assert side.id.split(":")[1] == "3"
    assert {int(i.split(":")[1]) for i in store.list_passages(SearchFilter((C,), (2, 3)))} == {2, 3}


def test_a_word_is_known_again_with_a_letter_wrong(store: Store) -> None:
    put(store, passages(C, "Gottfried Leibnitz quarrelled"))
    assert store.mentions("Leibnitz", SearchFilter((C,)))
    assert store.mentions("Leibniz", SearchFilter((C,)))
    assert not store.mentions("Newton", SearchFilter((C,)))
    assert not store.mentions("Leibnitz", SearchFilter((A,)))
    assert not store.mentions("", SearchFilter((C,)))


def test_words_without_spaces_and_with_hyphens_are_found(store: Store) -> None:
    put(
        store,
        passages(
            C,
            "\u91cf\u5b50\u529b\u5b66\u306e\u57fa\u790e",
            "co-operation",
            "l'\u00e9lectron",
            "behaviour",
        ),
    )
    assert found(store, "\u91cf\u5b50", C) == {"c1"}
    assert found(store, "cooperation", C) == {"c2"}
    assert found(store, "\u00e9lectrons", C) == {"c3"}
    assert found(store, "behavior", C) == {"c4"}
    assert found(store, "\u5b66\u91cf", C) == set()


def test_tables_of_another_version_are_dropped(folder: Path) -> None:
    import lancedb

    lancedb.connect(folder).create_table("passages", data=[{"id": "x"}])
    open_store(folder)
    assert "passages" not in lancedb.connect(folder).list_tables().tables


def test_an_index_of_vectors_is_made_kept_up_and_finds_the_same(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.core.library.store.INDEXED_ROWS", 300)
    words = "heron swan egg nest lake reed moor fish wing song".split()
    texts = [f"{a} {b} {c} {number}" for number, (a, b, c) in enumerate(product(words, repeat=3))]
    before = near(store, "grey heron", A)
    put(store, passages(C, *texts[:500]))
    store.finish(C)
    assert list(folder.glob("windows_*/_indices/*"))
    put(store, passages(D, *texts[500:]))  # comes after the index was made
    store.finish(D)
    assert near(store, "grey heron", A) == before
    for text in (texts[7], texts[412], texts[600], texts[999]):
        exact = EMBEDDER.embed([text])[0]
        best = store.search_vectors(exact, SearchFilter(None), limit=3)
        assert best[0].score == pytest.approx(1.0, abs=1e-2)
