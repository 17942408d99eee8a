"""The way in: `cofire` and `python -m cofire` begin here, with as little as possible, so that Ctrl-C is heard from the start."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

# Loaded inside the guard: this is where a short command spends most of its time.
RUNNING = "cofire.doors.cli.running"

STOPPED = 130

# Loading makes hundreds of thousands of things that stay: to look for garbage among them costs a short command a twentieth of its time.
MADE_BEFORE_A_LOOK = 50_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    gc.set_threshold(MADE_BEFORE_A_LOOK)
    try:
        code: int = import_module(RUNNING).run(given)
    except KeyboardInterrupt:
        return STOPPED
    return code
