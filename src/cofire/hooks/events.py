"""Hook events of coding agents, parsed from their JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cofire.errors import InvalidInput
from cofire.stores.store_location import expand_path

# Event names on the command line, with the names in Claude Code.
EVENT_NAMES: Mapping[str, str] = {
    "session-start": "SessionStart",
    "prompt-submit": "UserPromptSubmit",
    "stop": "Stop",
    "pre-compact": "PreCompact",
}
INPUT_WAY_OUT = "Agents call hooks and pass a JSON object; see: cofire hook --help"


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One call of a hook: event, session, working folder, prompt and transcript file."""

    event: str
    session: str | None
    folder: Path | None
    prompt: str
    transcript: Path | None

    @property
    def name(self) -> str:
        """The name of the event in Claude Code."""
        return EVENT_NAMES[self.event]


def parse_event(event: str, raw_input: str) -> HookEvent:
    """Parse the input of a hook. Missing fields are None or empty."""
    values = _parse_object(raw_input)
    return HookEvent(
        event=resolve_event_name(event),
        session=_read_text_field(values, "session_id"),
        folder=_read_path_field(values, "cwd"),
        prompt=_read_text_field(values, "prompt") or "",
        transcript=_read_path_field(values, "transcript_path"),
    )


def resolve_event_name(event: str) -> str:
    """The command-line name of an event, from either of its names.

    >>> resolve_event_name("UserPromptSubmit")
    'prompt-submit'
    """
    for name, agent_name in EVENT_NAMES.items():
        if event.casefold() in {name.casefold(), agent_name.casefold()}:
            return name
    raise InvalidInput(f"There is no hook {event!r}.", way_out=f"Choose one of {', '.join(EVENT_NAMES)}.")


def _parse_object(raw_input: str) -> Mapping[str, Any]:
    try:
        values = json.loads(raw_input) if raw_input.strip() else {}
    except json.JSONDecodeError as error:
        raise InvalidInput(f"The input of the hook is not JSON: {error.msg}.", way_out=INPUT_WAY_OUT) from error
    if not isinstance(values, Mapping):
        raise InvalidInput("The input of the hook is not a JSON object.", way_out=INPUT_WAY_OUT)
    return values


def _read_text_field(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value.strip() else None


def _read_path_field(values: Mapping[str, Any], name: str) -> Path | None:
    value = _read_text_field(values, name)
    return expand_path(value) if value else None
