"""Running a GGUF model through llama.cpp.

Uses llama.cpp's own functions, not the high-level class: what is in the KV cache, and what of it
can be reused, is Lutrin's business: see `kv_cache`. Knows nothing of books or prompts.
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
from desktop.core.llm.hardware.memory_plan import gpu_layers
from desktop.core.llm.runtime.decoding import Decoder
from desktop.core.llm.runtime.generation import Generation, Sampling
from desktop.core.llm.runtime.kv_cache import SEQUENCES, KVCache
from desktop.core.llm.runtime.kv_type import KVType
from desktop.core.llm.runtime.prefill import BATCH_TOKENS, Reuse, prefill, prefill_block
from desktop.core.llm.runtime.prompt_lookup import PromptLookup
from desktop.core.llm.runtime.sampler import Sampler, log_softmax
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
    """A loaded model with one KV cache. Not for several threads at once.

    Where there is a graphics processor, it computes as many layers as fit its free memory. Where
    that does not work, the processor computes all.

    Args:
        path: A GGUF file.
        context_tokens: The context window.
        threads: Threads to compute with.
        cancelled: Asked while the file is read.
        kv: Number format of the KV cache.

    Attributes:
        context_tokens: The context window.
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
        self._gpu_layers = gpu_layers(read_header(path), context_tokens, found.free) if found else 0
        try:
            self._open(context_tokens, cancelled)
        except UserFacingError:
            if not self._gpu_layers:
                raise
            self._fall_back_to_cpu(context_tokens, cancelled)

    def _open(self, context_tokens: int, cancelled: Callable[[], bool]) -> None:
        parameters = llama_cpp.llama_model_default_params()
        parameters.n_gpu_layers = self._gpu_layers
        parameters.use_extra_bufts = not _has_amx()
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

    def _fall_back_to_cpu(self, context_tokens: int, cancelled: Callable[[], bool]) -> None:
        """Load the model once more, for the processor alone."""
        self.close()
        self._gpu_layers = 0
        self.notice = NOT_ACCELERATED
        self._open(context_tokens, cancelled)

    def _make_context(self, context_tokens: int) -> None:
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = context_tokens
        parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
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
        self._kv_cache = KVCache(self._model, self._context)

    def resize(self, context_tokens: int) -> None:
        """Change the context window; the KV cache is emptied.

        Raises:
            UserFacingError: if the memory does not suffice; the engine is then closed.
        """
        llama_cpp.llama_free(self._context)
        self._context = None
        try:
            self._make_context(context_tokens)
        except UserFacingError:
            if not self._gpu_layers:
                raise
            self._fall_back_to_cpu(context_tokens, lambda: False)

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
        """See `KVCache.splices`."""
        return self._kv_cache.splices

    @property
    def identity(self) -> str:
        """What changes the bytes of a KV state beside the model's file and the tokens."""
        where = " accelerated" if self._gpu_layers else ""
        return f"{llama_cpp.__version__} {self._kv.name.lower()}{where}"

    def begin(
        self,
        start: Sequence[int],
        states: KVStates,
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Generation:
        """Prefill what prompts to come begin with: from its saved state, or once and then saved.

        Returns:
            How much was prefilled, and how long that took.

        Raises:
            CancelledError: if stopped.
        """
        figures = Generation()
        began = time.monotonic()
        prefill(self._kv_cache, start, figures, Reuse(len(start), states), cancelled=cancelled)
        figures.prefill_s = time.monotonic() - began
        return figures

    def prefill_block(
        self,
        before: Sequence[int],
        piece: Sequence[int],
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[bytearray, int]:
        """See `prefill.prefill_block`. Prompts to come may have to be prefilled as a whole."""
        return prefill_block(self._kv_cache, before, piece, cancelled=cancelled)

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
            most_tokens: Tokens to decode at most.
            sampling: How to sample; greedy by default.
            reading: Progress of the prefill: told how many prompt tokens of how many are done.
            cancelled: Asked between batches; decoding then ends with `finish` "stopped".
            fresh: See `prefill.Reuse`.
            grammar: In GBNF, from the rule `root`: nothing else is decoded; "" for any text.
            guide: Constrains the decoding token by token; None for any text.
            kept: See `prefill.Reuse.prefix`.
            states: See `prefill.Reuse`.
            splices: Likewise.

        Raises:
            CancelledError: if stopped during the prefill.
            UserFacingError: if the prompt does not fit or llama.cpp fails.
        """
        if len(prompt) + most_tokens > self.context_tokens:
            raise UserFacingError(
                f"{len(prompt):,} tokens do not fit the window of {self.context_tokens:,}",
                "Ask about fewer pages",
            )
        start = time.monotonic()
        reuse = Reuse(kept, states, splices, fresh=fresh)
        prefill(self._kv_cache, prompt, figures, reuse, progress=reading, cancelled=cancelled)
        figures.prefill_s = time.monotonic() - start
        vocab = self._vocabulary.vocab
        sampler = Sampler(self._context, vocab, sampling or Sampling(), grammar, guide)
        lookup = PromptLookup(prompt, self._kv_cache.costs) if self._kv_cache.splices else None
        decoder = Decoder(self._kv_cache, self._vocabulary, sampler, guide, lookup)
        yield from decoder.decode(figures, most_tokens, cancelled)

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
            splices: See `prefill.Reuse`.
            cancelled: Asked during the prefill.

        Returns:
            Their natural logarithm: 0 where both are as likely.

        Raises:
            CancelledError: if stopped.
        """
        prefill(self._kv_cache, prompt, Generation(), Reuse(splices=splices), cancelled=cancelled)
        log_probabilities = log_softmax(self._context, self._vocabulary.vocab)
        one, other = (
            np.logaddexp.reduce(
                [log_probabilities[t] for t in {self.tokenize(word)[0] for word in each}]
            )
            for each in (words, others)
        )
        return float(one - other)

    def close(self) -> None:
        """Free the model and its context."""
        if self._context:
            llama_cpp.llama_free(self._context)
            self._context = None
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None


def _has_amx() -> bool:
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
