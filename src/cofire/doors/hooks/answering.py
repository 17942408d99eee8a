"""Answering: what is written back to the agent. Whatever happens, it is told in words and nothing stands in its way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from cofire.doors.hooks.acting import Done
from cofire.doors.hooks.events import EVENTS
from cofire.errors import CofireError

# These take in what a hook tells; the others only show it to the person.
LISTENING = frozenset({"session-start", "prompt-submit"})


def within(seconds: float, act: Callable[[], Done]) -> Done | None:
    """What an act comes to, or what went wrong in words; None when time ran out first. It is then left behind."""
    came: list[Done] = []
    thread = threading.Thread(target=lambda: came.append(_settled(act)), daemon=True)
    thread.start()
    # What is no number of seconds, or more than a thread can wait for, is as little or as much as there is.
    thread.join(min(max(0.0, seconds), threading.TIMEOUT_MAX))
    return came[0] if came else None


def late(seconds: float) -> Done:
    return Done(f"Memory took longer than {seconds:g} s and was not waited for.")


def answer(event: str, done: Done) -> dict[str, Any]:
    """The answer in the form of Claude Code's hooks."""
    said: dict[str, Any] = {"continue": True, "suppressOutput": True, "systemMessage": f"cofire: {done.said}"}
    if done.context and event in LISTENING:
        said["hookSpecificOutput"] = {"hookEventName": EVENTS[event], "additionalContext": done.context}
    return said


def in_words(error: Exception) -> Done:
    """A failure as the person may read it."""
    if isinstance(error, CofireError):
        return Done(f"{error.problem} {error.way_out}")
    return Done(f"Memory failed: {type(error).__name__}: {' '.join(str(error).split())}")


def _settled(act: Callable[[], Done]) -> Done:
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - an agent goes on without memory, and is told why
        return in_words(error)
