"""Writing an answer: choose what to read, read it, write.

Keeps one model loaded. Finding passages is done before, proving after; see `steps`. Knows
nothing of windows and command lines.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from desktop.core.answering import long_context, prompts, retrieval_mode
from desktop.core.answering.context import VERBATIM_WORDS, quotable
from desktop.core.answering.request import Draft
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.copying import Copying
from desktop.core.llm.generation import Generation, Sampling
from desktop.core.llm.hardware import survey
from desktop.core.llm.room import LONG_WINDOWS, fitting
from desktop.core.progress import Pace
from desktop.core.records import Mode, Progress, Timings, Turn
from desktop.core.retrieval import structure
from desktop.core.retrieval.followup import leans_on_before

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from desktop.core.answering.context import Context, ModeContext
    from desktop.core.answering.request import EngineLike, Listener, Request
    from desktop.core.library.library import Library
    from desktop.core.llm.shelf import ModelShelf, ShelfModel
    from desktop.core.llm.states import BookStates

MODES: dict[Mode, ModeContext] = {
    Mode.RETRIEVAL: retrieval_mode.choose,
    Mode.LONG_CONTEXT: long_context.choose,
}
"""A new mode is one new module and one line here."""

MOST_QUOTES = 3
"""Sentences that the model may copy before it answers; with more it reads out the page."""
MOST_INTERPRETED = 96
"""Longest reply in `structure.GRAMMAR`."""
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
        window = fitting(model.path, machine.memory_available)
        self._engine = self._make_engine(
            model.path, window, machine.cores_physical, listener.cancelled
        )
        self._loaded = model
        start = self._engine.chat(prompts.load().start())
        self._engine.begin(start, self._states(), cancelled=listener.cancelled)
        return model

    def _states(self, book: str = "") -> BookStates:
        """Return the saved states of a book for the loaded model, or those of no book."""
        assert self._engine is not None  # load() has set both
        assert self._loaded is not None
        model = f"{_fingerprint(self._loaded)} {self._engine.identity}"
        return self._library.states.of(model, book)

    def _widen(self, tokens: int) -> None:
        """Make the window wide enough for so many tokens; it stays so until the model is left."""
        assert self._engine is not None  # load() has set it
        self._engine.resize(next(w for w in reversed(LONG_WINDOWS) if w >= tokens))

    def close(self) -> None:
        """Unload the model."""
        if self._engine is not None:
            self._engine.close()
        self._engine = self._loaded = None

    def write(self, request: Request, listener: Listener) -> Draft:
        """Write an answer; waits its turn where another one is being written.

        Raises:
            UserFacingError: if it can't be answered now, and why.
            CancelledError: if stopped before the first word.
        """
        if request.mode not in MODES:
            raise UserFacingError(
                "No adapter has been trained for this book", "Ask in retrieval mode"
            )
        with self._library.turns.answering(
            waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
            cancelled=listener.cancelled,
        ):
            model = self.load(request.model, listener)
            return self._write(request, listener, model.name)

    def interpret(self, question: str, model: str | None, listener: Listener) -> str:
        """Return what the model makes of where a question says to look, in `structure.GRAMMAR`.

        Raises:
            UserFacingError: if no model can be loaded.
            CancelledError: if stopped.
        """
        with self._library.turns.answering(
            waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
            cancelled=listener.cancelled,
        ):
            self.load(model, listener)
            assert self._engine is not None  # load() has just set it
            texts = prompts.load("structure")
            messages = [*texts.start(), ("user", question)]
            pieces = self._engine.generate(
                self._engine.chat(messages),
                Generation(),
                most_tokens=MOST_INTERPRETED,
                cancelled=listener.cancelled,
                grammar=structure.GRAMMAR,
            )
            return "".join(pieces)

    def _write(self, request: Request, listener: Listener, model: str) -> Draft:
        engine = self._engine
        assert engine is not None  # load() has just set it
        start = time.monotonic() - request.found.retrieve_s
        texts = prompts.load()
        history = _recent(request)
        context = self._context(request, engine, texts, history)
        document = request.mode is Mode.LONG_CONTEXT and context.left_out is None
        messages = texts.messages(request.question, context.sources, history, first=document)
        prompt = engine.chat(messages)
        if len(prompt) + MOST_TOKENS > engine.context_tokens:
            self._widen(len(prompt) + MOST_TOKENS)
        # Whatever is asked of the whole of a book or chapter, its text stands before the question.
        kept = (
            _alike(prompt, engine.chat(texts.messages("", context.sources, ()))) if document else 0
        )
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
            guide=Copying(
                engine.tokenize,
                quotable(context.sources),
                most=MOST_QUOTES,
                least=VERBATIM_WORDS,
            ),
            kept=kept,
            states=self._states(context.sources[0].book) if document else None,
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
        stopped = figures.finish == "stopped"
        said = None if stopped else self._said(request, engine, texts, messages, listener)
        timings = Timings(
            retrieve_s=round(request.found.retrieve_s, 3),
            prefill_s=round(figures.prefill_s, 3),
            ttft_s=round(first_word, 3),
            total_s=round(time.monotonic() - start, 3),
            prompt_tokens=figures.prompt_tokens,
            reused_tokens=figures.reused_tokens,
            generated_tokens=figures.generated_tokens,
            tokens_per_s=round(figures.tokens_per_s, 2),
        )
        return Draft(
            text=text,
            model=model,
            sources=context.sources,
            timings=timings,
            left_out=context.left_out,
            notes=context.notes,
            stopped=stopped,
            certainty=round(figures.certainty, 4),
            said=said,
        )

    def _said(
        self,
        request: Request,
        engine: EngineLike,
        texts: prompts.Prompts,
        messages: Sequence[tuple[str, str]],
        listener: Listener,
    ) -> float | None:
        """Ask the model whether what it read answers; None where that counts for nothing.

        Only the end of the prompt is read again.
        """
        if request.mode is not Mode.RETRIEVAL or not texts.asks:
            return None
        *before, (role, text) = messages
        prompt = engine.chat([*before, (role, f"{text}\n{texts.asks}")])
        if len(prompt) > engine.context_tokens:
            return None
        try:
            return round(engine.odds(prompt, texts.yes, texts.no, cancelled=listener.cancelled), 4)
        except CancelledError:
            return None  # the answer itself is whole

    def _context(
        self,
        request: Request,
        engine: EngineLike,
        texts: prompts.Prompts,
        history: Sequence[Turn],
    ) -> Context:
        frame = engine.chat(texts.messages(request.question, (), history))
        taken = len(frame) + MOST_TOKENS
        if engine.context_tokens <= taken:
            raise UserFacingError(
                "The question is too long for this model", "Shorten it, and ask in several steps"
            )

        def chosen(window: int) -> Context:
            return MODES[request.mode](
                self._library.catalog,
                request.found.hits,
                books=[book for book, _ in request.found.books],
                where=request.found.where,
                count=lambda text: len(engine.tokenize(text)),
                room=window - taken,
                apart=request.apart,
            )

        context = chosen(engine.context_tokens)
        if context.left_out is None:
            return context
        # What fits whole is read once and then kept, so it may take long; a part of it may not.
        wide = chosen(self._widest())
        return wide if wide.left_out is None else context

    def _widest(self) -> int:
        """Return the widest window that the model has and the free memory allows."""
        assert self._engine is not None  # load() has set both
        assert self._loaded is not None
        if self._loaded.path is None:
            return self._engine.context_tokens
        free = survey().memory_available + self._loaded.size_bytes  # its weights are there already
        return max(self._engine.context_tokens, fitting(self._loaded.path, free, LONG_WINDOWS))


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


def _fingerprint(model: ShelfModel) -> str:
    """Return what tells a model's file from any other."""
    if model.sha256 or model.path is None:
        return model.sha256
    found = model.path.stat()
    return f"{model.path.name} {found.st_size} {found.st_mtime_ns}"


def _alike(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many elements two sequences have in common from the start."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(first), len(second)))


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
