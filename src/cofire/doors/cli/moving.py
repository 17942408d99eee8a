"""`cofire export` and `import`: memory as a file that other programs read, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.layout import counted
from cofire.doors.cli.screen import bar, show, show_json
from cofire.errors import StoreNotOpened

NewFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to make: GraphML if it ends in .graphml, else lines of JSON.")
]
ExportFile = Annotated[Path, typer.Argument(metavar="FILE", help="A file of JSON lines that cofire export made.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


def export(*, file: NewFile, force: Force = False, filters: Filters, call: Call) -> None:
    """Write facts and the edges between them to a file, of every scope unless told.

    Lines of JSON come back with cofire import; GraphML is for Gephi, networkx and the like.

    cofire export team.jsonl --scope team
    """
    refuse_to_overwrite(file, call, force=force)
    with call.shelf() as memory, bar("exporting") as advance:
        done = memory.export(file, progress=advance, **filters.keywords)
    if call.as_json:
        return show_json({**asdict(done), "store": call.place})
    show(f"Wrote {counted(done.facts, 'fact')} and {counted(done.edges, 'edge')} to {done.path}.")


def load(*, file: ExportFile, call: Call) -> None:
    """Read facts and edges that cofire export wrote.

    What is known already is recognised and not stored twice.
    """
    with call.memory() as memory, bar("importing") as advance:
        done = memory.load(file, progress=advance)
    if call.as_json:
        return show_json({"path": str(file), **asdict(done), "store": call.place})
    show(f"Read {counted(done.facts, 'fact')} and {counted(done.edges, 'edge')} from {file}.")


def refuse_to_overwrite(file: Path, call: Call, *, force: bool) -> None:
    """The store itself is never overwritten, anything else only if that was said."""
    if not file.exists():
        return
    if call.file is not None and call.file.exists() and file.samefile(call.file):
        raise StoreNotOpened(f"{file} is the store itself.", way_out="Give the name of another file.")
    if not force:
        raise StoreNotOpened(f"{file} exists already.", way_out="Give the name of a new file, or say --force.")
