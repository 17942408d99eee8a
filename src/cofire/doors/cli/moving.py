"""`cofire export` and `import`: memory as a file that other programs read, and back."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from cofire.doors.cli import incoming
from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.screen import bar, note, show, show_json
from cofire.errors import InvalidInput, StoreNotOpened
from cofire.xray import counted

NewFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The file to make: GraphML if it ends in .graphml, else lines of JSON; - writes these to standard output.",
    ),
]
ExportFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file of JSON lines that cofire export made; - is standard input.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


def export(*, file: NewFile, force: Force = False, filters: Filters, call: Call) -> None:
    """Write facts and the edges between them to a file, of every scope unless told.

    Lines of JSON come back with cofire import; GraphML is for Gephi, networkx and the like.

    cofire export team.jsonl --scope team
    """
    if incoming.is_stream(file):
        return _export_to_output(filters, call)
    refuse_to_overwrite(file, call, force=force)
    done = _exported(file, filters, call)
    if call.as_json:
        return show_json({**asdict(done), "store": call.place})
    return show(f"Wrote {_said(done)} to {done.path}.")


def _export_to_output(filters: Filters, call: Call) -> None:
    """The lines alone, once all of them are there: what fails midway is no half export to whoever reads."""
    with TemporaryDirectory() as folder:
        whole = Path(folder, "export.jsonl")
        done = _exported(whole, filters, call)
        sys.stdout.flush()
        with whole.open("rb") as lines:
            shutil.copyfileobj(lines, sys.stdout.buffer)
    note(f"Wrote {_said(done)}.")


def _exported(file: Path, filters: Filters, call: Call) -> Any:
    with call.shelf() as memory, bar("exporting") as advance:
        return memory.export(file, progress=advance, **filters.keywords)


def load(*, file: ExportFile, call: Call) -> None:
    """Read facts and edges that cofire export wrote.

    What is known already is recognised, not stored twice, and left as it is by now.
    """
    with _readable(file) as path, call.memory(may_begin=True) as memory, bar("importing") as advance:
        done = memory.load(path, progress=advance)
    if call.as_json:
        said = {"path": str(file), "facts": done.facts, "edges": done.edges, "new": done.new}
        return show_json({**said, "store": call.place})
    new = f"{counted(done.new, 'fact')} {'is' if done.new == 1 else 'are'} new"
    return show(f"Read {_said(done)} from {incoming.origin(file)}; {new}.")


@contextmanager
def _readable(file: Path) -> Iterator[Path]:
    """The file itself, which must be there, or one that holds what standard input says; errors do not tell its name."""
    if not incoming.is_stream(file):
        incoming.refuse_unreadable(file)
        yield file
        return
    with TemporaryDirectory() as folder:
        kept = Path(folder, "import.jsonl")
        kept.write_bytes(incoming.all_input("Give the lines of an export; end with Ctrl-D on a line of its own."))
        try:
            yield kept
        except InvalidInput as error:
            named = error.problem.replace(f"The file {kept}", "The input").replace(str(kept), incoming.origin(file))
            raise type(error)(named[0].upper() + named[1:], way_out=error.way_out) from error


def _said(moved: Any) -> str:
    return f"{counted(moved.facts, 'fact')} and {counted(moved.edges, 'edge')}"


def refuse_to_overwrite(file: Path, call: Call, *, force: bool) -> None:
    """The store itself is never overwritten, anything else only if that was said."""
    if not file.exists():
        return
    if call.file is not None and call.file.exists() and file.samefile(call.file):
        raise StoreNotOpened(f"{file} is the store itself.", way_out="Give the name of another file.")
    if not force:
        raise StoreNotOpened(f"{file} exists already.", way_out="Give the name of a new file, or say --force.")
