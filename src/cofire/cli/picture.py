"""The command `graph`: draws facts and their links as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import cofire
from cofire.cli.options import GlobalOptions, WhereOption
from cofire.cli.stores import refuse_to_overwrite
from cofire.cli.terminal import show_json, show_note, show_text
from cofire.errors import InvalidInput, NotFound
from cofire.explain import format_count, shorten_text
from cofire.picture.page import render_page
from cofire.picture.scene import CommunityKey, Scene, make_scene
from cofire.results import Hit, Picture
from cofire.settings import table
from cofire.stores.metadata_filter import parse_expressions

# Pictures with more facts are unreadable; the page of cofire serve shows whole graphs.
MAX_FACTS = 300
HTML_SUFFIXES = (".html", ".htm")

HtmlFileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file to create, ending in .html.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


@dataclass(frozen=True)
class GraphCommandOptions:
    """The subject of the picture, and how much of the surrounding graph to show."""

    about: Annotated[
        str | None, typer.Option("--about", metavar="QUESTION", help="Draw the facts that this question returns.")
    ] = None
    around: Annotated[
        list[str] | None,
        typer.Option("--around", metavar="ID", help="Draw the neighbourhood of this fact. Repeatable."),
    ] = None
    k: Annotated[
        int | None, typer.Option("-k", metavar="N", help="Maximum number of facts that the question returns.")
    ] = None
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="NAME", help="Search this scope. Repeatable.")
    ] = None
    where: WhereOption = None
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="NAME", help="Follow links of this kind. Repeatable.")
    ] = None
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=1, max=10, help="Number of links to follow outward.")
    ] = 1
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=MAX_FACTS, help="Approximate number of facts to show.")
    ] = 24

    @property
    def conditions(self) -> dict[str, Any] | None:
        """The metadata filter, as Memory takes it."""
        return parse_expressions(self.where or ()) or None


def graph(
    *, file: HtmlFileArgument, subject: GraphCommandOptions, force: ForceOption = False, call: GlobalOptions
) -> None:
    """Draw the facts that a question returns, with their neighbours and links, as one HTML page.

    The page needs no network and runs no script. Everyone who has the file can read its facts. It shows no other scopes.

    cofire graph answer.html --about "What database configuration do we use?"
    """
    _refuse_invalid_options(file, subject)
    refuse_to_overwrite(file, call, force=force)
    if subject.about is not None:
        with call.open_memory() as memory:
            scene = _make_question_scene(memory, subject.about, subject)
    else:
        with call.open_without_embedder() as memory:
            scene = _make_facts_scene(memory, subject)
    file.write_text(render_page(scene), encoding="utf-8")
    _show_result(file, scene, subject, call)


def _refuse_invalid_options(file: Path, subject: GraphCommandOptions) -> None:
    if file.suffix.lower() not in HTML_SUFFIXES:
        raise InvalidInput(f"{file} does not end in .html.", way_out="Give a name such as answer.html.")
    if (subject.about is None) == (not subject.around):
        raise InvalidInput("Give one of --about and --around.", way_out="Use --about QUESTION or --around ID.")


def _make_question_scene(memory: cofire.Memory, question: str, subject: GraphCommandOptions) -> Scene:
    """The facts that the question returns, the facts on their paths, and their neighbours in the same scopes."""
    options: dict[str, Any] = {"k": subject.k, "scope": subject.scope, "where": subject.conditions}
    recollection = memory.recall(question, **{name: value for name, value in options.items() if value})
    if not recollection.known:
        raise NotFound(
            f"There is nothing to draw. {recollection.reason}",
            way_out="Rephrase the question, or name a fact with --around.",
        )
    hits = recollection.hits
    if not memory.settings()[table.GRAPH_RECALL_EXPLAIN_DOORS]:
        hits = tuple(Hit(hit.fact, hit.score, hit.channels) for hit in hits)
    ids = dict.fromkeys(id for hit in hits for id in (hit.id, *hit.path, *(hop.source for hop in hit.bridge)))
    neighbourhood, community_names = _fetch_neighbourhood(memory, list(ids), recollection.scopes, subject)
    return make_scene(recollection.question, neighbourhood, hits, [], community_names)


def _make_facts_scene(memory: cofire.Memory, subject: GraphCommandOptions) -> Scene:
    ids = list(dict.fromkeys(subject.around or ()))
    facts = memory.facts(ids)
    scopes = subject.scope or sorted({fact.scope for fact in facts})
    neighbourhood, community_names = _fetch_neighbourhood(memory, ids, scopes, subject)
    return make_scene(shorten_text(facts[0].text), neighbourhood, [], ids, community_names)


def _fetch_neighbourhood(
    memory: cofire.Memory, ids: Sequence[str], scopes: Sequence[str], subject: GraphCommandOptions
) -> tuple[Picture, dict[CommunityKey, str]]:
    """The graph around facts, and the names of its communities."""
    picture = memory.graph(
        ids, depth=subject.depth, scope=scopes, kind=subject.kind, where=subject.conditions, limit=subject.limit
    )
    if not any(node.importance for node in picture.nodes):
        return picture, {}
    communities = memory.communities(scope=scopes, limit=1_000)
    return picture, {(community.scope, community.number): community.name for community in communities}


def _show_result(file: Path, scene: Scene, subject: GraphCommandOptions, call: GlobalOptions) -> None:
    if call.as_json:
        return show_json(
            {
                "path": str(file),
                "question": subject.about,
                "facts": len(scene.nodes),
                "links": len(scene.edges),
                "hits": [node.fact.id for node in scene.nodes if node.hit],
                "store": call.location,
            }
        )
    facts = format_count(len(scene.nodes), "fact")
    show_text(f"Drew {facts} and {format_count(len(scene.edges), 'link')} to {file}.")
    return show_note("Open it in a browser. Everyone who has the file can read these facts.")
