"""The flags that every verb has.

Owns their names and meaning. Must not know any verb.
"""

from __future__ import annotations

import argparse


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
