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
from cofire.hooks import transcripts
from cofire.hooks.events import EVENT_NAMES, parse_event, resolve_event_name
from cofire.hooks.handlers import (
    HookOutcome,
    HookSettings,
    handle_event,
    make_hook_response,
    make_timeout_outcome,
    run_with_deadline,
)
from cofire.model import DEFAULT_SCOPE

EventArgument = Annotated[str, typer.Argument(metavar="EVENT", help=f"The event: {', '.join(EVENT_NAMES)}.")]


@dataclass(frozen=True)
class HookCommandOptions:
    """Limits of a hook."""

    scope: Annotated[str, typer.Option("--scope", metavar="NAME", help="The scope to use.")] = DEFAULT_SCOPE
    k: Annotated[int, typer.Option("--k", metavar="N", help="Maximum number of facts.")] = 8
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="Maximum number of tokens.")] = 800
    deadline: Annotated[
        float, typer.Option("--deadline", metavar="SECONDS", help="Time limit; the agent waits this long at most.")
    ] = 8.0


def hook(*, event: EventArgument, limits: HookCommandOptions, call: GlobalOptions) -> None:
    """Recall facts for a coding agent, or store its conversation.

    The agent passes JSON on standard input and reads JSON from standard output, in the format of Claude Code's hooks.
    session-start and prompt-submit return relevant facts as context, delimited as data. stop and pre-compact store the new
    turns of the conversation. The exit code is always 0, also after an error, which the output describes.

    echo '{"prompt": "How do we deploy?"}' | cofire hook prompt-submit
    """
    outcome = run_with_deadline(limits.deadline, lambda: _handle_hook(event, _read_hook_input(), limits, call))
    response = make_hook_response(_find_event_name(event), outcome or make_timeout_outcome(limits.deadline))
    sys.stdout.write(json.dumps(response) + "\n")
    sys.stdout.flush()
    if outcome is None:
        # The unfinished thread would delay the agent. An incomplete transaction leaves no trace.
        os._exit(0)


def _handle_hook(event: str, raw_input: str, limits: HookCommandOptions, call: GlobalOptions) -> HookOutcome:
    hook_event = parse_event(event, raw_input)
    for option, value in (("--k", limits.k), ("--budget", limits.budget)):
        if value < 1:
            raise InvalidInput(f"{option} cannot be {value}.", way_out="Give a whole number of at least 1.")
    store = call.location if call.file is None else str(call.file.absolute())
    offsets = transcripts.find_offsets_folder(store, limits.scope)
    if not call.store_exists:
        transcripts.clear_offsets(offsets)
    settings = HookSettings(limits.scope, limits.k, limits.budget, offsets)
    with call.open_memory(may_create=True) as memory:
        return handle_event(memory, hook_event, settings)


def _read_hook_input() -> str:
    """The JSON from the agent; UTF-8, whatever the encoding of the terminal."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin else ""


def _find_event_name(event: str) -> str:
    """The name of the event; empty if there is none, which the outcome then reports."""
    try:
        return resolve_event_name(event)
    except InvalidInput:
        return ""
