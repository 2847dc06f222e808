"""A process that adds files to a library with a slow embedder, and says each step it takes.

Run as: python -m tests.core.library.indexing_child DATA DELAY FILE…
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from desktop import environment

environment.prepare()

from desktop import paths  # noqa: E402
from desktop.core.library import embedding, extraction, indexing  # noqa: E402
from desktop.core.library.library import Library  # noqa: E402
from tests.fakes import FakeEmbedder  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from desktop.core.records import Progress

CHUNK_PAGES, CHECKPOINT_PASSAGES, BATCH_WINDOWS = 3, 8, 2


class SlowEmbedder(FakeEmbedder):
    def __init__(self, delay: float) -> None:
        self.delay = delay

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        time.sleep(self.delay)
        return super().token_starts(texts)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        time.sleep(self.delay)
        return super().embed(texts)


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def main(data: str, delay: str, *files: str) -> None:
    extraction.CHUNK_PAGES = CHUNK_PAGES
    embedding.CHECKPOINT_PASSAGES = CHECKPOINT_PASSAGES
    embedding.BATCH_WINDOWS = BATCH_WINDOWS
    library = Library(paths.choose(data), embedder=SlowEmbedder(float(delay)))
    say("ready")

    def progress(_book: str, step: Progress) -> None:
        say(f"{step.stage} {step.done}")

    for file in files:
        added = indexing.Indexer(library, progress=progress).add(Path(file))
        say(added.status)
    library.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
