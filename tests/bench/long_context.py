"""Seconds to the first word about a chapter, in the next run of the program, against reading it.

    python tests/bench/long_context.py --book BOOK.pdf --chapter 5

Each question is asked by a process of its own, so that what the second one finds is what the
first one left on the disk. The models are those of LUTRIN_MODELS or of the usual place.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = (
    "What is this chapter about?",
    "Which example does the chapter begin with?",
    "What is the most important term of the chapter?",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=Path, required=True)
    parser.add_argument("--chapter", required=True)
    parser.add_argument("--model", default="", help="name of an installed model")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asked = [ask(question, args, folder) for question in QUESTIONS]
    for row in asked:
        print(
            f"{row['prompt_tokens']:,} tokens, {row['reused_tokens']:,} known: first word after "
            f"{row['ttft_s']:.2f} s ({row['process_s']:.1f} s with the start of the program)"
        )
    first, *later = (row["ttft_s"] for row in asked)
    print(f"again in {min(later):.2f} to {max(later):.2f} s: {first / max(later):.0f} times sooner")


def ask(question: str, args: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Return the timings of a question that is asked by a process of its own."""
    command = [sys.executable, "-m", "desktop", "ask", question, "--book", str(args.book),
               "--chapter", args.chapter, "--mode", "long-context", "--json",
               "--data-dir", folder]  # fmt: skip
    command += ["--model", args.model] if args.model else []
    start = time.monotonic()
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    answer = json.loads(done.stdout)
    if answer["left_out"]:
        sys.exit(f"the chapter does not fit: {answer['left_out']}")
    return {**answer["timings"], "process_s": time.monotonic() - start}


if __name__ == "__main__":
    main()
