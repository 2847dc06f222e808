"""Entry point: the arguments decide between the window and the command line."""

from __future__ import annotations

import gc
import sys

from desktop import environment


def main() -> int:
    """Run Lutrin and return its exit status."""
    if getattr(sys, "frozen", False):  # a frozen bundle starts its workers through this file
        import multiprocessing

        multiprocessing.freeze_support()
    # What is made while starting lives as long as the program: nothing to collect yet. The
    # window turns it on again once it stands, a verb at once.
    gc.disable()
    environment.prepare()
    if len(sys.argv) > 1:
        from desktop import cli

        return cli.main(sys.argv[1:])
    from desktop import app

    return app.main()


if __name__ == "__main__":
    sys.exit(main())
