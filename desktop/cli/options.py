"""The flags that every verb has, and those of the verbs that answer questions.

Owns their names and meaning. Must not know any verb.
"""

from __future__ import annotations

import argparse
import re

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


def part(parser: argparse.ArgumentParser) -> None:
    """Add `--chapter` and `--pages`, which say what of a book; the result has a text and a pair."""
    parser.add_argument("--chapter", metavar="C", help="number or title of a chapter to keep to")
    parser.add_argument(
        "--pages", metavar="A-B", type=_page_range, help="physical pages to keep to"
    )


def _page_range(text: str) -> tuple[int, int]:
    """Return the first and last page of a text such as "12-20"."""
    match = re.fullmatch(r"(\d+)(?:\s*[-–]\s*(\d+))?", text.strip())
    first = int(match.group(1)) if match else 0
    last = int(match.group(2) or first) if match else 0
    if not 1 <= first <= last:
        message = f"{text!r} is not a page or a range of pages such as 12-20"
        raise argparse.ArgumentTypeError(message)
    return first, last


def answering(parser: argparse.ArgumentParser) -> None:
    """Add `--mode`, `--model`, `--through` and `--fresh`, which say how to answer."""
    parser.add_argument(
        "--mode",
        choices=[mode.value for mode in Mode],
        default=Mode.RETRIEVAL,
        help="how to answer: from passages that are found, or from whole pages (retrieval)",
    )
    parser.add_argument("--model", metavar="M", help="name of an installed model")
    parser.add_argument(
        "--through",
        action="store_true",
        help="read all of it, a few pages at a time, taking notes (long-context; takes long)",
    )
    parser.add_argument("--fresh", action="store_true", help="use nothing that was read before")


def mode(args: argparse.Namespace) -> Mode:
    """Return the mode that `answering`'s options say."""
    return Mode.LONG_CONTEXT if args.through else Mode(args.mode)
