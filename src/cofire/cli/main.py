"""Entry point of `cofire` and `python -m cofire`; imports little, so Ctrl-C works from the start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from cofire.runtime.gc_threshold import relaxed_gc

# Loaded inside the guard: this is where a short command spends most of its time.
APP_MODULE = "cofire.cli.app"

EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        # Loading makes very much that stays; it saves a short command a twentieth of its time.
        with relaxed_gc():
            code: int = import_module(APP_MODULE).run_command(given)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return code
