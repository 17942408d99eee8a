"""`cofire compare`: the same questions under two configurations, and what changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cofire.doors.cli.calibrating import question
from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.incoming import lines
from cofire.doors.cli.screen import bar, show, show_json, styled
from cofire.shadows import Compared, Comparisons
from cofire.xray import counted

QuestionFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help='One question a line, or JSON lines with a "text"; - is standard input.'),
]
Before = Annotated[
    str | None,
    typer.Option("--a", metavar="CONFIGURATION", help="What to begin with. Without it: the settings as they are."),
]
After = Annotated[
    str,
    typer.Option("--b", metavar="CONFIGURATION", help="What to compare with: a preset, or NAME=VALUE,… or JSON."),
]
Count = Annotated[
    int | None, typer.Option("-k", metavar="N", help="At most so many facts. Without it: the setting recall.k.")
]


def compare(*, file: QuestionFile, b: After, a: Before = None, k: Count = None, filters: Filters, call: Call) -> None:
    """Ask the same questions under two configurations, and see what changes.

    Overlap is the share of facts that both bring, tau how alike their order is: 1 the same, -1 the reverse. Promoted facts stand
    higher under b or are new there, demoted ones lower or gone. Nothing is kept.

    cofire compare questions.txt --a balanced --b research-max
    """
    asked = [question(line) for line in lines(file, as_json=False)]
    with call.memory() as memory, bar("comparing") as advance:
        found = memory.compare(asked, a=a, b=b, k=k, progress=advance, **filters.keywords)
    if call.as_json:
        return show_json(found.to_dict())
    _show_table(found)


def _show_table(found: Comparisons) -> None:
    show(Text(f"overlap@{found.k}     tau   up  down  question", "dim"))
    for one in found.questions:
        show(styled(one.question), lead=_figures(one), indent=32)
    same = f"{found.same:,} of {counted(len(found.questions), 'question')} answered alike"
    show(Text.assemble((f"overlap@{found.k} {found.overlap:.3f}, tau {found.tau:.3f}", "bold"), f"; {same}."))


def _figures(one: Compared) -> Text:
    both = one.comparison
    moved = f"{len(both.promoted):>5}{len(both.demoted):>6}"
    return Text(f"{both.overlap:>10.3f}{both.tau:>8.3f}{moved}  ", "cyan")
