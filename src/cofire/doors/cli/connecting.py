"""`cofire connect` and `edges`: the graph between facts, made by hand and listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cofire import xray
from cofire.doors.cli.calling import Call
from cofire.doors.cli.graph_layout import show_edges, texts_of
from cofire.doors.cli.screen import note, show, show_json
from cofire.errors import InvalidInput
from cofire.kinds import KINDS


def _kinds(incomplete: str) -> list[str]:
    return [name for name in KINDS if name.startswith(incomplete)]


Source = Annotated[str, typer.Argument(metavar="ID", help="The fact it begins at.")]
Target = Annotated[str, typer.Argument(metavar="ID", help="The fact it leads to, of the same scope.")]
KindOption = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="NAME",
        help="What kind of edge it is: supports, elaborates, contradicts, causes, … or a name of your own.",
        autocompletion=_kinds,
    ),
]


@dataclass(frozen=True)
class Said:
    """What may be said of an edge besides its kind."""

    weight: Annotated[float | None, typer.Option("--weight", metavar="N", help="How strong it is, from 0 to 1.")] = None
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="N", help="How sure it is, from 0 to 1.")
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="NAME", help="A tag, besides those that both facts have. Repeatable."),
    ] = None
    mode: Annotated[
        str,
        typer.Option(
            "--mode", metavar="NAME", help="What to do if it is there already: reinforce, update, skip or error."
        ),
    ] = "reinforce"

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.connect."""
        return {"weight": self.weight, "confidence": self.confidence, "tags": self.tag, "mode": self.mode}


def connect(*, source: Source, target: Target, kind: KindOption, said: Said, call: Call) -> None:
    """Make an edge from one fact to another.

    cofire connect 01M7GTR8NZ28NDTYH9XYE8CX47 01M7GTR8NZ28NDTYH9XYE8CX48 --kind supports --weight 0.8
    """
    if not kind.strip():
        raise InvalidInput("--kind is empty.", way_out="Say what kind of edge it is, as in --kind supports")
    with call.shelf() as memory:
        edge = memory.connect(source, target, kind=kind, **said.keywords)
        texts = texts_of(memory, [edge.source, edge.target])
    if call.as_json:
        return show_json(xray.edge_json(edge))
    show_edges([edge], texts)


@dataclass(frozen=True)
class Which:
    """Which edges are listed."""

    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="NAME", help="Edges of this kind. Repeatable.", autocompletion=_kinds),
    ] = None
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="NAME", help="Edges of this scope. Repeatable.")
    ] = None
    ids: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Edges that touch this fact. Repeatable.")
    ] = None
    origin: Annotated[
        str | None, typer.Option("--origin", metavar="NAME", help="Edges made by this: user, similarity, dream, …")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.edges."""
        said = {"kind": self.kind, "scope": self.scope, "ids": self.ids, "origin": self.origin}
        return {name: value for name, value in said.items() if value not in (None, [])}


LimitOption = Annotated[int, typer.Option("--limit", metavar="N", help="At most so many edges.", show_default=True)]


def list_edges(*, which: Which, limit: LimitOption = 20, call: Call) -> None:
    """List the edges between facts, the strongest first, of every scope unless told.

    Links through names are not stored as edges; see them with cofire show ID.
    """
    with call.shelf() as memory:
        memory.facts(which.ids or [])
        found = memory.edges(limit=limit, **which.keywords)
        if call.as_json:
            return show_json({"edges": [xray.edge_json(edge) for edge in found]})
        texts = texts_of(memory, (end for edge in found for end in (edge.source, edge.target)))
    if not found:
        return show("No edge passes these filters." if which.keywords else _emptiness(call))
    show_edges(found, texts)
    if len(found) == limit:
        note(f"There may be more: cofire edges --limit {limit * 10}")
    return None


def _emptiness(call: Call) -> str:
    return f"The store {call.place} has no edges yet. Connect what it knows with: cofire dream"
