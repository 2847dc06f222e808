"""Answering a question: choose what to read, write, prove, or say that the book does not say.

Keeps one model loaded. Knows nothing of windows and command lines; finding passages is done
before, by retrieval.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.answering import abstention, citations, long_context, prompts, retrieval_mode
from desktop.core.answering.context import from_hit
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.generation import Generation, Sampling
from desktop.core.llm.gguf import memory_needed, read_header
from desktop.core.llm.hardware import survey
from desktop.core.progress import Pace
from desktop.core.records import Answer, Mode, Progress, Timings, Turn
from desktop.core.retrieval.followup import leans_on_before

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from desktop.core.answering.context import Context, ModeContext, Source
    from desktop.core.answering.request import EngineLike, Listener, Request
    from desktop.core.library.library import Library
    from desktop.core.llm.shelf import ModelShelf, ShelfModel

MODES: dict[Mode, ModeContext] = {
    Mode.RETRIEVAL: retrieval_mode.choose,
    Mode.LONG_CONTEXT: long_context.choose,
}
"""A new mode is one new module and one line here."""

WINDOWS = (8192, 4096, 2048)
"""Windows to make room for, the first that the model has and the free memory allows."""
MOST_TOKENS = 400
"""Longest answer; it ends by itself long before."""
TURN_WORDS = 90
"""Words kept of an earlier answer: enough to say what "it" is, without reading it all again."""
REPEATS = 3
"""A stretch of text that comes this often is a loop, and writing stops."""
_LOOP_CHARACTERS = 60
_MARKER = re.compile(r"\s*\[\d+\]")


def llama_engine(
    path: Path, context_tokens: int, threads: int, cancelled: Callable[[], bool]
) -> EngineLike:
    """Load a model with llama.cpp, which is imported only now."""
    from desktop.core.llm.engine import Engine

    return Engine(path, context_tokens=context_tokens, threads=threads, cancelled=cancelled)


class Answerer:
    """Answers questions on one library.

    Args:
        library: The library.
        shelf: The installed models.
        make_engine: Loads a model; llama.cpp unless a test brings its own.
    """

    def __init__(
        self,
        library: Library,
        shelf: ModelShelf,
        *,
        make_engine: Callable[[Path, int, int, Callable[[], bool]], EngineLike] = llama_engine,
    ) -> None:
        self._library = library
        self._shelf = shelf
        self._make_engine = make_engine
        self._engine: EngineLike | None = None
        self._loaded: ShelfModel | None = None

    def load(self, name: str | None, listener: Listener) -> ShelfModel:
        """Load a model unless it is loaded; return it.

        Raises:
            UserFacingError: if there is none, or it does not fit into the free memory.
        """
        machine = survey()
        model = self._shelf.get(name) if name else self._shelf.default(None, machine)
        if model is not None and model.note:
            raise UserFacingError(model.note, "Until then, use another one")
        if model is None or not model.installed or model.path is None:
            raise UserFacingError(
                "No language model is installed",
                "Get one in the window, or with: lutrin models get",
            )
        if self._engine is not None and self._loaded == model:
            return model
        self.close()
        listener.stage(Progress("loading", 0, 0, ""))
        window = _window(model.path, machine.memory_available)
        self._engine = self._make_engine(
            model.path, window, machine.cores_physical, listener.cancelled
        )
        self._loaded = model
        self._engine.read(self._engine.chat(prompts.load().start()), cancelled=listener.cancelled)
        return model

    def close(self) -> None:
        """Unload the model."""
        if self._engine is not None:
            self._engine.close()
        self._engine = self._loaded = None

    def answer(self, request: Request, listener: Listener) -> Answer:
        """Answer a question; waits its turn where another answer is being written.

        Raises:
            UserFacingError: if it can't be answered now, and why.
            CancelledError: if stopped before the first word.
        """
        if request.mode not in MODES:
            raise UserFacingError(
                "No adapter has been trained for this book", "Ask in retrieval mode"
            )
        if request.absent or (request.mode is Mode.RETRIEVAL and not request.hits):
            return _nothing_to_read(request)
        with self._library.turns.answering(
            waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
            cancelled=listener.cancelled,
        ):
            model = self.load(request.model, listener)
            return self._answer(request, listener, model.name)

    def _answer(self, request: Request, listener: Listener, model: str) -> Answer:

        engine = self._engine
        assert engine is not None  # load() has just set it
        start = time.monotonic() - request.retrieve_s
        texts = prompts.load()
        history = _recent(request)
        context = self._context(request, engine, texts, history)
        if not context.sources:
            return replace(_nothing_to_read(request), notes=context.notes)
        prompt = engine.chat(texts.messages(request.question, context.sources, history))
        figures = Generation()
        reading = _Reading(listener.stage)
        sampling = Sampling(temperature=0.6, seed=request.attempt) if request.attempt else None
        pieces: list[str] = []
        first_word = 0.0
        for piece in engine.generate(
            prompt,
            figures,
            most_tokens=MOST_TOKENS,
            sampling=sampling,
            reading=reading.at,
            cancelled=listener.cancelled,
            fresh=request.fresh,
        ):
            if not pieces:
                first_word = time.monotonic() - start
                listener.stage(Progress("writing", 0, 0, "tokens"))
            pieces.append(piece)
            listener.token(piece)
            if _loops("".join(pieces[-MOST_TOKENS:])):
                break
        text = "".join(pieces).strip()
        if not text and listener.cancelled():
            raise CancelledError
        if not text:
            raise UserFacingError(
                f"The model {model} wrote nothing",
                "Ask in other words; if that does not help, get the model again or choose another",
            )
        timings = Timings(
            retrieve_s=round(request.retrieve_s, 3),
            prefill_s=round(figures.prefill_s, 3),
            ttft_s=round(first_word, 3),
            total_s=round(time.monotonic() - start, 3),
            prompt_tokens=figures.prompt_tokens,
            reused_tokens=figures.reused_tokens,
            generated_tokens=figures.generated_tokens,
            tokens_per_s=round(figures.tokens_per_s, 2),
        )
        stopped = figures.finish == "stopped"
        answer = _judge(text, request, context, refusal="" if stopped else texts.refusal)
        return replace(answer, model=model, timings=timings, stopped=stopped)

    def _context(
        self,
        request: Request,
        engine: EngineLike,
        texts: prompts.Prompts,
        history: Sequence[Turn],
    ) -> Context:
        frame = engine.chat(texts.messages(request.question, (), history))
        room = engine.context_tokens - len(frame) - MOST_TOKENS
        if room <= 0:
            raise UserFacingError(
                "The question is too long for this model", "Shorten it, and ask in several steps"
            )
        return MODES[request.mode](
            self._library.catalog,
            request.hits,
            books=request.books,
            pages=request.pages,
            count=lambda text: len(engine.tokenize(text)),
            room=room,
        )


class _Reading:
    """Tells how far the prompt is read; what was still in the memory says nothing of the pace."""

    def __init__(self, stage: Callable[[Progress], None]) -> None:
        self._stage = stage
        self._pace: Pace | None = None

    def at(self, done: int, total: int) -> None:
        """Say that `done` tokens of the prompt are read; the first call, how many there were."""
        if self._pace is None:
            self._pace = Pace(self._stage, "reading", total=total, unit="tokens", done=done)
        else:
            self._pace.at(done)


def _nothing_to_read(request: Request) -> Answer:
    """Say that the book does not say, without asking a model."""
    if request.absent:
        names = ", ".join(f"“{name}”" for name in request.absent)
        note = f"{names} does not occur in the book"
    else:
        note = "No passage was found that has to do with the question"
    return Answer(
        question=request.question,
        mode=request.mode,
        model=request.model or "",
        answer=prompts.load().refusal,
        abstained=True,
        citations=(),
        context=tuple(from_hit(hit, lambda _text: 0).item() for hit in request.hits),
        timings=Timings(
            retrieve_s=round(request.retrieve_s, 3), total_s=round(request.retrieve_s, 3)
        ),
        notes=(note,),
    )


def _window(path: Path, available: int) -> int:
    header = read_header(path)
    for window in WINDOWS:
        if window > header.context_length > 0 and window != WINDOWS[-1]:
            continue
        need = memory_needed(header, context_tokens=window)
        if need.total <= available:
            return min(window, header.context_length or window)
    need = memory_needed(header, context_tokens=WINDOWS[-1])
    raise UserFacingError(
        f"This model needs {need.total / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB "
        "are free",
        "Close other programs, or choose a smaller model",
    )


def _recent(request: Request) -> list[Turn]:
    """Return the turn before, where the question leans on it; its answer without markers."""
    if not request.history or not leans_on_before(request.question):
        return []
    turn = request.history[-1]
    words = _MARKER.sub("", turn.answer).split()
    return [Turn(turn.question, " ".join(words[:TURN_WORDS]))]


def _loops(text: str) -> bool:
    tail = text[-_LOOP_CHARACTERS:]
    return len(tail) == _LOOP_CHARACTERS and text.count(tail) >= REPEATS


def _judge(text: str, request: Request, context: Context, *, refusal: str) -> Answer:
    """Prove the model's text, or turn it into "the book does not say".

    A text that was stopped is kept as it is (`refusal` is then empty).
    """
    answer = Answer(
        question=request.question,
        mode=request.mode,
        model="",
        answer=text,
        abstained=False,
        citations=(),
        context=tuple(source.item() for source in _best_first(context.sources)),
        timings=Timings(),
        left_out=context.left_out,
        notes=context.notes,
    )
    if refusal and abstention.refuses(text, refusal):
        return replace(answer, answer=refusal, abstained=True)
    proved = citations.prove(text, request.question, _best_first(context.sources))
    # What was made of many pages may stand in no single sentence: it is marked, not withheld.
    if refusal and request.mode is Mode.RETRIEVAL and abstention.unproved(proved):
        note = f"The model wrote this, but no passage says so: {text}"
        return replace(answer, answer=refusal, abstained=True, notes=(*context.notes, note))
    notes = context.notes
    if proved.unsupported:
        count = len(proved.unsupported)
        listed = " · ".join(proved.unsupported)
        were = "was" if count == 1 else "were"
        total = "sentence" if proved.claims == 1 else "sentences"
        note = f"{count} of {proved.claims} {total} {were} not found in the book: {listed}"
        notes = (*notes, note)
    return replace(answer, answer=proved.text, citations=proved.citations, notes=notes)


def _best_first(sources: Sequence[Source]) -> list[Source]:
    return sorted(sources, key=lambda source: -source.score)
