"""Prefilling and writing with Lutrin's engine, against a bare loop over llama.cpp.

    python tests/bench/speed.py --model MODEL.gguf

The same model, text, window and threads; each way several times in turn, of which the best counts.
Prefilling includes taking the state out and writing it to the disk. Then the same with every
number of threads that the machine has.
"""

from __future__ import annotations

import argparse
import ctypes
import tempfile
import time
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pymupdf

from desktop import environment
from desktop.core.llm.hardware.machine_info import survey
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation
from desktop.core.llm.runtime.kv_store import KVStore

HANDBOOK = Path(__file__).resolve().parents[2] / "resources/handbook/handbook.pdf"
WINDOW = 4096
PIECE_TOKENS, PIECES = 600, 3
WRITTEN = 100
RUNS = 3


def main() -> None:
    environment.prepare()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    args = parser.parse_args()
    threads = survey().cores_fast
    with pymupdf.open(HANDBOOK) as file:
        text = "\n".join(page.get_text() for page in file)
    engine = Engine(args.model, context_tokens=WINDOW, threads=threads)
    tokens = engine.tokenize(text)
    pieces = [tokens[n * PIECE_TOKENS :][:PIECE_TOKENS] for n in range(PIECES)]
    bare = Bare(args.model, threads)
    speeds: dict[str, list[tuple[float, float]]] = {"bare": [], "Lutrin": []}
    for _ in range(RUNS):
        speeds["bare"].append((bare.read(pieces), bare.write(tokens[:PIECE_TOKENS])))
        speeds["Lutrin"].append((prefilled(engine, pieces), write(engine, tokens[:PIECE_TOKENS])))
    for number, what in enumerate(("prefilling", "writing")):
        one, other = (max(row[number] for row in speeds[way]) for way in ("Lutrin", "bare"))
        print(f"{what}: {one:.1f} tokens/s, bare loop {other:.1f}: {one / other:.2f} of it")
    engine.close()
    bare.close()
    for count in range(1, survey().cores_logical + 1):
        engine = Engine(args.model, context_tokens=WINDOW, threads=count)
        rows = [(prefilled(engine, pieces), write(engine, tokens[:PIECE_TOKENS])) for _ in range(2)]
        read, written = (max(column) for column in zip(*rows, strict=True))
        chosen = ", as Lutrin does here" if count == threads else ""
        print(f"{count} threads{chosen}: reading {read:.1f}, writing {written:.1f} tokens/s")
        engine.close()


def prefilled(engine: Engine, pieces: list[list[int]]) -> float:
    """Return the tokens a second of prefilling pieces and keeping their states."""
    with tempfile.TemporaryDirectory() as folder:
        states = KVStore(Path(folder)).of("model", "book")
        start = time.perf_counter()
        for piece in pieces:
            state, _ = engine.prefill_block((), piece)
            states.save(piece, state)
        return sum(map(len, pieces)) / (time.perf_counter() - start)


def write(engine: Engine, prompt: list[int]) -> float:
    """Return the tokens a second of writing behind a prompt."""
    figures = Generation()
    for _ in engine.generate(prompt, figures, most_tokens=WRITTEN):
        pass
    return figures.tokens_per_s


class Bare:
    """llama.cpp with nothing around it, and its own sizes of batches."""

    def __init__(self, model: Path, threads: int) -> None:
        self._model = llama_cpp.llama_model_load_from_file(
            str(model).encode(), llama_cpp.llama_model_default_params()
        )
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = WINDOW
        parameters.n_threads = parameters.n_threads_batch = threads
        self._context: Any = llama_cpp.llama_init_from_model(self._model, parameters)
        self._size = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._model))

    def _decode(self, tokens: list[int]) -> None:
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        code = llama_cpp.llama_decode(self._context, batch)
        assert code == 0, code

    def close(self) -> None:
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)

    def _clear(self) -> None:
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self._context), True)

    def read(self, pieces: list[list[int]]) -> float:
        """Return the tokens a second of reading pieces, each by itself."""
        start = time.perf_counter()
        for piece in pieces:
            self._clear()
            self._decode(piece)
        return sum(map(len, pieces)) / (time.perf_counter() - start)

    def write(self, prompt: list[int]) -> float:
        """Return the tokens a second of writing the likeliest ones behind a prompt."""
        self._clear()
        self._decode(prompt)
        start = time.perf_counter()
        for _ in range(WRITTEN):
            logits = llama_cpp.llama_get_logits_ith(self._context, -1)
            pointer = ctypes.cast(logits, ctypes.POINTER(ctypes.c_float))
            self._decode([int(np.argmax(np.ctypeslib.as_array(pointer, (self._size,))))])
        return WRITTEN / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
