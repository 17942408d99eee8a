"""`cofire backup`, `restore` and `reembed`: looking after a store."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.screen import bar, show, show_json
from cofire.xray import counted

# Loaded when it is used, because it brings SQLite with it.
RESTORING = "cofire.restoring"

NewFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")]
BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="A file that cofire backup made.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a store that is there already.")]


def backup(*, file: NewFile, call: Call) -> None:
    """Copy the store to a new file, while others use it."""
    with call.shelf() as memory:
        memory.backup(file)
        facts = memory.stats().size.facts
    if call.as_json:
        return show_json({"backup": str(file), "store": call.place, "facts": facts, "bytes": file.stat().st_size})
    show(f"Copied {counted(facts, 'fact')} to {file}. Bring them back with: cofire restore {file}")


def restore(*, file: BackupFile, force: Force = False, call: Call) -> None:
    """Make a store from a backup.

    A store that is there already is replaced only with --force.
    """
    replaced: str | None = import_module(RESTORING).restore(str(file), str(call.file or call.place), force=force)
    with call.shelf() as memory:
        facts = memory.stats().size.facts
    if call.as_json:
        return show_json({"store": call.place, "backup": str(file), "facts": facts, "replaced": replaced})
    show(f"Restored {counted(facts, 'fact')} from {file} to {call.place}.")
    if replaced:
        show(f"What was there before is kept in {replaced}")


def reembed(*, call: Call) -> None:
    """Give every fact a vector of the embedder in the settings, when that has changed.

    It can be stopped and taken up again; until it is done, the old vectors serve.
    """
    with call.memory(reembedding=True) as memory, bar("embedding") as advance:
        done = memory.reembed(progress=advance)
        model = memory.stats().model
    if call.as_json:
        return show_json({"embedded": done, "model": model})
    show(f"Embedded {counted(done, 'fact')} with {model}.")
