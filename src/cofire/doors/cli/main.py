"""The way in: `cofire` and `python -m cofire` begin here, with as little as possible, so that Ctrl-C is heard from the start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from cofire.garbage import looked_for_seldom

# Loaded inside the guard: this is where a short command spends most of its time.
RUNNING = "cofire.doors.cli.running"

STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        # Loading makes very much that stays; it saves a short command a twentieth of its time.
        with looked_for_seldom():
            code: int = import_module(RUNNING).run(given)
    except KeyboardInterrupt:
        return STOPPED
    return code
