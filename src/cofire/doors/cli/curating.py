"""`cofire curate`: what nobody uses fades; a dry run shows what would."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import Annotated, Any

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.screen import bar, show, show_json
from cofire.xray import counted

SHOWN = 10

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would change, with examples.")]


def curate(*, dry_run: DryRun = False, call: Call) -> None:
    """Let unused edges fade, archive what the settings say, rank and group anew, and check.

    Each stage is a transaction of its own: it can be stopped and run again, and twice is as good as once. Archived facts are out
    of recall, never deleted. Pinned facts and edges that you made do not fade.

    cofire curate --dry-run
    """
    with call.shelf() as memory, bar("curating") as advance:
        done = memory.curate(dry_run=dry_run, progress=advance)
    if call.as_json:
        return show_json(asdict(done))
    for line in in_words(done):
        show(line)


def in_words(done: Any) -> list[str]:
    """What curation did, a line a stage."""
    would = "would be " if done.dry_run else ""
    edges = f"{done.faded:,} {would}faded, {done.ended:,} ended, {done.lowered:,} lowered in confidence, {done.pruned:,} pruned"
    lines = [f"Edges: {edges}."]
    lines += [
        f"  {one.source} {one.kind} {one.target}: {one.before:.3f} → {_after(one.after)}" for one in done.examples
    ]
    lines.append(
        f"Facts: {len(done.archived):,} {would}archived, {counted(done.proposed, 'pair')} proposed for review."
    )
    lines += [f"Review: {counted(done.applied, 'clear pair')} {would}applied."] if done.applied else []
    lines += [f"  {id}: {why}" for id, why in islice(done.archived.items(), SHOWN)]
    lines += [f"  … and {len(done.archived) - SHOWN:,} more"] if len(done.archived) > SHOWN else []
    lines += [] if done.dry_run else [f"Graph: {counted(done.communities, 'community', 'communities')}."]
    unlinked = (
        f"{counted(done.orphans, 'fact')} without any link, {counted(done.dangling, 'row')} that refer to nothing"
    )
    return [*lines, f"Checks: {unlinked}.", *([done.drift] if done.drift else [])]


def _after(value: float | None) -> str:
    return "ends" if value is None else f"{value:.3f}"
