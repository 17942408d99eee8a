"""`cofire explore`: paths from facts outward along their links, drawn as trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Conditions
from cofire.doors.cli.graph_layout import texts_of
from cofire.doors.cli.layout import clipped
from cofire.doors.cli.screen import out, show, show_json, styled, warn
from cofire.errors import NotFound
from cofire.ids import is_id
from cofire.metadata_filter import parse_expressions
from cofire.spreads import Exploration, Hop, SeedExploration

SHORT = 60
WIDE = 10_000
ENDS = {
    "max_depth": "as deep as allowed",
    "below_threshold": "too little energy to go on",
    "dead_end": "nothing new from here",
    "claimed": "others came first",
    "seed_alone": "nothing is linked to it",
}

Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="Facts to start from, by id; or a question.", show_default=False),
]


@dataclass(frozen=True)
class Manner:
    """Where to start, and how to go."""

    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="Start from what this question finds.")
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="NAME", help="Prefer links with this tag. Repeatable."),
    ] = None
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="NAME", help="Stay in this scope. Repeatable.")
    ] = None
    where: Conditions = None
    max_depth: Annotated[int | None, typer.Option("--max-depth", metavar="N", help="Follow at most so many links.")] = (
        None
    )
    branches: Annotated[
        int | None, typer.Option("--branches", metavar="N", help="At most so many neighbours of each fact.")
    ] = None
    min_activation: Annotated[
        float | None, typer.Option("--min-activation", metavar="N", help="Energy that must be exceeded to go on.")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.explore."""
        said = {"query": self.query, "tags": self.tag, "scope": self.scope or None, "max_depth": self.max_depth}
        where = parse_expressions(self.where or ()) or None
        return {**said, "where": where, "branches": self.branches, "min_activation": self.min_activation}


def explore(*, ids: Ids = None, manner: Manner, call: Call) -> None:
    """Follow energy from facts outward along their links, and draw the paths.

    Each fact passes its energy on to a few neighbours, the more the stronger the link; paths end where little is left.

    cofire explore "What depends on PostgreSQL?" --tag db
    """
    if ids and manner.query is None and not any(is_id(id) for id in ids):
        # No argument has the form of an id: the words are a question.
        manner = replace(manner, query=" ".join(ids))
        ids = None
    with call.memory() if manner.query is not None else call.shelf() as memory:
        found = memory.explore(ids or None, **manner.keywords)
        _refuse_unknown(found)
        texts = texts_of(memory, found.ids)
    if call.as_json:
        return show_json(exploration_json(found, texts))
    _show(found, texts)
    return None


def _refuse_unknown(found: Exploration) -> None:
    """One unknown fact among others is told beside them; where there is no other, there is no answer."""
    if found.seeds and all(seed.status == "seed_not_found" for seed in found.seeds):
        ids = [seed.seed for seed in found.seeds]
        named = f"No fact has one of the ids {', '.join(ids)}." if len(ids) > 1 else found.seeds[0].reason
        raise NotFound(named, way_out="List the ids with: cofire list")


def exploration_json(found: Exploration, texts: Mapping[str, str]) -> dict[str, Any]:
    """All of it as plain values, with the texts of the facts."""
    told = found.to_dict()
    return {**told, "facts": [{**fact, "text": texts[fact["id"]]} for fact in told["facts"]]}


def _show(found: Exploration, texts: Mapping[str, str]) -> None:
    if not found.seeds:
        show(found.reason)
    console = out()
    if not console.is_terminal:
        console.width = WIDE
    for seed in found.seeds:
        if seed.status == "complete":
            console.print(tree(seed, texts))
        else:
            warn(f"{seed.seed} was not explored ({seed.status}). {seed.reason}")


def tree(seed: SeedExploration, texts: Mapping[str, str]) -> Tree:
    """The paths of a seed from one root; each fact stands in it once."""
    drawn = {seed.seed: Tree(_label(seed.energy, texts[seed.seed], seed.seed))}
    for path in seed.paths:
        for hop in seed.hops_of(path):
            if hop.target not in drawn:
                label = _label(hop.energy, texts[hop.target], hop.target, hop)
                drawn[hop.target] = drawn[hop.source].add(label)
        drawn[path.ids[-1]].add(styled(f"{path.end}: {ENDS[path.end]}", "dim"))
    return drawn[seed.seed]


def _label(energy: float, text: str, id: str, hop: Hop | None = None) -> Text:
    led = f"{hop.kind} via {hop.via}  " if hop and hop.via else f"{hop.kind}  " if hop else ""
    return Text.assemble(
        (f"{energy:.3f}  ", "bold cyan"),
        styled(led, "green"),
        styled(clipped(text, SHORT)),
        styled(f"  {id}", "dim"),
    )
