"""Writing an answer: choose what to read, read it, write.

Keeps one model loaded. Finding passages is done before, proving after; see `steps`. Knows
nothing of windows and command lines.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.answering.attribution.abstention import self_evaluation
from desktop.core.answering.generation.model_manager import ModelManager, llama_engine
from desktop.core.answering.modes import long_context, retrieval
from desktop.core.answering.modes.budget import (
    MOST_ANSWER_TOKENS,
    Estimate,
    estimate,
    shared_prefix,
)
from desktop.core.answering.modes.map_reduce import map_reduce
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.blocks import PromptBlocks
from desktop.core.answering.prompt.context import quoting_guide
from desktop.core.answering.prompt.recap import MOST_TOKENS as REMINDER_TOKENS
from desktop.core.answering.prompt.recap import recap
from desktop.core.answering.request import Draft
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.runtime.generation import Generation, Sampling
from desktop.core.progress import Pace
from desktop.core.records import Mode, Progress, Timings, Turn
from desktop.core.retrieval import query_parsing
from desktop.core.retrieval.query_rewriting import leans_on_before

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.answering.generation.loaded_model import LoadedModel
    from desktop.core.answering.generation.model_manager import MakeEngine
    from desktop.core.answering.prompt.context import Context, ModeContext, Source
    from desktop.core.answering.request import Listener, Request
    from desktop.core.library.library import Library
    from desktop.core.library.search_filter import SearchFilter
    from desktop.core.llm.models.store import ModelStore
    from desktop.core.llm.runtime.generation import Splice

MODES: dict[Mode, ModeContext] = {
    Mode.RETRIEVAL: retrieval.choose,
    Mode.LONG_CONTEXT: long_context.choose,
}
"""A new mode is one new module and one line here."""

MOST_INTERPRETED = 96
"""Longest reply in `query_parsing.GRAMMAR`."""
TURN_WORDS = 90
"""Words kept of an earlier answer: enough to say what "it" is, without reading it all again."""
NOT_KEPT = (
    "What was read could not be kept, so the next start of Lutrin reads it again: the disk is "
    "almost full, or the room for what is kept"
)
NOT_SPLICED = (
    "{model} can't use what was read ahead: what it keeps of a text can't be put together from "
    "parts. So the passages are read each time"
)
REPEATS = 3
"""A stretch of text that comes this often is a loop, and writing stops."""
_LOOP_CHARACTERS = 60
_MARKER = re.compile(r"\s*\[\d+\]")


class AnswerGenerator:
    """Answers questions on one library.

    Args:
        library: The library.
        model_store: The installed models.
        make_engine: Loads a model; llama.cpp unless a test brings its own.
    """

    def __init__(
        self,
        library: Library,
        model_store: ModelStore,
        *,
        make_engine: MakeEngine = llama_engine,
    ) -> None:
        self._library = library
        self._told: set[str] = set()
        self.models = ModelManager(library, model_store, make_engine=make_engine)

    def load(self, name: str | None, listener: Listener) -> LoadedModel:
        """See `ModelManager.foreground`."""
        with self.models.foreground(name, listener) as loaded:
            return loaded

    def close(self) -> None:
        """Unload the model."""
        self.models.close()

    def generate(self, request: Request, listener: Listener) -> Draft:
        """Write an answer; waits its turn where another one is being written.

        Raises:
            UserFacingError: if it can't be answered now, and why.
            CancelledError: if stopped before the first word.
        """
        if request.mode not in MODES:
            raise UserFacingError(
                "No adapter has been trained for this book", "Ask in retrieval mode"
            )
        with (
            self._library.turns.answering(
                waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
                cancelled=listener.cancelled,
            ),
            self.models.foreground(request.model, listener) as loaded,
        ):
            return self._write(request, listener, loaded)

    def estimate(self, where: SearchFilter, model: str | None, listener: Listener) -> Estimate:
        """Return what reading a part of one book as a whole takes; see `meter.estimate`.

        Raises:
            UserFacingError: if no model can be loaded, or there is no such part.
            CancelledError: if stopped.
        """
        with self.models.foreground(model, listener) as loaded:
            return estimate(loaded, self._library.catalog, where)

    def parse_query(self, question: str, model: str | None, listener: Listener) -> str:
        """Return what the model makes of where a question says to look, in `query_parsing.GRAMMAR`.

        Raises:
            UserFacingError: if no model can be loaded.
            CancelledError: if stopped.
        """
        answering = self._library.turns.answering(
            waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
            cancelled=listener.cancelled,
        )
        with answering, self.models.foreground(model, listener) as loaded:
            engine = loaded.engine
            texts = prompts.load("structure")
            messages = [*texts.start(), ("user", question)]
            pieces = engine.generate(
                engine.chat(messages),
                Generation(),
                most_tokens=MOST_INTERPRETED,
                cancelled=listener.cancelled,
                grammar=query_parsing.GRAMMAR,
            )
            return "".join(pieces)

    def _write(self, request: Request, listener: Listener, loaded: LoadedModel) -> Draft:
        engine, model = loaded.engine, loaded.model.name
        start = time.monotonic() - request.found.retrieve_s
        texts = prompts.load()
        history = _recent(request)
        blocks = PromptBlocks(self._library, loaded, texts)
        context = self._context(request, loaded, texts, history, blocks, listener)
        if request.map_reduce and (listener.cancelled() or not context.sources):
            return self._noted(context, request, model, start, listener)
        whole = (
            request.mode is Mode.LONG_CONTEXT
            and context.left_out is None
            and not request.map_reduce
        )
        again = recap(request.question, context.sources, lambda t: len(engine.tokenize(t)))
        messages = texts.messages(
            request.question, context.sources, history, first=whole, again=again
        )
        prompt, places = engine.chat_in_parts(messages)
        splices = blocks.splices(context.sources, places)
        try:
            loaded.widen(len(prompt) + MOST_ANSWER_TOKENS)
        except UserFacingError:
            self.close()  # it has no window left
            raise
        kept = shared_prefix(engine, texts, prompt, context.sources) if whole else 0
        figures = Generation()
        reading = _Reading(listener.stage)
        sampling = Sampling(temperature=0.6, seed=request.attempt) if request.attempt else None
        pieces: list[str] = []
        first_word = 0.0
        for piece in engine.generate(
            prompt,
            figures,
            most_tokens=MOST_ANSWER_TOKENS,
            sampling=sampling,
            reading=reading.at,
            cancelled=listener.cancelled,
            fresh=request.fresh,
            guide=quoting_guide(context.sources, engine.tokenize),
            kept=kept,
            states=loaded.states(context.sources[0].book) if whole else None,
            splices=splices,
        ):
            if not pieces:
                first_word = time.monotonic() - start
                listener.stage(Progress("writing", 0, 0, "tokens"))
            pieces.append(piece)
            listener.token(piece)
            if _loops("".join(pieces[-MOST_ANSWER_TOKENS:])):
                break
        loaded.note(figures)
        text = "".join(pieces).strip()
        if not text and listener.cancelled():
            raise CancelledError
        if not text:
            raise UserFacingError(
                f"The model {model} wrote nothing",
                "Ask in other words; if that does not help, get the model again or choose another",
            )
        notes = context.notes + self._news(loaded, context)
        if figures.reused_tokens < kept and self._library.states.full:
            notes += (NOT_KEPT,)
        stopped = figures.finish == "stopped"
        said = None
        if request.mode is Mode.RETRIEVAL and not stopped:
            said = self_evaluation(engine, texts, messages, splices, listener.cancelled)
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
            sources=_reused(context.sources, kept, splices, figures),
            timings=timings,
            left_out=context.left_out,
            notes=notes,
            stopped=stopped,
            certainty=round(figures.certainty, 4),
            said=said,
        )

    def _news(self, loaded: LoadedModel, context: Context) -> tuple[str, ...]:
        """Return notes, each once, on how the model is run and what of it can't be used."""
        notes = [note for note in loaded.notices() if note not in self._told]
        unused = NOT_SPLICED.format(model=loaded.model.name)
        if not loaded.engine.splices and unused not in self._told:
            books = {source.book for source in context.sources}
            if any(self._library.states.usage(book).states for book in books):
                notes.append(unused)
        self._told.update(notes)
        return tuple(notes)

    def _noted(
        self, context: Context, request: Request, model: str, start: float, listener: Listener
    ) -> Draft:
        """Return what was noted as it is: reading was stopped, or nothing was found."""
        stopped = listener.cancelled()
        if stopped and not context.noted:
            raise CancelledError
        text = "\n".join(f"> {quote}" for quote in context.noted) or prompts.load().refusal
        took = round(time.monotonic() - start, 3)
        return Draft(
            text=text,
            model=model,
            sources=context.sources,
            timings=Timings(retrieve_s=round(request.found.retrieve_s, 3), total_s=took),
            left_out=context.left_out,
            notes=context.notes,
            stopped=stopped,
        )

    def _context(
        self,
        request: Request,
        loaded: LoadedModel,
        texts: prompts.Prompts,
        history: Sequence[Turn],
        blocks: PromptBlocks,
        listener: Listener,
    ) -> Context:
        engine = loaded.engine
        frame = engine.chat(texts.messages(request.question, (), history))
        taken = len(frame) + MOST_ANSWER_TOKENS
        if loaded.default_window <= taken:
            raise UserFacingError(
                "The question is too long for this model", "Shorten it, and ask in several steps"
            )

        if request.map_reduce:
            room = loaded.default_window - taken
            return map_reduce(self._library, loaded, blocks, request, listener, room=room)

        def chosen(window: int) -> Context:
            return MODES[request.mode](
                self._library.catalog,
                request.found.hits,
                books=[book for book, _ in request.found.books],
                where=request.found.where,
                count=lambda text: len(engine.tokenize(text)),
                room=window - taken,
                reordered=request.reordered,
            )

        if request.mode is Mode.LONG_CONTEXT:
            # What fits whole is read once and then kept, so it may take long; a part may not.
            whole = chosen(loaded.widest())
            if whole.left_out is None:
                return whole
        context = chosen(loaded.default_window)
        if request.mode is not Mode.RETRIEVAL or request.fresh or request.reordered:
            return context
        room = loaded.default_window - taken - REMINDER_TOKENS
        return replace(
            context, sources=blocks.with_saved_blocks(context.sources, request.found.where, room)
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


def _recent(request: Request) -> list[Turn]:
    """Return the turn before, where the question leans on it; its answer without markers."""
    if not request.history or not leans_on_before(request.question):
        return []
    turn = request.history[-1]
    words = _MARKER.sub("", turn.answer).split()
    return [Turn(turn.question, " ".join(words[:TURN_WORDS]))]


def _reused(
    sources: Sequence[Source], kept: int, splices: Sequence[Splice], figures: Generation
) -> tuple[Source, ...]:
    """Return sources, those marked that were known from before."""
    whole = 0 < kept <= figures.reused_tokens
    starts = iter(splices)
    return tuple(
        replace(source, reused=next(starts).start in figures.spliced if source.block else whole)
        for source in sources
    )


def _loops(text: str) -> bool:
    tail = text[-_LOOP_CHARACTERS:]
    return len(tail) == _LOOP_CHARACTERS and text.count(tail) >= REPEATS
