"""`cofire copy`: a memory moves from a file to a server or back, whole, and both are compared."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.screen import bar, show, show_json
from cofire.errors import InvalidInput
from cofire.xray import counted

# Loaded when it is used, because it brings the stores with it.
COPYING = "cofire.copying"

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="The store to copy: a file, or the URL of a server.")]
Target = Annotated[str, typer.Argument(metavar="TARGET", help="Where to: a new file, or the URL of a server.")]
VerifyOnly = Annotated[bool, typer.Option("--verify-only", help="Copy nothing, only compare the two.")]


def copy(*, source: Source, target: Target, verify_only: VerifyOnly = False, call: Call) -> None:
    """Copy a whole memory to another store, and compare the two to the last byte.

    It can be stopped and taken up again. Nobody should write to either store meanwhile.

    cofire copy team.db neo4j://localhost:7687
    """
    if call.store is not None:
        raise InvalidInput("copy takes no --store.", way_out="Say: cofire copy SOURCE TARGET")
    copying = import_module(COPYING)
    with bar("comparing" if verify_only else "copying") as advance:
        done = (copying.compare if verify_only else copying.copy)(source, target, advance=advance)
    if call.as_json:
        places = {"source": copying.place(source), "target": copying.place(target)}
        return show_json({**places, "copied": done.copied, "there": done.there, **_tally_json(done.tally)})
    if not verify_only:
        there = f"; {done.there:,} were there already" if done.there else ""
        show(f"Copied {counted(done.copied, 'fact')} to {copying.place(target)}{there}.")
    _show_tally(done.tally)


def _tally_json(tally: Any) -> dict[str, object]:
    return {
        "rows": dict(tally.rows),
        "scopes": dict(tally.scopes),
        "edges": dict(tally.kinds),
        "checksums": dict(tally.checksums),
        "checksum": tally.checksum,
    }


def _show_tally(tally: Any) -> None:
    held = [counted(tally.rows["facts"], "fact"), counted(tally.rows["vectors"], "vector")]
    held += [counted(sum(tally.kinds.values()), "edge"), counted(tally.rows["mentions"], "mention")]
    show(f"Both hold the same: {', '.join(held)}. Checksum {tally.checksum}")
