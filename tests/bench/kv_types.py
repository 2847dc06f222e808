"""Formats of keys and values: what a state takes, how fast it is made and used, what it changes.

    python tests/bench/kv_types.py --model MODEL.gguf --book BOOK.pdf

What a format changes is said by the log-likelihood of the book's text behind a piece of it that was
prefilled and spliced in elsewhere, and by how often the likeliest next token is the one that it is
in f16. For answers run `splicing.py --kv`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pymupdf

from desktop import environment
from desktop.core.llm.hardware.machine_info import survey
from desktop.core.llm.runtime.engine import Engine
from desktop.core.llm.runtime.generation import Generation
from desktop.core.llm.runtime.kv_type import KVType
from desktop.core.llm.runtime.prefill import BATCH_TOKENS
from desktop.core.llm.runtime.sampler import log_softmax

WINDOW = 8192
PIECE, TOLD, WRITTEN = 600, 512, 60
FIRST_PAGE = 40
BEHIND = (600, 4000)


def main() -> None:
    environment.prepare()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--book", type=Path, required=True, help="a PDF")
    args = parser.parse_args()
    with pymupdf.open(args.book) as file:
        text = "\n".join(file[n].get_text() for n in range(FIRST_PAGE, FIRST_PAGE + 20))
    first: npt.NDArray[Any] | None = None
    for kv in KVType:
        engine = Engine(args.model, context_tokens=WINDOW, threads=survey().cores_fast, kv=kv)
        tokens = engine.tokenize(text)
        figures, logits = measured(engine, kv, tokens)
        right = tokens[PIECE + 1 : PIECE + TOLD]
        best = logits.argmax(axis=1)
        first = best if first is None else first
        likelihood = float(np.mean([row[token] for row, token in zip(logits, right, strict=True)]))
        same = float((best == first).mean())
        print(f"{kv.name}: {figures}; {likelihood:.3f} nats a token; likeliest same {same:.3f}")
        engine.close()


def measured(engine: Engine, kv: KVType, tokens: list[int]) -> tuple[str, npt.NDArray[np.float32]]:
    """Return speeds and sizes as a text, and the log-likelihoods of each next token."""
    began = time.perf_counter()
    state, read = engine.prefill_block(tokens[-50:], tokens[:PIECE])
    speed = read / (time.perf_counter() - began)
    kv_cache = engine._kv_cache
    kv_cache.clear()
    kv_cache.evaluate(tokens[-BATCH_TOKENS:])
    assert kv_cache.splice(tokens[:PIECE], bytes(state), 50), kv.name
    rows = []
    for start in range(PIECE, PIECE + TOLD, BATCH_TOKENS):
        kv_cache.evaluate(tokens[start : start + BATCH_TOKENS], BATCH_TOKENS)
        rows.extend(
            log_softmax(engine._context, engine._vocabulary.vocab, n) for n in range(BATCH_TOKENS)
        )
    writing = []
    for behind in BEHIND:
        figures = Generation()
        list(engine.generate(tokens[:behind], figures, most_tokens=WRITTEN))
        writing.append(f"{figures.tokens_per_s:.1f} behind {behind:,}")
    text = (
        f"{len(state) / PIECE / 1000:.1f} kB a token, read {speed:.1f} tokens/s, "
        f"written {', '.join(writing)}"
    )
    return text, np.array(rows[: TOLD - 1])


if __name__ == "__main__":
    main()
