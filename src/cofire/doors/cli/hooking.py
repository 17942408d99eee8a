"""`cofire hook`: called by coding agents at moments of a session. Ends with 0 whatever happens, and says what did."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.hooks import answering, transcripts
from cofire.doors.hooks.acting import Done, Manner, act
from cofire.doors.hooks.events import EVENTS, known_event, moment
from cofire.errors import InvalidInput
from cofire.model import DEFAULT_SCOPE

Event = Annotated[str, typer.Argument(metavar="EVENT", help=f"The moment: {', '.join(EVENTS)}.")]


@dataclass(frozen=True)
class Bounds:
    """What a hook may take."""

    scope: Annotated[str, typer.Option("--scope", metavar="NAME", help="Whose memory it is.")] = DEFAULT_SCOPE
    k: Annotated[int, typer.Option("--k", metavar="N", help="How many facts at most.")] = 8
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="In how many tokens at most.")] = 800
    deadline: Annotated[
        float, typer.Option("--deadline", metavar="SECONDS", help="How long the agent may be held up.")
    ] = 8.0


def hook(*, event: Event, bounds: Bounds, call: Call) -> None:
    """Recall for a coding agent, or remember what it said.

    The agent calls this with JSON on standard input and reads JSON from standard output, in the form of Claude Code's hooks:
    session-start and prompt-submit put what memory knows before the agent, fenced as data; stop and pre-compact remember the turns
    since the last time. It never stands in the way: it ends with 0 even when memory fails, within the deadline, and says what
    happened.

    echo '{"prompt": "How do we deploy?"}' | cofire hook prompt-submit
    """
    done = answering.within(bounds.deadline, lambda: _acted(event, _told(), bounds, call))
    sys.stdout.write(json.dumps(answering.answer(_event(event), done or answering.late(bounds.deadline))) + "\n")
    sys.stdout.flush()
    if done is None:
        # What is still at work would keep the agent waiting. An unfinished write leaves nothing behind.
        os._exit(0)


def _acted(event: str, told: str, bounds: Bounds, call: Call) -> Done:
    at = moment(event, told)
    for option, given in (("--k", bounds.k), ("--budget", bounds.budget)):
        if given < 1:
            raise InvalidInput(f"{option} cannot be {given}.", way_out="Give a whole number from 1 on.")
    notes = transcripts.notes_folder(call.place if call.file is None else str(call.file.absolute()), bounds.scope)
    if not call.store_exists:
        transcripts.begin_anew(notes)
    manner = Manner(bounds.scope, bounds.k, bounds.budget, notes)
    with call.memory(may_begin=True) as memory:
        return act(memory, at, manner)


def _told() -> str:
    """What the agent tells, which is UTF-8 whatever the terminal speaks."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin else ""


def _event(given: str) -> str:
    """The event, or nothing where there is none of that name, which the answer then says."""
    try:
        return known_event(given)
    except InvalidInput:
        return ""
