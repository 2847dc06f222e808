"""Running a GGUF model through llama.cpp.

Uses llama.cpp's own functions, not the high-level class: what is in the key/value memory, and
what of it can be used again, is Lutrin's business: see `memory`. Knows nothing of books or prompts.
"""

from __future__ import annotations

import ctypes
import logging
import time
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from desktop.core.errors import CancelledError, UserFacingError
from desktop.core.llm.gguf.reader import read_header
from desktop.core.llm.hardware.accelerator import accelerator
from desktop.core.llm.hardware.memory_plan import layers_on
from desktop.core.llm.runtime.decoding import Decoder
from desktop.core.llm.runtime.generation import Generation, Sampling
from desktop.core.llm.runtime.kv_cache import SEQUENCES, KVCache
from desktop.core.llm.runtime.kv_type import KVType
from desktop.core.llm.runtime.prefill import STEP_TOKENS, Known, prefill, prefill_block
from desktop.core.llm.runtime.prompt_lookup import PromptLookup
from desktop.core.llm.runtime.sampler import Sampler, logarithms
from desktop.core.llm.runtime.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from desktop.core.llm.runtime.generation import Guide, Message, Splice
    from desktop.core.llm.runtime.kv_cache import KVStates

logger = logging.getLogger(__name__)

NOT_ACCELERATED = (
    "The graphics processor could not be used, so the processor does all of the work: answers "
    "take longer"
)
_LOUD_LEVELS = (3, 4)
"""ggml's log levels "warning" and "error"."""


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _log(level: int, text: bytes, _data: ctypes.c_void_p) -> None:
    if level in _LOUD_LEVELS:
        logger.info("llama.cpp: %s", text.decode("utf-8", "replace").rstrip())


class Engine:
    """A loaded model with one conversation in its memory. Not for several threads at once.

    Where there is a graphics processor, it computes as many layers as fit its free memory. Where
    that does not work, the processor computes all.

    Args:
        path: A GGUF file.
        context_tokens: Window to make room for.
        threads: Threads to compute with.
        cancelled: Asked while the file is read.
        kv: What keys and values are kept as.

    Attributes:
        context_tokens: The window.
        notice: What the user is to know of how it is run; "" for nothing.

    Raises:
        UserFacingError: if the file can't be loaded or the memory does not suffice.
        CancelledError: if stopped.
    """

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int,
        threads: int,
        cancelled: Callable[[], bool] = lambda: False,
        kv: KVType = KVType.F16,
    ) -> None:
        self._model: Any = None
        self._context: Any = None
        self._path = path
        self._threads = threads
        self.notice = ""
        llama_cpp.llama_log_set(_log, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        found = accelerator()
        self._kv = kv
        self._layers = layers_on(read_header(path), context_tokens, found.free) if found else 0
        try:
            self._open(context_tokens, cancelled)
        except UserFacingError:
            if not self._layers:
                raise
            self._leave_accelerator(context_tokens, cancelled)

    def _open(self, context_tokens: int, cancelled: Callable[[], bool]) -> None:
        parameters = llama_cpp.llama_model_default_params()
        parameters.n_gpu_layers = self._layers
        parameters.use_extra_bufts = not _has_tiles()
        go_on = llama_cpp.llama_progress_callback(lambda _part, _data: not cancelled())
        parameters.progress_callback = go_on
        self._model = llama_cpp.llama_model_load_from_file(str(self._path).encode(), parameters)
        if not self._model:
            if cancelled():
                raise CancelledError
            raise UserFacingError(
                f"The model “{self._path.name}” can't be loaded",
                "Choose another model, or remove this one and get it again",
            )
        self._vocabulary = Vocabulary(self._model)
        self._make_context(context_tokens)

    def _leave_accelerator(self, context_tokens: int, cancelled: Callable[[], bool]) -> None:
        """Load the model once more, for the processor alone."""
        self.close()
        self._layers = 0
        self.notice = NOT_ACCELERATED
        self._open(context_tokens, cancelled)

    def _make_context(self, context_tokens: int) -> None:
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = context_tokens
        parameters.n_batch = parameters.n_ubatch = STEP_TOKENS
        parameters.n_seq_max, parameters.kv_unified = SEQUENCES, True
        parameters.n_threads = parameters.n_threads_batch = self._threads
        parameters.type_k = parameters.type_v = self._kv
        if self._kv is not KVType.F16:  # llama.cpp reads other values with flash attention only
            parameters.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        parameters.no_perf = True
        self._context = llama_cpp.llama_init_from_model(self._model, parameters)
        if not self._context:
            self.close()
            raise UserFacingError(
                f"There is not enough free memory for a window of {context_tokens:,} tokens",
                "Close other programs, or choose a smaller model",
            )
        self.context_tokens = context_tokens
        self._memory = KVCache(self._model, self._context)

    def resize(self, context_tokens: int) -> None:
        """Make room for another window; what was read is dropped.

        Raises:
            UserFacingError: if the memory does not suffice; the engine is then closed.
        """
        llama_cpp.llama_free(self._context)
        self._context = None
        try:
            self._make_context(context_tokens)
        except UserFacingError:
            if not self._layers:
                raise
            self._leave_accelerator(context_tokens, lambda: False)

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a text; none of them is one of the model's markers."""
        return self._vocabulary.tokenize(text)

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """See `Vocabulary.chat`."""
        return self._vocabulary.chat(messages)[0]

    def chat_in_parts(self, messages: Sequence[Message]) -> tuple[list[int], list[int]]:
        """See `Vocabulary.chat`."""
        return self._vocabulary.chat(messages)

    @property
    def splices(self) -> bool:
        """See `Memory.splices`."""
        return self._memory.splices

    @property
    def identity(self) -> str:
        """What changes the bytes of a state beside the model's file and the tokens."""
        where = " accelerated" if self._layers else ""
        return f"{llama_cpp.__version__} {self._kv.name.lower()}{where}"

    def begin(
        self,
        start: Sequence[int],
        states: KVStates,
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Generation:
        """Hold what prompts to come begin with: by its saved state, or read once and then saved.

        Returns:
            What was read, and how long that took.

        Raises:
            CancelledError: if stopped.
        """
        figures = Generation()
        began = time.monotonic()
        prefill(self._memory, start, figures, Known(len(start), states), cancelled=cancelled)
        figures.prefill_s = time.monotonic() - began
        return figures

    def prefill_block(
        self,
        before: Sequence[int],
        piece: Sequence[int],
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[bytearray, int]:
        """See `prefill.prefill_block`. What was read for an answer may have to be read again."""
        return prefill_block(self._memory, before, piece, cancelled=cancelled)

    def generate(
        self,
        prompt: Sequence[int],
        figures: Generation,
        *,
        most_tokens: int,
        sampling: Sampling | None = None,
        reading: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
        fresh: bool = False,
        grammar: str = "",
        guide: Guide | None = None,
        kept: int = 0,
        states: KVStates | None = None,
        splices: Sequence[Splice] = (),
    ) -> Iterator[str]:
        """Yield the continuation of a prompt, piece by piece.

        Args:
            prompt: Tokens; with `most_tokens` they must fit the window.
            figures: Filled as it goes.
            most_tokens: Where to end at the latest.
            sampling: How to choose; greedy by default.
            reading: Told how many prompt tokens of how many are read.
            cancelled: Asked between steps; writing then ends with `finish` "stopped".
            fresh: Read the whole prompt even where its start is still in the memory.
            grammar: In GBNF, from the rule `root`: nothing else is written; "" for any text.
            guide: Says token by token what may be written; None for anything.
            kept: See `reading.Known`.
            states: Likewise.
            splices: Likewise.

        Raises:
            CancelledError: if stopped while the prompt was still being read.
            UserFacingError: if the prompt does not fit or llama.cpp fails.
        """
        if len(prompt) + most_tokens > self.context_tokens:
            raise UserFacingError(
                f"{len(prompt):,} tokens do not fit the window of {self.context_tokens:,}",
                "Ask about fewer pages",
            )
        start = time.monotonic()
        known = Known(kept, states, splices, fresh=fresh)
        prefill(self._memory, prompt, figures, known, reading=reading, cancelled=cancelled)
        figures.prefill_s = time.monotonic() - start
        vocab = self._vocabulary.vocab
        sampler = Sampler(self._context, vocab, sampling or Sampling(), grammar, guide)
        drafts = PromptLookup(prompt, self._memory.costs) if self._memory.splices else None
        writer = Decoder(self._memory, self._vocabulary, sampler, guide, drafts)
        yield from writer.write(figures, most_tokens, cancelled)

    def odds(
        self,
        prompt: Sequence[int],
        words: Sequence[str],
        others: Sequence[str],
        *,
        splices: Sequence[Splice] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> float:
        """Return the odds that a reply to a prompt begins with some words rather than with others.

        Args:
            prompt: Tokens that fit the window.
            words: Ways to begin, of which the first token counts.
            others: The other ways.
            splices: See `reading.Known`.
            cancelled: Asked while the prompt is read.

        Returns:
            Their natural logarithm: 0 where both are as likely.

        Raises:
            CancelledError: if stopped.
        """
        known_parts = Known(splices=splices)
        prefill(self._memory, prompt, Generation(), known_parts, cancelled=cancelled)
        known = logarithms(self._context, self._vocabulary.vocab)
        one, other = (
            np.logaddexp.reduce([known[t] for t in {self.tokenize(word)[0] for word in each}])
            for each in (words, others)
        )
        return float(one - other)

    def close(self) -> None:
        """Free the model's memory."""
        if self._context:
            llama_cpp.llama_free(self._context)
            self._context = None
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None


def _has_tiles() -> bool:
    """Return whether llama.cpp was built for Intel's AMX.

    Its code for it, built by gcc 12, ends the process: that compiler may leave out what sets a
    tile's shape before the instruction that loads it. Only servers have AMX.
    """
    return b"AMX_INT8 = 1" in llama_cpp.llama_print_system_info()


def description() -> str:
    """Return what llama.cpp says of itself; raises OSError where its library can't be loaded."""
    llama_cpp.llama_backend_init()
    features = llama_cpp.llama_print_system_info().decode("utf-8", "replace")
    on = [
        part.split("=")[0].strip() for part in features.split("|") if part.strip().endswith("= 1")
    ]
    return f"llama-cpp-python {llama_cpp.__version__}: {', '.join(on)}"
