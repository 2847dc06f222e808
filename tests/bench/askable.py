"""Seconds until a book can be asked, against reading its plain text alone."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ADD = """
import sys
from pathlib import Path
from desktop import environment, paths
environment.prepare()
from desktop.core.library.indexing import Indexer
from desktop.core.library.library import Library
from desktop.core.errors import CancelledError
from desktop.core.records import BookStatus
import time
start = time.monotonic()
library = Library(paths.choose(sys.argv[2]))
askable = []
def changed(book):
    if book.status is BookStatus.ASKABLE:
        askable.append(time.monotonic() - start)
try:
    Indexer(library, book_changed=changed, cancelled=lambda: bool(askable)).add(Path(sys.argv[1]))
except CancelledError:
    pass
print(askable[0])
"""
READ = """
import sys, time
import pymupdf
start = time.monotonic()
with pymupdf.open(sys.argv[1]) as file:
    for page in file:
        page.get_text()
print(time.monotonic() - start)
"""


def seconds(code: str, *words: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    pairs = []
    for _ in range(args.runs):
        with tempfile.TemporaryDirectory() as folder:
            pairs.append((seconds(ADD, str(args.book), folder), seconds(READ, str(args.book))))
        time.sleep(0.5)
    added, read = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"askable_s {added:.2f} s (median of {args.runs}, worst {max(p[0] for p in pairs):.2f})")
    print(f"plain text {read:.2f} s; ratio {added / read:.2f}")


if __name__ == "__main__":
    main()
