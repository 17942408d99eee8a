"""Hook events of coding agents, parsed from the JSON that the agent sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput
from cofire.stores.store_location import expand_path

# Events by the names of the command line, with those that Claude Code gives them.
EVENT_NAMES: Mapping[str, str] = {
    "session-start": "SessionStart",
    "prompt-submit": "UserPromptSubmit",
    "stop": "Stop",
    "pre-compact": "PreCompact",
}
INPUT_WAY_OUT = "A hook is called by the agent, which hands it JSON; see: cofire hook --help"


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One call of a hook: which event, of which session, in which folder, with which prompt, and where the session is written down."""

    event: str
    session: str | None
    folder: Path | None
    prompt: str
    transcript: Path | None

    @property
    def name(self) -> str:
        """The event as the agent calls it."""
        return EVENT_NAMES[self.event]


def parse_event(event: str, told: str) -> HookEvent:
    """What the agent told of a moment. What is missing is left open; what is no JSON is refused."""
    said = _parse_object(told)
    return HookEvent(
        event=resolve_event_name(event),
        session=_read_text_field(said, "session_id"),
        folder=_read_path_field(said, "cwd"),
        prompt=_read_text_field(said, "prompt") or "",
        transcript=_read_path_field(said, "transcript_path"),
    )


def resolve_event_name(event: str) -> str:
    """An event by either of its names.

    >>> resolve_event_name("UserPromptSubmit")
    'prompt-submit'
    """
    names = {given.casefold(): name for name, theirs in EVENT_NAMES.items() for given in (name, theirs)}
    if event.casefold() not in names:
        raise InvalidInput(f"There is no hook {event!r}.", way_out=f"Choose one of {', '.join(EVENT_NAMES)}.")
    return names[event.casefold()]


def _parse_object(told: str) -> Mapping[str, Any]:
    try:
        said = json.loads(told) if told.strip() else {}
    except json.JSONDecodeError as error:
        raise InvalidInput(f"What the agent told is no JSON: {error.msg}.", way_out=INPUT_WAY_OUT) from error
    if not isinstance(said, Mapping):
        raise InvalidInput("What the agent told is no JSON object.", way_out=INPUT_WAY_OUT)
    return said


def _read_text_field(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) and value.strip() else None


def _read_path_field(said: Mapping[str, Any], name: str) -> Path | None:
    value = _read_text_field(said, name)
    return expand_path(value) if value else None
