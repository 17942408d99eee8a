"""`cofire shadow`: what recalls under a second configuration came to, and how to be rid of what they kept."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from cofire.doors.cli.calling import Call, begin_group, spread
from cofire.doors.cli.layout import show_pairs
from cofire.doors.cli.screen import show, show_json, styled
from cofire.shadows import Moved, ShadowReport
from cofire.xray import counted, shortened

app = typer.Typer(name="shadow")
app.callback(invoke_without_command=True, help="See what shadow recalls came to, or remove them.")(begin_group)

Kind = Annotated[
    str | None,
    typer.Option("--kind", metavar="NAME", help="Only recall (shadow.enabled) or assist (shadow.assist)."),
]


@app.command("report")
@spread
def report(*, kind: Kind = None, call: Call) -> None:
    """Tell how alike real and shadow recalls were, and which facts moved most often.

    Shadow recalls are run beside real ones once shadow.enabled or shadow.assist is on.

    cofire shadow report
    """
    with call.shelf() as memory:
        found = memory.shadow_report(kind)
    if call.as_json:
        return show_json(found.to_dict())
    if not found.count:
        return show("There is no shadow recall yet. Switch them on with: cofire config set shadow.enabled true")
    _show(found)


@app.command("clear")
@spread
def clear(*, call: Call) -> None:
    """Remove all comparisons and snapshots, and with them the questions that they hold.

    cofire shadow clear
    """
    with call.shelf() as memory:
        removed = memory.shadow_clear()
    if call.as_json:
        return show_json({"removed": removed})
    show(f"Removed {counted(removed, 'line')}.")


def _show(found: ShadowReport) -> None:
    figures = {
        "shadow recalls": f"{found.count:,}, {found.same:,} of them answered alike",
        "overlap": "none" if found.overlap is None else f"{found.overlap:.3f}",
        "tau": "none" if found.tau is None else f"{found.tau:.3f}",
        "failed": f"{found.failures:,}",
        "kept in": found.place or "this process",
    }
    show_pairs(figures)
    _show_moved("Promoted most often", found.promoted)
    _show_moved("Demoted most often", found.demoted)
    for failed in found.reasons:
        show(styled(f"failed {failed.times:,}×: {failed.reason}"))


def _show_moved(title: str, facts: tuple[Moved, ...]) -> None:
    if facts:
        show()
        show(Text(title, "bold"))
    for fact in facts:
        show(styled(shortened(fact.text)), lead=Text(f"{fact.times:>5,}×  ", "cyan"), indent=8)
        show(styled(fact.id, "dim"), indent=8)
