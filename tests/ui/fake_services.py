"""Services that answer at once and always alike, run in real worker processes.

What a question says decides what becomes of it: "slow" writes for long, "die" kills the worker,
"nothing" is not in the book, "fail" fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.core.answering.generation.prefill import Prefilled
from desktop.core.answering.modes.budget import Estimate, Part
from desktop.core.answering.pipeline.steps import Generate, Verify
from desktop.core.answering.request import Draft
from desktop.core.codec import decode, encode
from desktop.core.errors import CancelledError, PasswordNeededError, UserFacingError
from desktop.core.library.prefill_progress import PrefillProgress
from desktop.core.library.search_filter import SearchFilter
from desktop.core.records import (
    Added,
    Answer,
    Book,
    BookStatus,
    Citation,
    ContextItem,
    Hit,
    LeftOut,
    Limit,
    Page,
    Passage,
    Progress,
    Timings,
    Verdict,
    Word,
)
from desktop.core.retrieval.results import RetrievalResult
from desktop.worker.host import WithBytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from desktop.paths import Paths
    from desktop.worker.host import Job

    Verbs = dict[str, tuple[str, Callable[[Job], Any]]]

PAGES = 40
DEADLY_PAGE = 13
POINTS = (400.0, 600.0)
LINE = "The melting point of osmium is 3306 K."
QUOTE = (0, len(LINE))


def words_of_page() -> tuple[Word, ...]:
    """One line a word apart, 20 points below the top."""
    words, start = [], 0
    for index, word in enumerate(LINE.split(" ")):
        x = 40.0 + 40 * index
        words.append(Word(start, start + len(word), (x, 300.0, x + 35, 312.0)))
        start += len(word) + 1
    return tuple(words)


class Reader:
    """Draws white pages with a grey bar on them."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def verbs(self) -> Verbs:
        return {
            "page": ("pages", self.page),
            "words": ("pages", self.words),
            "outline": ("pages", self.outline),
            "find": ("find", self.find),
        }

    def page(self, job: Job) -> WithBytes:
        scale = job.args["scale"]
        if job.args["page"] == DEADLY_PAGE:
            os._exit(3)
        width, height = round(POINTS[0] * scale), round(POINTS[1] * scale)
        row = b"\xff" * (3 * width)
        bar = b"\xff\xff\xff" * (width // 10) + b"\x99\x99\x99" * (width - width // 10)
        lines = [bar if 290 * scale < y < 294 * scale else row for y in range(height)]
        rects = [
            [word.rect for word in words_of_page() if word.start < end and word.end > start]
            for start, end in job.args["highlights"]
        ]
        data = {
            "width": width,
            "height": height,
            "points": POINTS,
            "label": str(job.args["page"] - 4),
            "rects": rects,
        }
        return WithBytes(data, b"".join(lines))

    def words(self, job: Job) -> Page:
        return Page(job.args["page"], "", LINE, words_of_page())

    def outline(self, _job: Job) -> dict[str, Any]:
        labels = [str(number - 4) for number in range(1, PAGES + 1)]
        return {"pages": PAGES, "labels": labels, "headings": []}

    def find(self, job: Job) -> dict[str, int]:
        for page in (3, 7):
            rect = words_of_page()[1].rect
            job.emit("found", {"page": page, "rects": [[rect], [rect]]})
        return {"count": 4}


class Librarian:
    """Keeps its books in a JSON file, which its lanes change one after the other."""

    def __init__(self, paths: Paths) -> None:
        self._file = paths.data / "fake_books.json"
        self._changing = threading.Lock()
        paths.catalog.touch()

    def verbs(self) -> Verbs:
        return {
            "add": ("index", self.add),
            "index": ("index", self.index),
            "resume": ("index", self.resume),
            "books": ("library", lambda _job: list(self._load()["books"].values())),
            "remove": ("library", lambda job: self._move(job, "books", "removed")),
            "restore": ("library", lambda job: self._move(job, "removed", "books")),
            "purge": ("library", self.purge),
            "collections": ("library", lambda _job: self._load()["collections"]),
            "create_collection": ("library", lambda job: self._name(job, job.args["name"])),
            "collect": ("library", lambda job: self._collect(job, added=True)),
            "take_out": ("library", lambda job: self._collect(job, added=False)),
            "rename_collection": ("library", lambda job: self._name(job, job.args["to"])),
            "delete_collection": ("library", self.delete_collection),
            "parts": ("library", self.parts),
            "prefill_progress": ("library", lambda _job: self.prefill_progress()),
            "forget_prefill": ("library", self.forget_prefill),
            "retrieve": ("search", self.retrieve),
            "verify": ("search", self.verify),
        }

    def _load(self) -> dict[str, Any]:
        if self._file.exists():
            data: dict[str, Any] = json.loads(self._file.read_text())
            return data
        return {"books": {}, "removed": {}, "collections": {}}

    @contextlib.contextmanager
    def _change(self, kind: str) -> Iterator[dict[str, Any]]:
        """Give what is kept of a kind, and keep it as it then is."""
        with self._changing:
            data = self._load()
            yield data[kind]
            draft = self._file.with_suffix(".tmp")
            draft.write_text(json.dumps(data))
            draft.replace(self._file)

    def _keep(self, job: Job, book: Book) -> None:
        with self._change("books") as books:
            books[book.id] = encode(book)
        job.emit("book", book)

    def _move(self, job: Job, source: str, target: str) -> Any:
        with self._change(source) as books:
            book = books.pop(job.args["book"], None)
        if book:
            with self._change(target) as books:
                books[book["id"]] = book
        return book

    def purge(self, job: Job) -> None:
        with self._change("removed") as books:
            books.pop(job.args["book"], None)

    def _name(self, job: Job, name: str) -> dict[str, list[str]]:
        with self._change("collections") as found:
            if not name.strip() or name.casefold() in map(str.casefold, found):
                what = "There is one already" if name.strip() else "A collection needs a name"
                raise UserFacingError(what, "Write another")
            found[name] = job.args.get("books") or found.pop(job.args["name"])
        return dict(sorted(found.items()))

    def _collect(self, job: Job, *, added: bool) -> dict[str, list[str]]:
        name, books = job.args["name"], job.args["books"]
        with self._change("collections") as found:
            kept = [book for book in found.get(name, []) if book not in books]
            found[name] = kept + books if added else kept
        return dict(sorted(found.items()))

    def delete_collection(self, job: Job) -> dict[str, list[str]]:
        with self._change("collections") as found:
            if job.args["name"] not in found:
                what = "It is not there"
                raise UserFacingError(what, "Look again")
            del found[job.args["name"]]
        return dict(sorted(found.items()))

    def add(self, job: Job) -> Added:
        path = Path(job.args["path"])
        identity = path.stem.encode().hex().ljust(64, "0")[:64]
        if "locked" in path.name and job.args["password"] != "sesame":
            what = "wrong password" if job.args["password"] else "It is locked"
            raise PasswordNeededError(what, "Give its password")
        if "broken" in path.name:
            what = "The file is damaged"
            raise UserFacingError(what, "Download it again")
        if "die" in path.name:
            os._exit(3)
        known = self._load()["books"].get(identity)
        if known:
            return Added("already", str(path), decode(Book, known))
        book = Book(identity, path.stem, str(path), BookStatus.READING, pages=PAGES, passages=80)
        self._keep(job, book)
        return Added("indexed", str(path), self._index(job, book))

    def index(self, job: Job) -> Book:
        return self._index(job, decode(Book, self._load()["books"][job.args["book"]]))

    def resume(self, job: Job) -> dict[str, int]:
        for data in self._load()["books"].values():
            book = decode(Book, data)
            if book.status in (BookStatus.READING, BookStatus.ASKABLE):
                self._index(job, book)
        return {"resumed": 0}

    def _index(self, job: Job, book: Book) -> Book:
        changes = {**encode(book), "pages_read": PAGES, "status": "askable"}
        for page in range(0, PAGES + 1, 10):
            step = Progress("reading", page, PAGES, "pages", 4.0)
            job.emit("progress", {**encode(step), "book": book.id, "file": book.file})
        self._keep(job, decode(Book, changes))
        rounds = 400 if "slow" in book.title else 2
        for done in range(rounds):
            if job.cancelled():
                self._keep(job, decode(Book, {**changes, "status": "paused"}))
                raise CancelledError
            step = Progress("embedding", 80 * done // rounds, 80, "passages", 50.0)
            job.emit("progress", {**encode(step), "book": book.id, "file": book.file})
            time.sleep(0.02)
        finished = {**changes, "status": "indexed", "passages_embedded": 80}
        self._keep(job, decode(Book, finished))
        return decode(Book, finished)

    def parts(self, _job: Job) -> list[Part]:
        inside = ("Metals", "Metals \u203a Heavy")
        return [
            Part("Chapter 1 \u00b7 Metals", 0, (1, 20), inside, True, 40_000),
            Part("Heavy", 1, (11, 20), inside[1:], False, 20_000),
            Part("Chapter 2 \u00b7 Gases", 0, (21, 40), ("Gases",), True, 900_000),
        ]

    def prefill_progress(self) -> list[PrefillProgress]:
        """Return how much the answerer has prefilled, as it wrote it down."""
        return [
            PrefillProgress(
                book, float((self._file.parent / f"{book}.prefill").read_text()), 1_200_000_000
            )
            for book in self._load()["books"]
            if (self._file.parent / f"{book}.prefill").exists()
        ]

    def forget_prefill(self, job: Job) -> list[PrefillProgress]:
        (self._file.parent / f"{job.args['book']}.prefill").unlink()
        return self.prefill_progress()

    def retrieve(self, job: Job) -> RetrievalResult:
        question = job.args["question"]
        if "lose" in question:
            os._exit(3)
        books = job.args["where"]["books"] or list(self._load()["books"])
        passages = [
            Passage(f"{book}:12:0", book, 12, "8", 0, QUOTE[1], "Metals", LINE) for book in books
        ]
        hits = tuple(Hit(rank, passage, "Metals", 1.0) for rank, passage in enumerate(passages, 1))
        limited = "chapter 4" in question and "section" not in job.args["without"]
        limits = (Limit("section", "Chapter 4 \u00b7 Metals"),) if limited else ()
        named = tuple((book, "Metals") for book in books)
        where = decode(SearchFilter, job.args["where"])
        return RetrievalResult(question, hits, named, where=where, limits=limits, retrieve_s=0.01)

    def verify(self, job: Job) -> Answer:
        step = decode(Verify, job.args)
        request, draft = step.request, step.draft
        nothing = "nothing" in request.question
        passage = request.found.hits[0].passage
        text = "Osmium **melts** at 3306 K [1].\n\n- It is dense. [2]\n"
        verdicts = (Verdict.VERBATIM, Verdict.SUPPORTED)
        citations = tuple(
            Citation(n, passage.book, "Metals", 12, "8", LINE, *QUOTE, verdict, 0.9)
            for n, verdict in enumerate(verdicts, 1)
        )
        return Answer(
            question=request.question,
            mode=request.mode,
            model=draft.model,
            answer="The book does not say." if nothing else text,
            abstained=nothing,
            citations=() if nothing or draft.stopped else citations,
            context=(
                ContextItem(passage.book, "Metals", 12, "8", "Metals", *QUOTE, 300, 0.9, True),
            ),
            timings=draft.timings,
            left_out=None if request.map_reduce else (LeftOut(passage.book, (20, 40), 9000),),
            stopped=draft.stopped,
            notes=(f"{len(request.history)} earlier turns", *(request.found.where.sections or ())),
            limits=request.found.limits,
        )


class Answerer:
    """Says what the question wants."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def verbs(self) -> Verbs:
        return {
            "generate": ("answer", self.generate),
            "parse_query": ("answer", lambda _job: "{}"),
            "load": ("answer", lambda _job: {}),
            "estimate": ("answer", self.estimate),
            "prefill": ("prefill", self.prefill),
        }

    def estimate(self, job: Job) -> Estimate:
        sections = decode(SearchFilter, job.args["where"]).sections
        if sections is None:
            return Estimate(PAGES, 235_000, 31_400, 2500.0, known=False)
        return Estimate(20, 10_240, 31_400, 121.0, known="Metals \u203a Heavy" in sections[:1])

    def prefill(self, job: Job) -> Prefilled:
        """Prefill four parts, and wait after the second until it may go on, or is stopped."""
        book = job.args["book"]
        kept = self._paths.data / f"{book}.prefill"
        for done in range(1, 5):
            job.emit("stage", Progress("studying", 20 * done, 80, "passages", 300.0))
            kept.write_text(str(done / 4))
            while done == 2 and not (self._paths.data / "go_on").exists():
                if job.cancelled():
                    raise CancelledError
                time.sleep(0.01)
        return Prefilled(book, "tiny", 80, 80, 1_200_000_000, 50.0, full=False)

    def generate(self, job: Job) -> Draft:
        request = decode(Generate, job.args).request
        question = request.question
        job.emit("stage", Progress("loading", 0, 0, "tokens"))
        job.emit("stage", Progress("reading", 40, 100, "tokens", 9.0))
        if "fail" in question:
            what = "The model's file is damaged"
            raise UserFacingError(what, "Download it again")
        job.emit("stage", Progress("writing", 0, 0, "tokens"))
        count = 3000 if "slow" in question else 20
        stopped = False
        for number in range(count):
            if job.cancelled():
                stopped = True
                break
            job.emit("token", {"text": f"word{number} "})
            if "die" in question and number == 10:
                time.sleep(0.7)  # until the window has saved a part
                os._exit(3)
            time.sleep(0.01)
        timings = Timings(0.01, 1.0, 1.2, 3.4, 1400, 700, 20, 27.0)
        return Draft("text", request.model or "none", (), timings, stopped=stopped)


class Fetcher:
    """Knows two models; a download takes a second."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.models

    def verbs(self) -> Verbs:
        return {
            "models": ("list", self.models),
            "get": ("get", self.get),
            "add": ("get", self.add),
            "remove": ("list", self.remove),
        }

    def _model(self, name: str) -> dict[str, Any]:
        file = self._folder / f"{name}.gguf"
        return {
            "name": name,
            "title": name.title(),
            "installed": file.exists(),
            "size_bytes": 491_000_000,
            "context": 32768,
            "path": str(file),
            "description": "Answers well.",
            "own": name.startswith("own"),
            "note": "",
        }

    def models(self, _job: Job) -> dict[str, Any]:
        names = ["big", "tiny", *(f.stem for f in sorted(self._folder.glob("own*.gguf")))]
        models = [self._model(name) for name in names]
        installed = [model["name"] for model in models if model["installed"]]
        return {
            "models": models,
            "recommended": "big",
            "small": "tiny",
            "default": installed[0] if installed else None,
            "reason": "This computer has 24 GB of memory.",
        }

    def get(self, job: Job) -> dict[str, Any]:
        for step in range(50):
            if job.cancelled():
                (self._folder / ".partial" / job.args["name"]).mkdir(parents=True, exist_ok=True)
                raise CancelledError
            done = step * 9_820_000
            job.emit("progress", Progress("downloading", done, 491_000_000, "bytes", 12.0))
            time.sleep(0.02)
        (self._folder / f"{job.args['name']}.gguf").touch()
        return self._model(job.args["name"])

    def add(self, job: Job) -> dict[str, Any]:
        path = Path(job.args["path"])
        if "bad" in path.name:
            what = "It is no GGUF file"
            raise UserFacingError(what, "Choose another")
        (self._folder / path.name).touch()
        return {"model": self._model(path.stem), "summary": "llama · 2,048 tokens · 98 MB"}

    def remove(self, job: Job) -> None:
        (self._folder / f"{job.args['name']}.gguf").unlink()


KINDS = {
    name: f"tests.ui.fake_services:{name.title()}"
    for name in ("reader", "librarian", "answerer", "fetcher")
}
