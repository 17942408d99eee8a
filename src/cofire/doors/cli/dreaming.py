"""`cofire dream`: what waits in the inbox is connected."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Protocol

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.screen import bar, show, show_json
from cofire.xray import counted

ScopeOption = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="NAME", help="Only what waits in this scope. Repeatable."),
]


class Dreamed(Protocol):
    """What a dream did."""

    @property
    def facts(self) -> int: ...
    @property
    def new(self) -> int: ...
    @property
    def changed(self) -> int: ...
    @property
    def ended(self) -> int: ...
    @property
    def communities(self) -> int: ...


def dream(*, scope: ScopeOption = None, call: Call) -> None:
    """Connect what was remembered since the last dream.

    Facts that wait are scored against those like them and linked; then the graph is ranked and grouped into communities. It
    can be stopped and run again. Nothing is embedded, and no language model is asked.
    """
    with call.shelf() as memory, bar("dreaming") as advance:
        done = memory.dream(scope=scope, progress=advance)
    if call.as_json:
        return show_json(asdict(done))
    show(in_words(done))
    if done.waiting:
        show(f"Still waiting: {counted(done.waiting, 'fact')}. Connect all with: cofire dream")


def in_words(done: Dreamed) -> str:
    """A dream in a sentence."""
    if not done.facts:
        return "No fact was waiting to be connected."
    edges = f"{counted(done.new, 'edge')} new, {done.changed:,} changed, {done.ended:,} ended"
    groups = counted(done.communities, "community", "communities")
    return f"Connected {counted(done.facts, 'fact')}: {edges}; {groups}."
