"""The command `hook`, called by coding agents; always exits with 0."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from cofire.cli.options import GlobalOptions
from cofire.errors import InvalidInput
from cofire.hooks import handlers, transcripts
from cofire.hooks.events import EVENT_NAMES, parse_event, resolve_event_name
from cofire.hooks.handlers import HookOutcome, HookSettings, handle_event
from cofire.model import DEFAULT_SCOPE

EventArgument = Annotated[str, typer.Argument(metavar="EVENT", help=f"The moment: {', '.join(EVENT_NAMES)}.")]


@dataclass(frozen=True)
class HookCommandOptions:
    """What a hook may take."""

    scope: Annotated[str, typer.Option("--scope", metavar="NAME", help="Whose memory it is.")] = DEFAULT_SCOPE
    k: Annotated[int, typer.Option("--k", metavar="N", help="How many facts at most.")] = 8
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="In how many tokens at most.")] = 800
    deadline: Annotated[
        float, typer.Option("--deadline", metavar="SECONDS", help="How long the agent may be held up.")
    ] = 8.0


def hook(*, event: EventArgument, bounds: HookCommandOptions, call: GlobalOptions) -> None:
    """Recall for a coding agent, or remember what it said.

    The agent calls this with JSON on standard input and reads JSON from standard output, in the form of Claude Code's hooks:
    session-start and prompt-submit put what memory knows before the agent, fenced as data; stop and pre-compact remember the turns
    since the last time. It never stands in the way: it ends with 0 even when memory fails, within the deadline, and says what
    happened.

    echo '{"prompt": "How do we deploy?"}' | cofire hook prompt-submit
    """
    done = handlers.run_with_deadline(bounds.deadline, lambda: _handle_hook(event, _read_hook_input(), bounds, call))
    sys.stdout.write(
        json.dumps(
            handlers.make_hook_response(_find_event_name(event), done or handlers.make_timeout_outcome(bounds.deadline))
        )
        + "\n"
    )
    sys.stdout.flush()
    if done is None:
        # What is still at work would keep the agent waiting. An unfinished write leaves nothing behind.
        os._exit(0)


def _handle_hook(event: str, told: str, bounds: HookCommandOptions, call: GlobalOptions) -> HookOutcome:
    at = parse_event(event, told)
    for option, given in (("--k", bounds.k), ("--budget", bounds.budget)):
        if given < 1:
            raise InvalidInput(f"{option} cannot be {given}.", way_out="Give a whole number from 1 on.")
    notes = transcripts.find_offsets_folder(
        call.place if call.file is None else str(call.file.absolute()), bounds.scope
    )
    if not call.store_exists:
        transcripts.clear_offsets(notes)
    manner = HookSettings(bounds.scope, bounds.k, bounds.budget, notes)
    with call.memory(may_begin=True) as memory:
        return handle_event(memory, at, manner)


def _read_hook_input() -> str:
    """What the agent tells, which is UTF-8 whatever the terminal speaks."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin else ""


def _find_event_name(given: str) -> str:
    """The event, or nothing where there is none of that name, which the answer then says."""
    try:
        return resolve_event_name(given)
    except InvalidInput:
        return ""
