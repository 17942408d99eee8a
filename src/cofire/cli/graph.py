"""The commands `connect`, `edges`, `explore`, `feedback`, `communities`, `dream` and `curate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Annotated, Any, Protocol

import typer
from rich.text import Text
from rich.tree import Tree

from cofire import explain
from cofire.activation_paths import ActivationHop, ExploreResult, SeedExploration
from cofire.cli.layout import fetch_texts, show_edges
from cofire.cli.options import GlobalOptions, WhereOption
from cofire.cli.terminal import progress_bar, show_json, show_note, show_text, show_warning, stdout_console, styled_text
from cofire.errors import InvalidInput, NotFound
from cofire.explain import format_count, shorten_text
from cofire.ids import is_id
from cofire.interfaces.json_shapes import community_json, exploration_json
from cofire.stores.edge_kinds import EDGE_KINDS
from cofire.stores.metadata_filter import parse_expressions


def _complete_kinds(incomplete: str) -> list[str]:
    return [name for name in EDGE_KINDS if name.startswith(incomplete)]


SourceArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the source fact.")]
TargetArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the target fact, in the same scope.")]
KindOption = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="NAME",
        help="The kind of edge: supports, elaborates, contradicts, causes, … or a name of your own.",
        autocompletion=_complete_kinds,
    ),
]


@dataclass(frozen=True)
class EdgeFieldOptions:
    """Attributes of an edge besides its kind."""

    weight: Annotated[float | None, typer.Option("--weight", metavar="N", help="The strength, from 0 to 1.")] = None
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="N", help="The confidence, from 0 to 1.")
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="NAME", help="A tag, added to the tags that both facts share. Repeatable."),
    ] = None
    mode: Annotated[
        str,
        typer.Option("--mode", metavar="NAME", help="If the edge exists: reinforce, update, skip or error."),
    ] = "reinforce"

    @property
    def keywords(self) -> dict[str, Any]:
        """The options as keyword arguments of Memory.connect."""
        return {"weight": self.weight, "confidence": self.confidence, "tags": self.tag, "mode": self.mode}


def connect(
    *, source: SourceArgument, target: TargetArgument, kind: KindOption, fields: EdgeFieldOptions, call: GlobalOptions
) -> None:
    """Create an edge from one fact to another.

    cofire connect 01M7GTR8NZ28NDTYH9XYE8CX47 01M7GTR8NZ28NDTYH9XYE8CX48 --kind supports --weight 0.8
    """
    if not kind.strip():
        raise InvalidInput("--kind is empty.", way_out="Give the kind of edge, for example --kind supports")
    with call.open_without_embedder() as memory:
        edge = memory.connect(source, target, kind=kind, **fields.keywords)
        texts = fetch_texts(memory, [edge.source, edge.target])
    if call.as_json:
        return show_json(explain.edge_json(edge))
    show_edges([edge], texts)


@dataclass(frozen=True)
class EdgeFilterOptions:
    """Filters on edges."""

    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="NAME", help="Edges of this kind. Repeatable.", autocompletion=_complete_kinds),
    ] = None
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="NAME", help="Edges of this scope. Repeatable.")
    ] = None
    ids: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Edges that touch this fact. Repeatable.")
    ] = None
    origin: Annotated[
        str | None, typer.Option("--origin", metavar="NAME", help="Edges of this origin: user, similarity, dream, …")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The filters that are set, as keyword arguments of Memory.edges."""
        values = {"kind": self.kind, "scope": self.scope, "ids": self.ids, "origin": self.origin}
        return {name: value for name, value in values.items() if value not in (None, [])}


EdgeLimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="Maximum number of edges.", show_default=True)
]


def list_edges(*, filters: EdgeFilterOptions, limit: EdgeLimitOption = 20, call: GlobalOptions) -> None:
    """List stored edges between facts, strongest first. All scopes by default.

    Links through shared names are not stored; cofire show ID lists them.
    """
    with call.open_without_embedder() as memory:
        memory.facts(filters.ids or [])
        edges = memory.edges(limit=limit, **filters.keywords)
        if call.as_json:
            return show_json({"edges": [explain.edge_json(edge) for edge in edges]})
        texts = fetch_texts(memory, (end for edge in edges for end in (edge.source, edge.target)))
    if not edges and filters.keywords:
        return show_text("No edge matches these filters.")
    if not edges:
        return show_text(f"The store {call.location} has no edges yet. Create them with: cofire dream")
    show_edges(edges, texts)
    if len(edges) == limit:
        show_note(f"There may be more: cofire edges --limit {limit * 10}")
    return None


MAX_LABEL_LENGTH = 60
PIPE_WIDTH = 10_000
PATH_END_REASONS = {
    "max_depth": "maximum depth reached",
    "below_threshold": "energy below the minimum",
    "dead_end": "no unvisited neighbour",
    "claimed": "neighbours reached by other paths",
    "seed_alone": "no links",
}

SeedsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="Ids of the facts to start from, or a question.", show_default=False),
]


@dataclass(frozen=True)
class ExploreCommandOptions:
    """The start and the limits of an exploration."""

    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="Start from the facts that this question finds.")
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="NAME", help="Prefer links with this tag. Repeatable."),
    ] = None
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="NAME", help="Follow links in this scope only. Repeatable.")
    ] = None
    where: WhereOption = None
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", metavar="N", help="Maximum number of links per path.")
    ] = None
    branches: Annotated[
        int | None, typer.Option("--branches", metavar="N", help="Maximum number of neighbours per fact.")
    ] = None
    min_activation: Annotated[
        float | None, typer.Option("--min-activation", metavar="N", help="Minimum energy to continue a path.")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The options as keyword arguments of Memory.explore."""
        return {
            "query": self.query,
            "tags": self.tag,
            "scope": self.scope or None,
            "where": parse_expressions(self.where or ()) or None,
            "max_depth": self.max_depth,
            "branches": self.branches,
            "min_activation": self.min_activation,
        }


def explore(*, ids: SeedsArgument = None, options: ExploreCommandOptions, call: GlobalOptions) -> None:
    """Follow links outward from facts by spreading energy, and draw the paths.

    Each fact passes energy to its strongest neighbours, in proportion to the link. A path ends when little energy is left.

    cofire explore "What depends on PostgreSQL?" --tag db
    """
    if ids and options.query is None and not any(is_id(id) for id in ids):
        # No argument has the form of an id: the words are a question.
        options = replace(options, query=" ".join(ids))
        ids = None
    with call.open_memory() if options.query is not None else call.open_without_embedder() as memory:
        result = memory.explore(ids or None, **options.keywords)
        _refuse_unknown_seeds(result)
        texts = fetch_texts(memory, result.ids)
    if call.as_json:
        return show_json(exploration_json(result, texts))
    _show_exploration(result, texts)
    return None


def _refuse_unknown_seeds(result: ExploreResult) -> None:
    """Raise if none of the given facts exists. A single unknown id among others is a warning."""
    if result.seeds and all(seed.status == "seed_not_found" for seed in result.seeds):
        ids = [seed.seed for seed in result.seeds]
        problem = f"No fact has one of the ids {', '.join(ids)}." if len(ids) > 1 else result.seeds[0].reason
        raise NotFound(problem, way_out="List the ids with: cofire list")


def _show_exploration(result: ExploreResult, texts: Mapping[str, str]) -> None:
    if not result.seeds:
        show_text(result.reason)
    console = stdout_console()
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    for seed in result.seeds:
        if seed.status == "complete":
            console.print(build_path_tree(seed, texts))
        else:
            show_warning(f"{seed.seed} was not explored ({seed.status}). {seed.reason}")


def build_path_tree(seed: SeedExploration, texts: Mapping[str, str]) -> Tree:
    """The paths of a seed as a tree; each fact appears once."""
    root = Tree(_format_tree_label(seed.energy, texts[seed.seed], seed.seed))
    branches = {seed.seed: root}
    for path in seed.paths:
        for hop in seed.hops_of(path):
            if hop.target not in branches:
                label = _format_tree_label(hop.energy, texts[hop.target], hop.target, hop)
                branches[hop.target] = branches[hop.source].add(label)
        branches[path.ids[-1]].add(styled_text(f"{path.end}: {PATH_END_REASONS[path.end]}", "dim"))
    return root


def _format_tree_label(energy: float, text: str, id: str, hop: ActivationHop | None = None) -> Text:
    via = f" via {hop.via}" if hop and hop.via else ""
    link = f"{hop.kind}{via}  " if hop else ""
    return Text.assemble(
        (f"{energy:.3f}  ", "bold cyan"),
        styled_text(link, "green"),
        styled_text(shorten_text(text, MAX_LABEL_LENGTH)),
        styled_text(f"  {id}", "dim"),
    )


RecallIdArgument = Annotated[
    str, typer.Argument(metavar="RECALL", help="The id of a recall, as recall --json and --xray print it.")
]
HelpedOption = Annotated[
    list[str] | None, typer.Option("--helped", metavar="ID", help="A fact that was useful. Repeatable.")
]
HurtOption = Annotated[
    list[str] | None, typer.Option("--hurt", metavar="ID", help="A fact that was misleading. Repeatable.")
]


def feedback(
    *, recall: RecallIdArgument, helped: HelpedOption = None, hurt: HurtOption = None, call: GlobalOptions
) -> None:
    """Report which facts of a recall helped or hurt. Links that led to them become stronger or weaker.

    cofire feedback 01M7GRXZ72ER9HC7SM0EVVJFVW --helped 01M7GRXZ72ER9HC7SM0EVVJFVX
    """
    with call.open_without_embedder() as memory:
        result = memory.feedback(recall, helped=helped, hurt=hurt)
    if call.as_json:
        return show_json(
            {
                "helped": list(result.helped),
                "hurt": list(result.hurt),
                "made": result.made,
                "changed": result.changed,
            }
        )
    return show_text(f"{format_count(result.made, 'edge')} created, {result.changed:,} changed.")


CommunityScopeOption = Annotated[
    list[str] | None, typer.Option("--scope", metavar="NAME", help="Communities of this scope only. Repeatable.")
]
CommunityLimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="Maximum number of communities.", show_default=True)
]


def communities(*, scope: CommunityScopeOption = None, limit: CommunityLimitOption = 20, call: GlobalOptions) -> None:
    """List the communities that the last dream found, largest first, with their most central facts.

    Search within one of them with recall --community NUMBER.

    cofire communities
    """
    with call.open_without_embedder() as memory:
        found_communities = memory.communities(scope=scope or None, limit=limit)
        scopes = memory.stats().size.scopes
    if call.as_json:
        return show_json({"communities": [community_json(community) for community in found_communities]})
    for community in found_communities:
        number = Text(f"{community.number:>5}  ", "cyan")
        show_text(styled_text(community.name or "no name", "bold"), lead=number, indent=7)
        show_text(styled_text(f"{format_count(community.size, 'fact')}, scope {community.scope}", "dim"), indent=7)
        for fact in community.facts:
            show_text(styled_text(shorten_text(fact.text)), indent=7)
    if not found_communities:
        return show_text(_describe_no_communities(scope or [], scopes))
    if len(found_communities) == limit:
        show_note(f"There may be more: cofire communities --limit {limit * 10}")
    return None


def _describe_no_communities(requested: Sequence[str], scopes: Mapping[str, int]) -> str:
    names = " or ".join(requested)
    if requested and not set(requested) & scopes.keys():
        return f"No fact has the scope {names}. List the communities of all scopes with: cofire communities"
    return f"There are no communities {f'in {names} ' if requested else ''}yet. Find them with: cofire dream"


DreamScopeOption = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="NAME", help="Link the waiting facts of this scope only. Repeatable."),
]


class DreamResultLike(Protocol):
    """Counts of a dream."""

    @property
    def facts(self) -> int: ...
    @property
    def new(self) -> int: ...
    @property
    def changed(self) -> int: ...
    @property
    def ended(self) -> int: ...
    @property
    def communities(self) -> int: ...


def dream(*, scope: DreamScopeOption = None, call: GlobalOptions) -> None:
    """Link the facts stored since the last dream, then rank the graph and find communities.

    Each waiting fact is compared with its neighbour candidates and linked to the best. You can interrupt the command and run
    it again. It computes no embeddings and calls no language model.
    """
    with call.open_without_embedder() as memory, progress_bar("dreaming") as advance:
        result = memory.dream(scope=scope, progress=advance)
    if call.as_json:
        return show_json(asdict(result))
    show_text(describe_dream(result))
    if result.waiting:
        show_text(f"{format_count(result.waiting, 'fact')} still waiting. Link all scopes with: cofire dream")


def describe_dream(result: DreamResultLike) -> str:
    """A dream in one sentence."""
    if not result.facts:
        return "No facts were waiting to be linked."
    edges = f"{format_count(result.new, 'new edge')}, {result.changed:,} changed, {result.ended:,} ended"
    groups = format_count(result.communities, "community", "communities")
    return f"Linked {format_count(result.facts, 'fact')}: {edges}; {groups}."


MAX_ARCHIVED_SHOWN = 10

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, with examples, and change nothing.")
]


def curate(*, dry_run: DryRunOption = False, call: GlobalOptions) -> None:
    """Decay unused edges, archive facts by the settings, rank the graph, find communities and check the store.

    Each stage is its own transaction: you can interrupt the command and run it again. Archived facts are excluded from
    recall, never deleted. Pinned facts and edges that you made do not decay.

    cofire curate --dry-run
    """
    with call.open_without_embedder() as memory, progress_bar("curating") as advance:
        result = memory.curate(dry_run=dry_run, progress=advance)
    if call.as_json:
        return show_json(asdict(result))
    for line in describe_curation(result):
        show_text(line)


def describe_curation(result: Any) -> list[str]:
    """The result of curation, one line per stage."""
    would = "would be " if result.dry_run else ""
    decayed = f"{result.faded:,} {would}decayed, {result.ended:,} ended"
    lines = [f"Edges: {decayed}, {result.lowered:,} lowered in confidence, {result.pruned:,} pruned."]
    for example in result.examples:
        weights = f"{example.before:.3f} → {_format_new_weight(example.after)}"
        lines.append(f"  {example.source} {example.kind} {example.target}: {weights}")
    proposed = format_count(result.proposed, "pair")
    lines.append(f"Facts: {len(result.archived):,} {would}archived, {proposed} proposed for review.")
    if result.applied:
        lines.append(f"Review: {format_count(result.applied, 'clear pair')} {would}applied.")
    for id, reason in islice(result.archived.items(), MAX_ARCHIVED_SHOWN):
        lines.append(f"  {id}: {reason}")
    if len(result.archived) > MAX_ARCHIVED_SHOWN:
        lines.append(f"  … and {len(result.archived) - MAX_ARCHIVED_SHOWN:,} more")
    if not result.dry_run:
        lines.append(f"Graph: {format_count(result.communities, 'community', 'communities')}.")
    unlinked = format_count(result.orphans, "fact")
    dangling = format_count(result.dangling, "dangling row")
    lines.append(f"Checks: {unlinked} without links, {dangling}.")
    return [*lines, *([result.drift] if result.drift else [])]


def _format_new_weight(weight: float | None) -> str:
    return "ended" if weight is None else f"{weight:.3f}"
