"""Generating an answer: a mode chooses what is read, a prompt is made of it, the model writes.

Retrieval is done before, verification after; see `pipeline.steps`. Knows nothing of windows and
command lines.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.core.answering.generation.model_manager import ModelManager, llama_engine
from desktop.core.answering.modes import budget
from desktop.core.answering.modes.map_reduce import notes_as_draft
from desktop.core.answering.modes.mode import ModeInput
from desktop.core.answering.modes.registry import mode_of
from desktop.core.answering.prompt import prompts
from desktop.core.answering.prompt.assembly import assemble, turns_to_go_on
from desktop.core.answering.prompt.blocks import PromptBlocks
from desktop.core.answering.prompt.context import MOST_ANSWER_TOKENS
from desktop.core.answering.prompt.self_evaluation import self_evaluation
from desktop.core.answering.request import Draft
from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.runtime.generation import Generation, Sampling
from desktop.core.progress import Pace
from desktop.core.records import Mode, Progress, Timings
from desktop.core.retrieval import query_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from desktop.core.answering.generation.loaded_model import LoadedModel
    from desktop.core.answering.generation.model_manager import MakeEngine
    from desktop.core.answering.modes.budget import Estimate
    from desktop.core.answering.prompt.assembly import AssembledPrompt
    from desktop.core.answering.prompt.context import Context, Source
    from desktop.core.answering.request import Listener, Request
    from desktop.core.library.library import Library
    from desktop.core.library.search_filter import SearchFilter
    from desktop.core.llm.models.store import ModelStore

MOST_PARSED_TOKENS = 96
"""Longest reply in `query_patterns.GRAMMAR`."""
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


class AnswerGenerator:
    """Generates answers on one library.

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
        build_context = mode_of(request)
        if build_context is None:
            raise UserFacingError(
                "No adapter has been trained for this book", "Ask in retrieval mode"
            )
        with self._turn(listener), self.models.foreground(request.model, listener) as loaded:
            start = time.monotonic() - request.found.retrieve_s
            history = turns_to_go_on(request.question, request.history)
            blocks = PromptBlocks(self._library, loaded, prompts.load())
            frame = blocks.engine.chat(blocks.texts.messages(request.question, (), history))
            given = ModeInput(
                self._library, loaded, blocks, request, listener, len(frame) + MOST_ANSWER_TOKENS
            )
            if given.room <= 0:
                raise UserFacingError(
                    "The question is too long for this model",
                    "Shorten it, and ask in several steps",
                )
            context = build_context(given)
            stopped = listener.cancelled()
            if request.map_reduce and (stopped or not context.sources):
                return notes_as_draft(
                    context,
                    request,
                    model=loaded.model.name,
                    refusal=blocks.texts.refusal,
                    total_s=time.monotonic() - start,
                    stopped=stopped,
                )
            whole = (
                request.mode is Mode.LONG_CONTEXT
                and context.left_out is None
                and not request.map_reduce
            )
            prompt = assemble(blocks, request.question, context.sources, history, first=whole)
            return self._decode(given, context, prompt, start)

    def estimate(self, where: SearchFilter, model: str | None, listener: Listener) -> Estimate:
        """Return what reading a part of one book as a whole takes; see `budget.estimate`.

        Raises:
            UserFacingError: if no model can be loaded, or there is no such part.
            CancelledError: if stopped.
        """
        with self.models.foreground(model, listener) as loaded:
            return budget.estimate(loaded, self._library.catalog, where)

    def parse_query(self, question: str, model: str | None, listener: Listener) -> str:
        """Return what the model makes of where a question says to look.

        Returns:
            A text in `query_patterns.GRAMMAR`.

        Raises:
            UserFacingError: if no model can be loaded.
            CancelledError: if stopped.
        """
        with self._turn(listener), self.models.foreground(model, listener) as loaded:
            engine = loaded.engine
            messages = [*prompts.load("structure").start(), ("user", question)]
            pieces = engine.generate(
                engine.chat(messages),
                Generation(),
                most_tokens=MOST_PARSED_TOKENS,
                cancelled=listener.cancelled,
                grammar=query_patterns.GRAMMAR,
            )
            return "".join(pieces)

    def _turn(self, listener: Listener) -> AbstractContextManager[None]:
        return self._library.turns.answering(
            waiting=lambda: listener.stage(Progress("waiting", 0, 0, "")),
            cancelled=listener.cancelled,
        )

    def _decode(
        self, given: ModeInput, context: Context, prompt: AssembledPrompt, start: float
    ) -> Draft:
        """Return what the model writes behind a prompt.

        Args:
            given: What the mode was given.
            context: What it chose.
            prompt: The prompt that was made of it.
            start: When the question was asked, on the clock of `time.monotonic`.
        """
        request, loaded, listener = given.request, given.loaded, given.listener
        self._widen(loaded, len(prompt.tokens) + MOST_ANSWER_TOKENS)
        figures = Generation()
        pieces: list[str] = []
        first_word = 0.0
        for piece in self._pieces(given, context, prompt, figures):
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
                f"The model {loaded.model.name} wrote nothing",
                "Ask in other words; if that does not help, get the model again or choose another",
            )
        stopped = figures.finish == "stopped"
        evaluation = None
        if request.mode is Mode.RETRIEVAL and not stopped:
            evaluation = self_evaluation(
                given.blocks.engine, given.blocks.texts, prompt, listener.cancelled
            )
        return Draft(
            text=text,
            model=loaded.model.name,
            sources=_reused(context.sources, prompt, figures),
            timings=Timings(
                retrieve_s=round(request.found.retrieve_s, 3),
                prefill_s=round(figures.prefill_s, 3),
                ttft_s=round(first_word, 3),
                total_s=round(time.monotonic() - start, 3),
                prompt_tokens=figures.prompt_tokens,
                reused_tokens=figures.reused_tokens,
                generated_tokens=figures.generated_tokens,
                tokens_per_s=round(figures.tokens_per_s, 2),
            ),
            left_out=context.left_out,
            notes=(*context.notes, *self._notes(loaded, context, prompt, figures)),
            stopped=stopped,
            certainty=round(figures.certainty, 4),
            self_evaluation=evaluation,
        )

    def _widen(self, loaded: LoadedModel, tokens: int) -> None:
        try:
            loaded.widen(tokens)
        except UserFacingError:
            self.close()  # it has no window left
            raise

    def _pieces(
        self, given: ModeInput, context: Context, prompt: AssembledPrompt, figures: Generation
    ) -> Iterator[str]:
        """Yield the text as it is written, and fill in the figures."""
        request, loaded = given.request, given.loaded
        sampling = Sampling(temperature=0.6, seed=request.attempt) if request.attempt else None
        return loaded.engine.generate(
            prompt.tokens,
            figures,
            most_tokens=MOST_ANSWER_TOKENS,
            sampling=sampling,
            reading=_PrefillProgress(given.listener.stage).at,
            cancelled=given.listener.cancelled,
            fresh=request.fresh,
            guide=prompt.guide,
            kept=prompt.shared,
            states=loaded.states(context.sources[0].book) if prompt.shared else None,
            splices=prompt.splices,
        )

    def _notes(
        self, loaded: LoadedModel, context: Context, prompt: AssembledPrompt, figures: Generation
    ) -> tuple[str, ...]:
        """Return what is to be told of this run: how the model is run is told once."""
        notes = [note for note in loaded.notices() if note not in self._told]
        unused = NOT_SPLICED.format(model=loaded.model.name)
        if not loaded.engine.splices and unused not in self._told:
            books = {source.book for source in context.sources}
            if any(self._library.states.usage(book).states for book in books):
                notes.append(unused)
        self._told.update(notes)
        if figures.reused_tokens < prompt.shared and self._library.states.full:
            notes.append(NOT_KEPT)
        return tuple(notes)


class _PrefillProgress:
    """Tells how far a prompt is read; what was still in the memory says nothing of the pace."""

    def __init__(self, stage: Callable[[Progress], None]) -> None:
        self._stage = stage
        self._pace: Pace | None = None

    def at(self, done: int, total: int) -> None:
        """Say that `done` tokens of the prompt are read; the first call, how many there were."""
        if self._pace is None:
            self._pace = Pace(self._stage, "reading", total=total, unit="tokens", done=done)
        else:
            self._pace.at(done)


def _reused(
    sources: Sequence[Source], prompt: AssembledPrompt, figures: Generation
) -> tuple[Source, ...]:
    """Return sources, those marked whose saved states spared reading them."""
    whole = 0 < prompt.shared <= figures.reused_tokens
    starts = iter(prompt.splices)
    return tuple(
        replace(source, reused=next(starts).start in figures.spliced if source.block else whole)
        for source in sources
    )


def _loops(text: str) -> bool:
    tail = text[-_LOOP_CHARACTERS:]
    return len(tail) == _LOOP_CHARACTERS and text.count(tail) >= REPEATS
