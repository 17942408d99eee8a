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
from cofire.cli.json_shapes import community_json
from cofire.cli.layout import clip_text, fetch_texts, show_edges
from cofire.cli.options import GlobalOptions, WhereOption
from cofire.cli.terminal import progress_bar, show_json, show_note, show_text, show_warning, stdout_console, styled_text
from cofire.errors import InvalidInput, NotFound
from cofire.explain import format_count, shorten_text
from cofire.ids import is_id
from cofire.stores.edge_kinds import EDGE_KINDS
from cofire.stores.metadata_filter import parse_expressions


def _complete_kinds(incomplete: str) -> list[str]:
    return [name for name in EDGE_KINDS if name.startswith(incomplete)]


SourceArgument = Annotated[str, typer.Argument(metavar="ID", help="The fact it begins at.")]
TargetArgument = Annotated[str, typer.Argument(metavar="ID", help="The fact it leads to, of the same scope.")]
KindOption = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="NAME",
        help="What kind of edge it is: supports, elaborates, contradicts, causes, … or a name of your own.",
        autocompletion=_complete_kinds,
    ),
]


@dataclass(frozen=True)
class EdgeFieldOptions:
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


def connect(
    *, source: SourceArgument, target: TargetArgument, kind: KindOption, said: EdgeFieldOptions, call: GlobalOptions
) -> None:
    """Make an edge from one fact to another.

    cofire connect 01M7GTR8NZ28NDTYH9XYE8CX47 01M7GTR8NZ28NDTYH9XYE8CX48 --kind supports --weight 0.8
    """
    if not kind.strip():
        raise InvalidInput("--kind is empty.", way_out="Say what kind of edge it is, as in --kind supports")
    with call.shelf() as memory:
        edge = memory.connect(source, target, kind=kind, **said.keywords)
        texts = fetch_texts(memory, [edge.source, edge.target])
    if call.as_json:
        return show_json(explain.edge_json(edge))
    show_edges([edge], texts)


@dataclass(frozen=True)
class EdgeFilterOptions:
    """Which edges are listed."""

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
        str | None, typer.Option("--origin", metavar="NAME", help="Edges made by this: user, similarity, dream, …")
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.edges."""
        said = {"kind": self.kind, "scope": self.scope, "ids": self.ids, "origin": self.origin}
        return {name: value for name, value in said.items() if value not in (None, [])}


EdgeLimitOption = Annotated[int, typer.Option("--limit", metavar="N", help="At most so many edges.", show_default=True)]


def list_edges(*, which: EdgeFilterOptions, limit: EdgeLimitOption = 20, call: GlobalOptions) -> None:
    """List the edges between facts, the strongest first, of every scope unless told.

    Links through names are not stored as edges; see them with cofire show ID.
    """
    with call.shelf() as memory:
        memory.facts(which.ids or [])
        found = memory.edges(limit=limit, **which.keywords)
        if call.as_json:
            return show_json({"edges": [explain.edge_json(edge) for edge in found]})
        texts = fetch_texts(memory, (end for edge in found for end in (edge.source, edge.target)))
    if not found:
        return show_text("No edge passes these filters." if which.keywords else _describe_no_edges(call))
    show_edges(found, texts)
    if len(found) == limit:
        show_note(f"There may be more: cofire edges --limit {limit * 10}")
    return None


def _describe_no_edges(call: GlobalOptions) -> str:
    return f"The store {call.place} has no edges yet. Connect what it knows with: cofire dream"


MAX_LABEL_LENGTH = 60
PIPE_WIDTH = 10_000
PATH_END_REASONS = {
    "max_depth": "as deep as allowed",
    "below_threshold": "too little energy to go on",
    "dead_end": "nothing new from here",
    "claimed": "others came first",
    "seed_alone": "nothing is linked to it",
}

SeedsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="Facts to start from, by id; or a question.", show_default=False),
]


@dataclass(frozen=True)
class ExploreCommandOptions:
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
    where: WhereOption = None
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


def explore(*, ids: SeedsArgument = None, manner: ExploreCommandOptions, call: GlobalOptions) -> None:
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
        _refuse_unknown_seeds(found)
        texts = fetch_texts(memory, found.ids)
    if call.as_json:
        return show_json(exploration_json(found, texts))
    _show_exploration(found, texts)
    return None


def _refuse_unknown_seeds(found: ExploreResult) -> None:
    """One unknown fact among others is told beside them; where there is no other, there is no answer."""
    if found.seeds and all(seed.status == "seed_not_found" for seed in found.seeds):
        ids = [seed.seed for seed in found.seeds]
        named = f"No fact has one of the ids {', '.join(ids)}." if len(ids) > 1 else found.seeds[0].reason
        raise NotFound(named, way_out="List the ids with: cofire list")


def exploration_json(found: ExploreResult, texts: Mapping[str, str]) -> dict[str, Any]:
    """All of it as plain values, with the texts of the facts."""
    told = found.to_dict()
    return {**told, "facts": [{**fact, "text": texts[fact["id"]]} for fact in told["facts"]]}


def _show_exploration(found: ExploreResult, texts: Mapping[str, str]) -> None:
    if not found.seeds:
        show_text(found.reason)
    console = stdout_console()
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    for seed in found.seeds:
        if seed.status == "complete":
            console.print(build_path_tree(seed, texts))
        else:
            show_warning(f"{seed.seed} was not explored ({seed.status}). {seed.reason}")


def build_path_tree(seed: SeedExploration, texts: Mapping[str, str]) -> Tree:
    """The paths of a seed from one root; each fact stands in it once."""
    drawn = {seed.seed: Tree(_format_tree_label(seed.energy, texts[seed.seed], seed.seed))}
    for path in seed.paths:
        for hop in seed.hops_of(path):
            if hop.target not in drawn:
                label = _format_tree_label(hop.energy, texts[hop.target], hop.target, hop)
                drawn[hop.target] = drawn[hop.source].add(label)
        drawn[path.ids[-1]].add(styled_text(f"{path.end}: {PATH_END_REASONS[path.end]}", "dim"))
    return drawn[seed.seed]


def _format_tree_label(energy: float, text: str, id: str, hop: ActivationHop | None = None) -> Text:
    led = f"{hop.kind} via {hop.via}  " if hop and hop.via else f"{hop.kind}  " if hop else ""
    return Text.assemble(
        (f"{energy:.3f}  ", "bold cyan"),
        styled_text(led, "green"),
        styled_text(clip_text(text, MAX_LABEL_LENGTH)),
        styled_text(f"  {id}", "dim"),
    )


RecallIdArgument = Annotated[
    str, typer.Argument(metavar="RECALL", help="The id of a recall, as recall --json and --xray print it.")
]
HelpedOption = Annotated[
    list[str] | None, typer.Option("--helped", metavar="ID", help="A fact that helped. May be given several times.")
]
HurtOption = Annotated[
    list[str] | None, typer.Option("--hurt", metavar="ID", help="A fact that misled. May be given several times.")
]


def feedback(
    *, recall: RecallIdArgument, helped: HelpedOption = None, hurt: HurtOption = None, call: GlobalOptions
) -> None:
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
    return show_text(f"Learned: {format_count(learned.made, 'edge')} made, {learned.changed:,} changed.")


CommunityScopeOption = Annotated[
    list[str] | None, typer.Option("--scope", metavar="NAME", help="Only of this scope. Repeatable.")
]
CommunityLimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="At most so many communities.", show_default=True)
]


def communities(*, scope: CommunityScopeOption = None, limit: CommunityLimitOption = 20, call: GlobalOptions) -> None:
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
        show_text(styled_text(f"{one.name or 'no name'}", "bold"), lead=Text(f"{one.number:>5}  ", "cyan"), indent=7)
        show_text(styled_text(f"{format_count(one.size, 'fact')} of {one.scope}", "dim"), indent=7)
        for fact in one.facts:
            show_text(styled_text(shorten_text(fact.text)), indent=7)
    if not found:
        return show_text(_describe_no_communities(scope or [], scopes))
    if len(found) == limit:
        show_note(f"There may be more: cofire communities --limit {limit * 10}")
    return None


def _describe_no_communities(asked: Sequence[str], scopes: Mapping[str, int]) -> str:
    named = " or ".join(asked)
    if asked and not set(asked) & scopes.keys():
        return f"No fact has the scope {named}. See the communities of every scope with: cofire communities"
    return f"There are no communities {f'of {named} ' if asked else ''}yet. Find them with: cofire dream"


DreamScopeOption = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="NAME", help="Only what waits in this scope. Repeatable."),
]


class DreamResultLike(Protocol):
    """What a dream did."""

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
    """Connect what was remembered since the last dream.

    Facts that wait are scored against those like them and linked; then the graph is ranked and grouped into communities. It
    can be stopped and run again. Nothing is embedded, and no language model is asked.
    """
    with call.shelf() as memory, progress_bar("dreaming") as advance:
        done = memory.dream(scope=scope, progress=advance)
    if call.as_json:
        return show_json(asdict(done))
    show_text(describe_dream(done))
    if done.waiting:
        show_text(f"Still waiting: {format_count(done.waiting, 'fact')}. Connect all with: cofire dream")


def describe_dream(done: DreamResultLike) -> str:
    """A dream in a sentence."""
    if not done.facts:
        return "No fact was waiting to be connected."
    edges = f"{format_count(done.new, 'edge')} new, {done.changed:,} changed, {done.ended:,} ended"
    groups = format_count(done.communities, "community", "communities")
    return f"Connected {format_count(done.facts, 'fact')}: {edges}; {groups}."


MAX_ARCHIVED_SHOWN = 10

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only tell what would change, with examples.")]


def curate(*, dry_run: DryRunOption = False, call: GlobalOptions) -> None:
    """Let unused edges fade, archive what the settings say, rank and group anew, and check.

    Each stage is a transaction of its own: it can be stopped and run again, and twice is as good as once. Archived facts are out
    of recall, never deleted. Pinned facts and edges that you made do not fade.

    cofire curate --dry-run
    """
    with call.shelf() as memory, progress_bar("curating") as advance:
        done = memory.curate(dry_run=dry_run, progress=advance)
    if call.as_json:
        return show_json(asdict(done))
    for line in describe_curation(done):
        show_text(line)


def describe_curation(done: Any) -> list[str]:
    """What curation did, a line a stage."""
    would = "would be " if done.dry_run else ""
    edges = f"{done.faded:,} {would}faded, {done.ended:,} ended, {done.lowered:,} lowered in confidence, {done.pruned:,} pruned"
    lines = [f"Edges: {edges}."]
    lines += [
        f"  {one.source} {one.kind} {one.target}: {one.before:.3f} → {_format_new_weight(one.after)}"
        for one in done.examples
    ]
    lines.append(
        f"Facts: {len(done.archived):,} {would}archived, {format_count(done.proposed, 'pair')} proposed for review."
    )
    lines += [f"Review: {format_count(done.applied, 'clear pair')} {would}applied."] if done.applied else []
    lines += [f"  {id}: {why}" for id, why in islice(done.archived.items(), MAX_ARCHIVED_SHOWN)]
    lines += (
        [f"  … and {len(done.archived) - MAX_ARCHIVED_SHOWN:,} more"] if len(done.archived) > MAX_ARCHIVED_SHOWN else []
    )
    lines += [] if done.dry_run else [f"Graph: {format_count(done.communities, 'community', 'communities')}."]
    unlinked = f"{format_count(done.orphans, 'fact')} without any link, {format_count(done.dangling, 'row')} that refer to nothing"
    return [*lines, f"Checks: {unlinked}.", *([done.drift] if done.drift else [])]


def _format_new_weight(value: float | None) -> str:
    return "ends" if value is None else f"{value:.3f}"
