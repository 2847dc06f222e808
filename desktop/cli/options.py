"""The flags that every verb has, and those of the verbs that answer questions.

Owns their names and meaning. Must not know any verb.
"""

from __future__ import annotations

import argparse

from desktop.core.records import Mode


def common(parser: argparse.ArgumentParser, *, nested: bool = False) -> None:
    """Add `--data-dir` and `--json`; the result has `data_dir: str | None` and `json: bool`.

    Args:
        parser: A verb's.
        nested: Whether a parser above this one has the flags too; then what was said there
            stays, unless it is said here again.
    """
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        default=argparse.SUPPRESS if nested else None,
        help="the library's folder (else LUTRIN_HOME, else the usual place)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS if nested else False,
        help="print one JSON object; progress goes to standard error",
    )


def choosing(parser: argparse.ArgumentParser) -> None:
    """Add `--book` and `--collection`, which say where to look; the result has a list of each."""
    parser.add_argument(
        "--book",
        metavar="B",
        action="append",
        default=[],
        help="id, title or file, which is added first; may be given several times; all without it",
    )
    parser.add_argument(
        "--collection",
        metavar="NAME",
        action="append",
        default=[],
        help="the books of this collection; may be given several times",
    )


def answering(parser: argparse.ArgumentParser) -> None:
    """Add `--mode`, `--model` and `--fresh`, which say how to answer."""
    parser.add_argument(
        "--mode",
        choices=[mode.value for mode in Mode],
        default=Mode.RETRIEVAL,
        help="how to answer: from passages that are found, or from whole pages (retrieval)",
    )
    parser.add_argument("--model", metavar="M", help="name of an installed model")
    parser.add_argument("--fresh", action="store_true", help="use nothing that was read before")
