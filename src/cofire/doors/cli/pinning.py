"""`cofire pin`, `unpin`, `archive` and `unarchive`: facts that never fade, and facts that are out of recall but not lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import cofire
from cofire.doors.cli.calling import Call
from cofire.doors.cli.listing import facts_json
from cofire.doors.cli.screen import show, show_json
from cofire.model import Fact
from cofire.xray import counted

Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids as remember, recall and list print them.")]


def pin(*, ids: Ids, call: Call) -> None:
    """Pin facts: they never fade and are never archived by themselves."""
    _do(call, lambda memory: memory.pin(ids), "Pinned")


def unpin(*, ids: Ids, call: Call) -> None:
    """Let pinned facts fade again like others."""
    _do(call, lambda memory: memory.unpin(ids), "Unpinned")


def archive(*, ids: Ids, call: Call) -> None:
    """Put facts out of recall without losing them."""
    _do(call, lambda memory: memory.archive(ids), "Archived")


def unarchive(*, ids: Ids, call: Call) -> None:
    """Bring archived facts back into recall."""
    _do(call, lambda memory: memory.restore(ids), "Brought back")


def _do(call: Call, verb: Callable[[cofire.Memory], list[Fact]], done: str) -> None:
    with call.shelf() as memory:
        changed = verb(memory)
    if call.as_json:
        return show_json({"facts": facts_json(changed)})
    return show(f"{done} {counted(len(changed), 'fact')}." if changed else "Nothing was to be changed.")
