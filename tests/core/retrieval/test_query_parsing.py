from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from desktop.core.library.catalog import Catalog
from desktop.core.library.search_filter import EVERYWHERE, SearchFilter
from desktop.core.records import Book, BookStatus, Page
from desktop.core.retrieval import listing, query_parsing, query_patterns
from desktop.core.retrieval.plan import Plan
from tests.core import makers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


A, B = makers.book_id("a"), makers.book_id("b")
SECTIONS = [
    ("Contents", "Contents 1 Birds 2 Fish"),
    ("1 Birds", "1 Birds\n\nBirds have feathers."),
    ("1 Birds › 1.1 Herons", "1.1 Herons\n\nA heron is called a wader. It fishes."),
    ("1 Birds › 1.2 Owls", "Figure 1.1 An owl at night\n\nOwls hunt at night."),
    ("2 Fish", "2 Fish\n\nTable 2.1 Weights of trout\n\nTrout are fish."),
    ("2 Fish › Key Terms", "trout a fish of cold rivers"),
    ("Appendix B Maps", "Maps show where birds live."),
]
CHAPTERS = ["1 Birds", "2 Fish", "Appendix B Maps"]
ORDINARY = [
    "Why does page rank converge?", "What is the definition of opportunity cost?",
    "Which table salt is best?", "How do figures of speech work?",
    "Which US industry in the 2016 concentration table had the highest HHI?",
    "Which chapter discusses owls?", "What was written in 1946 on the first page of history?",
    "On page 999, what is said?", "What does chapter 9 say?", "How much is 5 % of 40?",
    "What does section 2 of the Sherman Act forbid?", "Que dit la section 2 de la loi Sherman ?",
    "What is Chapter 1 bankruptcy?", "How does a Chapter 2 filing work?",
    "When does a firm file for Chapter 2?", "On page 2 of the Principia, what is said?",
    "What does section 1 of the treaty say?", "What does chapter 2 of Darwin's book say?",
    "What is in article 2 of the treaty?", "How do two parts of a wing differ?",
    "In the second part of the night, do owls hunt?", "figures of speech",
    "figures for GDP growth", "definitions of GDP and GNP", "tables of multiplication",
    "what are the figures for unemployment", "What are the figures on unemployment?",
    "Give me the figures for unemployment", "What are the definitions of GDP and GNP?",
    "How many definitions of a bird are there?", "How many chapters are about owls?",
    "How many chapters does the penal code have?", "contents of a nest",
]  # fmt: skip


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "library.sqlite3")
    opened.put(Book(A, "A Guide to Animals", "/a.pdf", BookStatus.READING, pages=len(SECTIONS)))
    pages = [Page(n, f"p{n}", text) for n, (_, text) in enumerate(SECTIONS, 1)]
    passages = [
        makers.passage(A, n, text, section=section) for n, (section, text) in enumerate(SECTIONS, 1)
    ]
    opened.commit_pages(A, pages, passages)
    opened.update(A, status=BookStatus.INDEXED)
    makers.shelve(opened, B, ["Metals melt."], title="Chemistry for Beginners")
    yield opened
    opened.close()


def plan(catalog: Catalog, question: str, *books: str, **more: Any) -> Plan:
    chosen = [book for book in catalog.books() if book.id in (books or (A,))]
    return query_parsing.plan(question, catalog, chosen, **more)


def labels(made: Plan) -> list[str]:
    return [limit.label for limit in made.limits]


@pytest.mark.parametrize("question", ORDINARY)
def test_an_ordinary_question_is_left_whole(catalog: Catalog, question: str) -> None:
    assert plan(catalog, question) == Plan(question)


@pytest.mark.parametrize(
    ("question", "label", "pages"),
    [
        ("What does chapter 1 say about feathers?", "Chapter 1 · Birds", {2, 3, 4}),
        ("what is a wader in section 1.1", "Section 1.1 · Herons", {3}),
        ("Que dit le chapitre 2 sur les truites ?", "Chapter 2 · Fish", {5, 6}),
        ("In the second chapter, what is a trout?", "Chapter 2 · Fish", {5, 6}),
        ("In Chapter Two of the book, what is a trout?", "Chapter 2 · Fish", {5, 6}),
        ("What does ch. 2 of this textbook say of trout?", "Chapter 2 · Fish", {5, 6}),
        ("In chapter 2 of A Guide to Animals, what is a trout?", "Chapter 2 · Fish", {5, 6}),
        ("what is a wader in section 1 of chapter 1", "Section 1.1 · Herons", {3}),
        ("what is a wader in chapter 1, section 1.1", "Section 1.1 · Herons", {3}),
        ("What does appendix B say about maps?", "Appendix B · Maps", {7}),
        ("in appendix b, what is a map?", "Appendix B · Maps", {7}),
    ],
)
def test_a_chapter_keeps_the_search_to_it(
    catalog: Catalog, question: str, label: str, pages: set[int]
) -> None:
    made = plan(catalog, question)
    assert labels(made) == [label]
    assert made.query
    assert not made.listing
    sections = set(made.where.sections or ())
    assert {p for section, p in catalog.section_pages(A) if section in sections} == pages


def test_pages_keep_the_search_to_them(catalog: Catalog) -> None:
    one = plan(catalog, "On page 4, when do owls hunt?")
    assert (one.query, one.where.pages, labels(one)) == ("when do owls hunt?", (4, 4), ["page 4"])
    two = plan(catalog, "What do owls do on pages 3-4?", where=SearchFilter(pages=(4, 6)))
    assert two.where.pages == (4, 4)
    assert plan(catalog, "What is on page 4?").query == ""


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("pages 2 to 4", ""),
        ("pp. 2-4", ""),
        ("Summarise pages 2 to 4 of the book", ""),
        ("When do owls hunt, between pages 2 and 4?", "When do owls hunt?"),
        ("From page 2 to page 4, when do owls hunt?", "when do owls hunt?"),
        ("Que dit-on entre les pages 2 et 4 ?", "Que dit-on?"),
    ],
)
def test_a_range_of_pages_is_named_in_many_ways(
    catalog: Catalog, question: str, query: str
) -> None:
    made = plan(catalog, question)
    assert (made.where.pages, made.query) == ((2, 4), query)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What is a trout in chapter 2 of the book, please?", "What is a trout?"),
        ("Please, in chapter 2, what is a trout?", "what is a trout?"),
        ("What is a trout, from chapter 2?", "What is a trout?"),
        ("In chapter 2 and on page 5, what is a trout?", "what is a trout?"),
        ("chapter 2 of the book", ""),
    ],
)
def test_nothing_dangles_where_a_place_was_cut_out(
    catalog: Catalog, question: str, query: str
) -> None:
    assert plan(catalog, question).query == query


@pytest.mark.parametrize(
    "question",
    [
        "What is chapter 1 about?",
        "De quoi parle le chapitre 1 ?",
        "What does chapter 1 say?",
        "Summarise chapter 1",
        "Give me a short summary of chapter 1, please",
        "Tell me about chapter 1",
    ],
)
def test_what_a_chapter_is_about_is_told_from_its_start(catalog: Catalog, question: str) -> None:
    made = plan(catalog, question)
    assert (labels(made), made.query, made.listing) == (["Chapter 1 · Birds"], "", "")


@pytest.mark.parametrize(
    ("question", "kind", "texts"),
    [
        ("List the chapters", "contents", CHAPTERS),
        ("Quels sont les chapitres ?", "contents", CHAPTERS),
        ("What is in chapter 1?", "contents", ["1 Birds", "1.1 Herons", "1.2 Owls"]),
        ("Que contient le chapitre 1 ?", "contents", ["1 Birds", "1.1 Herons", "1.2 Owls"]),
        ("How many sections does chapter 1 have?", "contents",
         ["1 Birds", "1.1 Herons", "1.2 Owls"]),
        ("how many chapters", "contents", CHAPTERS),
        ("How many chapters does the book have?", "contents", CHAPTERS),
        ("Combien de chapitres y a-t-il ?", "contents", CHAPTERS),
        ("table of contents", "contents", CHAPTERS),
        ("Contents", "contents", CHAPTERS),
        ("Can you list the chapters for me, please?", "contents", CHAPTERS),
        ("list of figures", "figures", ["Figure 1.1 An owl at night"]),
        ("Which figures are about owls?", "figures", ["Figure 1.1 An owl at night"]),
        ("List the figures in the animals book", "figures", ["Figure 1.1 An owl at night"]),
        ("which tables are in chapter 2", "tables", ["Table 2.1 Weights of trout"]),
        ("Donne-moi la liste des tableaux du chapitre 2", "tables", ["Table 2.1 Weights of trout"]),
        ("the figures about owls", "figures", ["Figure 1.1 An owl at night"]),
        ("the figures about trout", "figures", []),
        ("List the tables in chapter 2", "tables", ["Table 2.1 Weights of trout"]),
        ("all definitions in section 1.1", "definitions", ["A heron is called a wader."]),
        ("all definitions", "definitions",
         ["A heron is called a wader.", "trout a fish of cold rivers"]),
    ],
)  # fmt: skip
def test_lists_come_from_the_book_itself(
    catalog: Catalog, question: str, kind: str, texts: list[str]
) -> None:
    made = plan(catalog, question)
    assert made.listing == kind
    found = listing.entries(catalog, made, catalog.books()[:1])
    assert [entry.text for entry in found] == texts
    for entry in found:
        page = catalog.page(A, entry.page)
        assert page
        if entry.end > entry.start:
            assert page.text[entry.start : entry.end] == entry.text


def test_one_of_several_books_is_named(catalog: Catalog) -> None:
    made = plan(catalog, "In the chemistry book only, what melts?", A, B)
    assert (made.where.books, made.query) == ((B,), "what melts?")
    assert labels(made) == ["Chemistry for Beginners"]
    assert plan(catalog, "In the physics book, what melts?", A, B).where == EVERYWHERE
    assert plan(catalog, "What melts in a guide to animals?", A, B).where.books == (A,)
    assert plan(catalog, "What does chapter 1 say of melting?", A, B).limits == ()


@pytest.mark.parametrize(
    "question",
    [
        "livre d'économie : qu'est-ce que le PIB ?",
        "Dans le livre d'économie, qu'est-ce que le PIB ?",
        "Que dit le livre d'économie sur le PIB ?",
        "What does the economics book say about GDP?",
        "In Principles of Economics, what is GDP?",
    ],
)
def test_a_book_is_named_in_another_language(catalog: Catalog, question: str) -> None:
    economics = makers.book_id("c")
    makers.shelve(catalog, economics, ["GDP is a sum."], title="Principles of Economics 3e")
    made = plan(catalog, question, A, B, economics)
    assert labels(made) == ["Principles of Economics 3e"]
    assert made.where.books == (economics,)


def test_a_limit_that_was_taken_away_stays_away(catalog: Catalog) -> None:
    question = "On page 4 of chapter 1, when do owls hunt?"
    assert [limit.key for limit in plan(catalog, question).limits] == ["section", "pages"]
    made = plan(catalog, question, without=("section",))
    assert [limit.key for limit in made.limits] == ["pages"]
    assert made.where.sections is None
    assert plan(catalog, question, without=("section", "pages")) == Plan(question)


@pytest.mark.parametrize(
    "question",
    [
        "On page 4' OR '1'='1, when do owls hunt in chapter 1; DROP TABLE passages; --?",
        "List the figures about \"owls') OR true --",
        "In chapter 1\n) OR (true, what is a heron?",
        "What does chapter 99999999999999999999 say?",
        "all definitions in section 1.1.1.1.1.1.1.1",
    ],
)
def test_nothing_of_the_question_gets_into_the_filter(catalog: Catalog, question: str) -> None:
    condition = plan(catalog, question).where.filter() or ""
    words = {w.lower() for w in re.findall(r"[^\W\d]{3,}", question)} - {"figure", "definition"}
    known = {"book", "page", "between", "and", "section", "figure", "table", "definition"}
    said = {word.lower() for word in re.findall(r"[a-z]{3,}", condition.replace(A, ""))}
    assert not (said & words) - known
    assert "'" not in condition.replace(f"'{A}'", "")


def reply(**values: Any) -> str:
    return json.dumps({"list": "none", "chapter": "", "first_page": 0, "last_page": 0, "about": "",
                       **values})  # fmt: skip


def from_model(catalog: Catalog, text: str, question: str = "Tell me of owls") -> Plan:
    return query_parsing.from_model(text, question, catalog, catalog.books()[:1])


def test_a_models_reply_is_checked_against_the_book(catalog: Catalog) -> None:
    question = "Tell me of owls in 1.2"
    made = from_model(catalog, reply(chapter="1.2"), question)
    assert (labels(made), made.query) == (["Section 1.2 · Owls"], question)
    made = from_model(catalog, reply(list="figures", about="owls"))
    assert (made.listing, made.query) == ("figures", "owls")
    made = from_model(catalog, reply(first_page=3, last_page=4), "Tell me of owls, p 3 and p 4")
    assert made.where.pages == (3, 4)


@pytest.mark.parametrize(
    ("question", "values", "key"),
    [
        ("Owls, in the part with number two?", {"chapter": "2"}, "section"),
        ("Owls, in the part with number II?", {"chapter": "2"}, "section"),
        ("Owls, by the 2nd part?", {"chapter": "2"}, "section"),
        ("Owls, by the first three pages?", {"first_page": 1, "last_page": 3}, "pages"),
        ("Where do I read of owls?", {"chapter": "1"}, ""),
        ("Owls, in the part with number two?", {"chapter": "1"}, ""),
        ("Owls, by the first pages?", {"first_page": 1, "last_page": 3}, ""),
        ("What does section 2 of the Sherman Act forbid?", {"chapter": "2"}, ""),
    ],
)
def test_a_models_numbers_stand_in_the_question(
    catalog: Catalog, question: str, values: dict[str, Any], key: str
) -> None:
    made = from_model(catalog, reply(**values), question)
    assert [limit.key for limit in made.limits] == ([key] if key else [])


@pytest.mark.parametrize(
    "text",
    ["", "no", "{}", "[]", reply(), reply(chapter="9"), reply(first_page=99),
     reply(first_page="x"), reply(chapter="1' OR 1=1"), reply(list="passages; DROP"),
     reply(first_page=4, last_page=2)],
)  # fmt: skip
def test_a_reply_that_says_nothing_true_gives_the_rules_plan(catalog: Catalog, text: str) -> None:
    assert from_model(catalog, text) == Plan("Tell me of owls")


def test_suspects_are_asked_after_places() -> None:
    assert query_parsing.suspects("Show me some drawings, any figures of owls")
    assert query_parsing.suspects("What was the point of the chapter before the last?")
    assert not query_parsing.suspects("How did Menaechmus obtain the three kinds of conic section?")
    assert not query_parsing.suspects("Which chapter discusses owls?")
    assert not query_parsing.suspects("Why do owls hunt at night?")


def test_no_real_question_becomes_a_list(catalog: Catalog, shared: Path) -> None:
    questions = [
        json.loads(line)["question"]
        for path in (shared / "qa").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert len(questions) > 300
    assert [q for q in questions if plan(catalog, q).listing] == []


INJECTIONS = [
    "' OR '1'='1", "'; DROP TABLE passages; --", ") OR (true", "\\' OR 1=1 --",
    '" OR ""="',
    "%' --",
    "page BETWEEN 1 AND 9", "book IN ('x')", "true", "\x00", "\u2019 OR 1=1", "*/ OR /*",
    "${jndi:x}", "{{7*7}}", "NOT figure", "section IN (1)", "\n) UNION SELECT id FROM books --",
]  # fmt: skip
FORMS = [
    "{} in chapter {}, what is a heron?", "List the figures {} in chapter 1 {}",
    "On page 4{} to 5{}, when do owls hunt?", "all definitions {} in section 1.1{}",
    "List the tables about {} {}", "What is in chapter 1{}?{}", "In the {} book only, {}?",
    "Summarise chapter {}1{}", "{}pages 3-4{}", "On pages 3{}-4{}, why?",
]  # fmt: skip
FILTER = re.compile(
    r"(?:book IN \('[0-9a-f]{64}'(?:, '[0-9a-f]{64}')*\)|page BETWEEN \d+ AND \d+"
    r"|section IN \(-?\d+(?:, -?\d+)*\)|false|figure|table|definition)"
)
"""All that a filter may consist of."""


def is_safe(made: Plan) -> bool:
    condition = made.where.filter()
    # The AND within BETWEEN goes with it.
    rest = FILTER.sub("", condition or "")
    return re.fullmatch(r"(?: AND )*", rest) is not None


@pytest.mark.parametrize("seed", range(20))
def test_no_question_gets_its_words_into_a_filter(catalog: Catalog, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        question = rng.choice(FORMS).format(rng.choice(INJECTIONS), rng.choice(INJECTIONS))
        for books in ((A,), (A, B)):
            assert is_safe(plan(catalog, question, *books)), question


@pytest.mark.parametrize("seed", range(20))
def test_no_reply_of_a_model_gets_its_words_into_a_filter(catalog: Catalog, seed: int) -> None:
    rng = random.Random(seed)
    odd = [*INJECTIONS, 1, -1, 4, 2.5, True, None, [], ["1"], {"a": 1}, "figures", "1.2",
           "contents", 10**20, float("nan")]  # fmt: skip
    fields = ["list", "chapter", "first_page", "last_page", "about", "where", "filter"]
    for _ in range(50):
        values = {name: rng.choice(odd) for name in rng.sample(fields, rng.randint(1, len(fields)))}
        made = from_model(catalog, reply(**values))
        assert is_safe(made), values
        assert set(made.where.sections or ()) <= {section for section, _ in SECTIONS}
        assert made.listing in ("", "contents", "figures", "tables", "definitions")
        first, last = made.where.pages or (1, 1)
        assert 1 <= first <= last <= len(SECTIONS)


def test_the_users_own_choice_is_narrowed_never_widened(catalog: Catalog) -> None:
    mine = SearchFilter((A,), (5, 6))
    for question in ("On page 2, why?", "On pages 1-6, why?", "What is on page 4?", "Why?"):
        made = plan(catalog, question, where=mine)
        assert made.where.books == (A,)
        assert made.where.pages == (5, 6)
        by_model = query_parsing.from_model(
            reply(first_page=1, last_page=6), question, catalog, catalog.books()[:1], where=mine
        )
        assert by_model.where.pages == (5, 6)


def test_what_the_user_took_away_the_model_does_not_bring_back(catalog: Catalog) -> None:
    text = reply(list="figures", chapter="1", first_page=3, last_page=4, about="owls")
    made = query_parsing.from_model(
        text,
        "Tell me of 1, 3 and 4",
        catalog,
        catalog.books()[:1],
        without=("section", "pages", "marks"),
    )
    assert made.limits == ()
    assert made.where == EVERYWHERE


def test_the_grammar_allows_only_what_is_read(catalog: Catalog) -> None:
    assert query_patterns.GRAMMAR.startswith("root ::= ")
    text = '{"list": "figures", "chapter": "1.2", "first_page": 3, "last_page": 4, "about": "owls"}'
    made = from_model(catalog, text, "the figures of owls in 1.2 on 3 and 4")
    assert [limit.key for limit in made.limits] == ["section", "pages", "marks"]
    for rule in ("list", "chapter", "page", "about"):
        assert f"\n{rule} ::= " in query_patterns.GRAMMAR


@pytest.mark.parametrize("text", [reply(first_page=float("inf")), "[" * 100_000])
def test_no_reply_stops_the_search(catalog: Catalog, text: str) -> None:
    assert from_model(catalog, text) == Plan("Tell me of owls")


BOTH = "Chapter 1 · Birds, Chapter 2 · Fish"


@pytest.mark.parametrize(
    ("question", "label", "query"),
    [
        ("Compare chapter 1 and chapter 2", BOTH, "Birds, Fish"),
        ("How does chapter 1 differ from chapter 2?", BOTH, "Birds, Fish"),
        ("Compare the first chapter with the second chapter", BOTH, "Birds, Fish"),
        ("Summarise chapters 1 and 2", BOTH, "Birds, Fish"),
        ("Quelles sont les différences entre les chapitres 1 et 2 ?", BOTH, "Birds, Fish"),
        ("What do chapters 1 to 2 say about rivers?", BOTH, "What say about rivers?"),
        ("What do chapters 1-2 say about rivers?", BOTH, "What say about rivers?"),
        ("In the first and second chapters, what is a river?", BOTH, "what is a river?"),
        ("In sections 1.1 and 1.2, what is a river?", "Section 1.1 · Herons, Section 1.2 · Owls",
         "what is a river?"),
        ("In sections 1.1 to 1.9 and in chapter 2, what is a river?",
         "Section 1.1 · Herons, Section 1.2 · Owls, Chapter 2 · Fish", "what is a river?"),
        ("In chapters 1, 2 and 9, what is a river?", BOTH, "what is a river?"),
        ("Chapter 1, chapter 2, section 1.1, appendix B: rivers", "Chapter 2 · Fish, "
         "Section 1.1 · Herons, Appendix B · Maps", "rivers"),
        ("  In sections 1.1 and 1.2, chapter 2 and appendix B, what is a river?",
         "Section 1.1 · Herons \u2026 Appendix B · Maps", "what is a river?"),
    ],
)  # fmt: skip
def test_all_chapters_that_are_named_are_looked_in(
    catalog: Catalog, question: str, label: str, query: str
) -> None:
    made = plan(catalog, question)
    assert (labels(made), made.query) == ([label], query)
    free = plan(catalog, question, without=("section",))
    assert free.where.sections is None


def test_two_chapters_are_both_looked_in(catalog: Catalog) -> None:
    made = plan(catalog, "Compare chapter 1 and chapter 2")
    chapters = {section for section, _ in SECTIONS if section[0] in "12"}
    assert set(made.where.sections or ()) == chapters
    listed = plan(catalog, "What is in chapters 1 and 2?")
    assert [e.text for e in listing.entries(catalog, listed, catalog.books()[:1])] == [
        "1 Birds", "1.1 Herons", "1.2 Owls", "2 Fish", "Key Terms",
    ]  # fmt: skip


def test_the_users_own_sections_are_narrowed_never_widened(catalog: Catalog) -> None:
    mine = SearchFilter((A,), sections=("1 Birds", "1 Birds › 1.1 Herons"))
    made = plan(catalog, "In section 1.1, what is a wader?", where=mine)
    assert made.where.sections == ("1 Birds › 1.1 Herons",)
    made = plan(catalog, "In chapter 1, what is a wader?", where=mine)
    assert made.where.sections == mine.sections
    made = plan(catalog, "In chapter 2, what is a trout?", where=mine)
    assert (made.where, made.limits) == (mine, ())
    by_model = query_parsing.from_model(
        reply(chapter="2"), "Trout in 2?", catalog, catalog.books()[:1], where=mine
    )
    assert by_model.where == mine
