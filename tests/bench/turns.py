"""Tokens a second while a book is being indexed, against the same question alone.

Both parts run as they do under the window: indexing in a librarian's process, the answer in an
answerer's, on one library.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

QUESTION = "Explain in detail, with all steps, what this book teaches about its main subject."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=Path, required=True, help="a large PDF to be indexed")
    parser.add_argument("--model", type=Path, required=True, help="a .gguf file")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder) / "models"
        models.mkdir()
        (models / args.model.name).symlink_to(args.model.resolve())
        os.environ["LUTRIN_MODELS"] = str(models)
        measure(Path(folder), args.book, args.runs)


def measure(folder: Path, book: Path, runs: int) -> None:
    from desktop import environment, paths
    from desktop.paths import resource
    from desktop.worker.process import WorkerProcess

    environment.prepare()
    places = paths.choose(folder / "library").create()
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    news: queue.SimpleQueue[Any] = queue.SimpleQueue()
    answerer = WorkerProcess("answerer", places, inbox.put)
    librarian = WorkerProcess("librarian", places, news.put)

    def wait(box: queue.SimpleQueue[Any], job: int, *events: str) -> Any:
        while True:
            delivery = box.get(timeout=600)
            if delivery.job == job and delivery.event in (*events, "failed", "died"):
                assert delivery.event in events, delivery
                return delivery

    handbook = librarian.request("add", {"path": str(resource("handbook/handbook.pdf"))})
    wait(news, handbook, "done")
    found = wait(news, librarian.request("retrieve", {"question": QUESTION}), "done").data

    def ask() -> float:
        job = answerer.request(
            "generate",
            {
                "request": {
                    "question": QUESTION,
                    "mode": "retrieval",
                    "found": found,
                    "fresh": True,
                    "attempt": 1,
                }
            },
        )
        return float(wait(inbox, job, "done").data["timings"]["tokens_per_s"])

    ask()  # the model is loaded and warm
    alone = [ask() for _ in range(runs)]
    copy = folder / "large.pdf"
    shutil.copy(book, copy)
    indexing = librarian.request("add", {"path": str(copy)})
    while True:
        delivery = wait(news, indexing, "progress")
        if delivery.data["stage"] == "embedding" and delivery.data["done"] > 32:
            break
    time.sleep(0.5)
    together = [ask() for _ in range(runs)]
    still = librarian.pid is not None
    librarian.cancel(indexing)
    ratio = (sum(together) / runs) / (sum(alone) / runs)
    print(f"alone            {sum(alone) / runs:6.1f} tokens/s  {[round(x, 1) for x in alone]}")
    print(f"while indexing   {sum(together) / runs:6.1f} tokens/s  "
          f"{[round(x, 1) for x in together]}  (still indexing: {still})")  # fmt: skip
    print(f"ratio            {ratio:6.2f}  (at least 0.70)")
    answerer.close()
    librarian.close()


if __name__ == "__main__":
    main()
