"""Events: what a coding agent tells a hook about the moment at which it calls. Read from JSON; knows nothing of memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput
from cofire.places import path_of

# Events by the names of the command line, with those that Claude Code gives them.
EVENTS: Mapping[str, str] = {
    "session-start": "SessionStart",
    "prompt-submit": "UserPromptSubmit",
    "stop": "Stop",
    "pre-compact": "PreCompact",
}
WAY_OUT = "A hook is called by the agent, which hands it JSON; see: cofire hook --help"


@dataclass(frozen=True, slots=True)
class Moment:
    """One call of a hook: which event, of which session, in which folder, with which prompt, and where the session is written down."""

    event: str
    session: str | None
    folder: Path | None
    prompt: str
    transcript: Path | None

    @property
    def name(self) -> str:
        """The event as the agent calls it."""
        return EVENTS[self.event]


def moment(event: str, told: str) -> Moment:
    """What the agent told of a moment. What is missing is left open; what is no JSON is refused."""
    said = _object(told)
    return Moment(
        event=known_event(event),
        session=_text(said, "session_id"),
        folder=_path(said, "cwd"),
        prompt=_text(said, "prompt") or "",
        transcript=_path(said, "transcript_path"),
    )


def known_event(event: str) -> str:
    """An event by either of its names.

    >>> known_event("UserPromptSubmit")
    'prompt-submit'
    """
    names = {given.casefold(): name for name, theirs in EVENTS.items() for given in (name, theirs)}
    if event.casefold() not in names:
        raise InvalidInput(f"There is no hook {event!r}.", way_out=f"Choose one of {', '.join(EVENTS)}.")
    return names[event.casefold()]


def _object(told: str) -> Mapping[str, Any]:
    try:
        said = json.loads(told) if told.strip() else {}
    except json.JSONDecodeError as error:
        raise InvalidInput(f"What the agent told is no JSON: {error.msg}.", way_out=WAY_OUT) from error
    if not isinstance(said, Mapping):
        raise InvalidInput("What the agent told is no JSON object.", way_out=WAY_OUT)
    return said


def _text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) and value.strip() else None


def _path(said: Mapping[str, Any], name: str) -> Path | None:
    value = _text(said, name)
    return path_of(value) if value else None
