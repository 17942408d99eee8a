"""`cofire feedback` and `communities`: what helped of a recall, and which facts hang together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.text import Text

from cofire.doors.cli.calling import Call
from cofire.doors.cli.screen import note, show, show_json, styled
from cofire.doors.shapes import community_json
from cofire.xray import counted, shortened

Recalled = Annotated[
    str, typer.Argument(metavar="RECALL", help="The id of a recall, as recall --json and --xray print it.")
]
Helped = Annotated[
    list[str] | None, typer.Option("--helped", metavar="ID", help="A fact that helped. May be given several times.")
]
Hurt = Annotated[
    list[str] | None, typer.Option("--hurt", metavar="ID", help="A fact that misled. May be given several times.")
]


def feedback(*, recall: Recalled, helped: Helped = None, hurt: Hurt = None, call: Call) -> None:
    """Tell which facts of a recall helped and which hurt; what led to them becomes stronger or weaker.

    cofire feedback 01M7GRXZ72ER9HC7SM0EVVJFVW --helped 01M7GRXZ72ER9HC7SM0EVVJFVX
    """
    with call.shelf() as memory:
        learned = memory.feedback(recall, helped=helped, hurt=hurt)
    if call.as_json:
        return show_json(
            {
                "helped": list(learned.helped),
                "hurt": list(learned.hurt),
                "made": learned.made,
                "changed": learned.changed,
            }
        )
    return show(f"Learned: {counted(learned.made, 'edge')} made, {learned.changed:,} changed.")


Scopes = Annotated[list[str] | None, typer.Option("--scope", metavar="NAME", help="Only of this scope. Repeatable.")]
LimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="At most so many communities.", show_default=True)
]


def communities(*, scope: Scopes = None, limit: LimitOption = 20, call: Call) -> None:
    """List the communities that the last dream found, the largest first, with their most central facts.

    Ask one alone with recall --community NUMBER.

    cofire communities
    """
    with call.shelf() as memory:
        found = memory.communities(scope=scope or None, limit=limit)
        scopes = memory.stats().size.scopes
    if call.as_json:
        return show_json({"communities": [community_json(one) for one in found]})
    for one in found:
        show(styled(f"{one.name or 'no name'}", "bold"), lead=Text(f"{one.number:>5}  ", "cyan"), indent=7)
        show(styled(f"{counted(one.size, 'fact')} of {one.scope}", "dim"), indent=7)
        for fact in one.facts:
            show(styled(shortened(fact.text)), indent=7)
    if not found:
        return show(_emptiness(scope or [], scopes))
    if len(found) == limit:
        note(f"There may be more: cofire communities --limit {limit * 10}")
    return None


def _emptiness(asked: Sequence[str], scopes: Mapping[str, int]) -> str:
    named = " or ".join(asked)
    if asked and not set(asked) & scopes.keys():
        return f"No fact has the scope {named}. See the communities of every scope with: cofire communities"
    return f"There are no communities {f'of {named} ' if asked else ''}yet. Find them with: cofire dream"
