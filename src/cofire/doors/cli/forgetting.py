"""`cofire forget`: facts leave memory, by id or by filter, after a look at what goes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.layout import counted, show_listed
from cofire.doors.cli.listing import facts_json
from cofire.doors.cli.screen import err, show, show_json
from cofire.errors import InvalidInput
from cofire.model import Fact

SHOWN = 10

Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids as remember, recall and list print them.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def forget(*, ids: Ids = None, dry_run: DryRun = False, yes: Yes = False, filters: Filters, call: Call) -> None:
    """Forget facts for good, by id or by filter.

    On a terminal you see them and are asked first. Where nobody can be asked, ids are forgotten at once, and filters
    need --yes.

    cofire forget --session deploy-42 --dry-run
    """
    if ids and filters.keywords:
        raise InvalidInput("Both ids and filters were given.", way_out="Give the ids alone, or filters alone.")
    with call.shelf() as memory:
        doomed = list(memory.forget(ids or None, dry_run=True, **filters.keywords).facts)
        gone = not dry_run and bool(doomed) and _agreed(doomed, by_filter=not ids, yes=yes)
        if gone:
            memory.forget([fact.id for fact in doomed])
    _tell(call, doomed, gone=gone, dry_run=dry_run)


def _agreed(doomed: list[Fact], *, by_filter: bool, yes: bool) -> bool:
    if yes:
        return True
    if sys.stdin is not None and sys.stdin.isatty():
        _preview(doomed)
        return typer.confirm(f"Forget {_these(doomed)} for good?", err=True)
    if by_filter:
        raise InvalidInput(
            f"{counted(len(doomed), 'fact')} would be forgotten, and nobody can be asked.",
            way_out="Look at them with --dry-run, then say --yes.",
        )
    return True


def _tell(call: Call, doomed: list[Fact], *, gone: bool, dry_run: bool) -> None:
    if call.as_json:
        return show_json({"forgotten": gone, "dry_run": dry_run, "facts": facts_json(doomed)})
    if not dry_run:
        return show(f"Forgot {counted(len(doomed), 'fact')}." if gone else "Nothing was forgotten.")
    for fact in doomed:
        show_listed(fact)
    return show(f"{counted(len(doomed), 'fact')} would be forgotten.")


def _preview(doomed: list[Fact]) -> None:
    """What the question is about, beside it and not in the answer."""
    console = err()
    for fact in doomed[:SHOWN]:
        show_listed(fact, console=console)
    if len(doomed) > SHOWN:
        show(f"… and {len(doomed) - SHOWN:,} more", console=console)


def _these(doomed: list[Fact]) -> str:
    return "this fact" if len(doomed) == 1 else f"these {len(doomed):,} facts"
