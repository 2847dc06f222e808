"""The headless face: every verb works on the same library as the window.

Exit status: 0 done; 1 `error: what is wrong. what to do.` on standard error; 2 wrong usage.
Without a verb the window opens.
"""

from __future__ import annotations

import argparse
import gc
import sqlite3
import sys
from typing import TYPE_CHECKING

from desktop import __version__, log, paths
from desktop.cli.options import common
from desktop.core.errors import CancelledError, UserFacingError, unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""Exit status after Ctrl+C, as shells have it."""


def _top(*, add_help: bool = True) -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="lutrin",
        description="Study a textbook on your own laptop. Without a verb the window opens.",
        add_help=add_help,
    )
    common(top)
    top.set_defaults(run=None)
    return top


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    from desktop.cli import ask, books, collections, doctor, evaluation, models, study

    top = _top()
    top.add_argument("--version", action="version", version=f"lutrin {__version__}")
    verbs = top.add_subparsers(metavar="VERB")
    for module in (doctor, models, books, collections, ask, study, evaluation):
        module.register(verbs)
    return top


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; `run` is None for the window, which pays for no verb's imports."""
    args, rest = _top(add_help=False).parse_known_args(argv)
    return parser().parse_args(argv) if rest else args


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    args = parse(argv)
    chosen = paths.choose(args.data_dir)
    log.start(chosen)
    try:
        if args.run is None:
            from desktop import app

            return app.run(chosen, ["lutrin"])
        gc.enable()
        status: int = args.run(args, chosen)
    except UserFacingError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except (KeyboardInterrupt, CancelledError):
        sys.stderr.write("stopped; what was done is kept\n")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has seen enough
        return 0
    except sqlite3.DatabaseError as error:
        sys.stderr.write(f"error: {unreadable(error)}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"error: {error}. Check the path, and that the disk is not full.\n")
        return 1
    return status
