from __future__ import annotations

import dataclasses
import json
import typing
from typing import Any

import pytest

from desktop.core import records
from desktop.core.codec import decode, encode
from desktop.core.records import (
    Added,
    Answer,
    Book,
    BookStatus,
    Citation,
    ContextItem,
    Hit,
    LeftOut,
    Mode,
    Page,
    Passage,
    Timings,
    Turn,
    Verdict,
    Word,
)

PASSAGE = Passage("b:1:0", "b", 1, "i", 0, 4, "A › B", "text")
BOOK = Book("b", "T", "/f.pdf", BookStatus.PAUSED, 3, 2, 5, 4, ("w1", "w2"), "e", 1.5)
CITATION = Citation(
    1, "b", "T", 2, "ii", "quote", 3, 8, Verdict.SUPPORTED, 0.5, ((1.0, 2.0, 3.0, 4.0),) * 2
)
FULL = Answer(
    question="q",
    mode=Mode.LONG_CONTEXT,
    model="m",
    answer="a [1]",
    abstained=False,
    citations=(CITATION,),
    context=(ContextItem("b", "T", 2, "ii", "S", 0, 9, 12, 0.25, reused=True),),
    timings=Timings(0.1, 0.2, 0.3, 0.4, 5, 6, 7, 8.5),
    left_out=(LeftOut("b", (3, 9), 700),),
    stopped=True,
    notes=("n",),
)
EXAMPLES = [
    PASSAGE,
    BOOK,
    CITATION,
    FULL,
    dataclasses.replace(FULL, left_out=None, citations=(), context=()),
    Hit(1, PASSAGE, "T", 0.03, 0.9),
    Hit(2, PASSAGE, "T", 0.02),
    Page(4, "iv", "a b", (Word(0, 1, (0.0, 1.0, 2.0, 3.0)), Word(2, 3, (4.0, 5.0, 6.0, 7.0)))),
    Turn("q", "a"),
    Added("indexed", "/f.pdf", BOOK, {"askable_s": 1.0}),
    Added("failed", "/f.pdf", error="why"),
    records.Progress("reading", 1, 2, "pages", 3.0),
    records.Progress("reading", 1, 2, "pages"),
    records.Heading(1, "T", 2, 3.5),
]


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda r: type(r).__name__)
def test_a_record_comes_back_equal_over_json(record: Any) -> None:
    data = json.loads(json.dumps(encode(record)))
    back = decode(type(record), data)
    assert back == record
    assert hash(back) == hash(record) if not isinstance(record, Added) else True
    for field in dataclasses.fields(record):
        assert type(getattr(back, field.name)) is type(getattr(record, field.name))


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda r: type(r).__name__)
def test_unknown_keys_are_dropped(record: Any) -> None:
    data = {**encode(record), "of_a_later_version": {"deep": [1]}}
    assert decode(type(record), data) == record


def test_missing_keys_take_their_default() -> None:
    assert decode(Book, {"id": "b", "title": "T", "file": "f", "status": "indexed"}) == Book(
        "b", "T", "f", BookStatus.INDEXED
    )
    nested = encode(FULL)
    for key in ("left_out", "stopped", "notes"):
        del nested[key]
    del nested["citations"][0]["rects"]
    del nested["timings"]["retrieve_s"]
    back = decode(Answer, nested)
    assert (back.left_out, back.stopped, back.notes) == (None, False, ())
    assert back.citations[0].rects == ()
    assert back.timings.retrieve_s == 0.0


def test_what_must_be_there_is_missed() -> None:
    with pytest.raises(TypeError, match="title"):
        decode(Book, {"id": "b", "file": "f", "status": "indexed"})
    with pytest.raises(ValueError, match="lost"):
        decode(Book, {**encode(BOOK), "status": "lost"})


def test_containers_of_records_are_encoded() -> None:
    assert encode({"hits": [Turn("q", "a")], "n": (1, None, "x")}) == {
        "hits": [{"question": "q", "answer": "a"}],
        "n": [1, None, "x"],
    }
    assert json.dumps(encode(Mode.RETRIEVAL)) == '"retrieval"'


def test_all_records_are_frozen() -> None:
    classes = [c for c in vars(records).values() if dataclasses.is_dataclass(c)]
    assert len(classes) > 12
    for kind in classes:
        assert typing.cast("Any", kind).__dataclass_params__.frozen, kind
