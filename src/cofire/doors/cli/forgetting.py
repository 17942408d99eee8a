"""`cofire forget` and `undo`: facts leave memory, by id or by filter, after a look at what goes; and come back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.layout import show_listed, show_pairs
from cofire.doors.cli.screen import err, show, show_json, styled
from cofire.doors.shapes import Forgotten, forgotten_json, restored_json
from cofire.errors import InvalidInput
from cofire.model import Fact
from cofire.revising import Radius
from cofire.xray import counted

SHOWN = 10

Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids as remember, recall and list print them.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
Purge = Annotated[bool, typer.Option("--purge", help="Keep no receipt: it cannot be undone.")]
ReceiptArgument = Annotated[str, typer.Argument(metavar="RECEIPT", help="The id or the path that forget told.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def forget(
    *, ids: Ids = None, dry_run: DryRun = False, purge: Purge = False, yes: Yes = False, filters: Filters, call: Call
) -> None:
    """Forget facts for good, by id or by filter.

    On a terminal you see them and are asked first. Where nobody can be asked, ids are forgotten at once, and filters
    need --yes. What is forgotten leaves the store at once and wholly; a receipt beside it can bring it back for a while.

    cofire forget --session deploy-42 --dry-run
    """
    if ids and filters.keywords:
        raise InvalidInput("Both ids and filters were given.", way_out="Give the ids alone, or filters alone.")
    with call.shelf() as memory:
        told = memory.forget(ids or None, dry_run=True, **filters.keywords)
        if not dry_run and told.facts and _agreed(list(told.facts), by_filter=not ids, yes=yes):
            told = memory.forget(told.ids, purge=purge)
    _tell(call, told, dry_run=dry_run)


def undo(*, receipt: ReceiptArgument, call: Call) -> None:
    """Bring back what was forgotten, by its receipt.

    What has no place any more, such as an edge to a fact that is gone too, is told and left out.
    """
    with call.shelf() as memory:
        back = memory.undo(receipt)
    if call.as_json:
        return show_json(restored_json(back))
    show(f"Brought back {counted(len(back.facts), 'fact')} and {counted(back.edges, 'edge')}.")
    for one in back.skipped:
        show(styled(f"not the {one.what} {one.id}: {one.why}", "dim"), indent=2)
    return None


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


def _tell(call: Call, told: Forgotten, *, dry_run: bool) -> None:
    if call.as_json:
        return show_json(forgotten_json(told, dry_run=dry_run))
    if dry_run:
        for fact in told.facts:
            show_listed(fact)
        show(f"{counted(len(told.facts), 'fact')} would be forgotten.")
        return show_pairs(_in_words(told.radius), indent=2) if told.facts else None
    gone = bool(told.facts) and not told.dry_run
    show(f"Forgot {counted(len(told.facts), 'fact')}." if gone else "Nothing was forgotten.")
    if told.receipt is not None:
        show(f"Until {told.receipt.expires:%Y-%m-%d} it comes back with: cofire undo {told.receipt.id}")
    return None


def _in_words(radius: Radius) -> dict[str, str]:
    """All that goes with the facts."""
    rows = {
        "edges": radius.edges,
        "mentions": radius.mentions,
        "subjects": radius.subjects,
        "vectors": radius.vectors,
        "index entries": radius.words,
        "descriptions": radius.descriptions,
        "described by it": len(radius.cited),
    }
    return {label: f"{number:,}" for label, number in rows.items()}


def _preview(doomed: list[Fact]) -> None:
    """What the question is about, beside it and not in the answer."""
    console = err()
    for fact in doomed[:SHOWN]:
        show_listed(fact, console=console)
    if len(doomed) > SHOWN:
        show(f"… and {len(doomed) - SHOWN:,} more", console=console)


def _these(doomed: list[Fact]) -> str:
    return "this fact" if len(doomed) == 1 else f"these {len(doomed):,} facts"
