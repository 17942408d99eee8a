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

# With more facts than these nobody finds anything in the picture; the page of cofire serve is for that.
MAX_FACTS = 300
HTML_SUFFIXES = (".html", ".htm")

HtmlFileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file to make, ending in .html.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


@dataclass(frozen=True)
class GraphCommandOptions:
    """What the picture is about, and how much of what surrounds it is shown."""

    about: Annotated[
        str | None, typer.Option("--about", metavar="QUESTION", help="Draw what comes back for this question.")
    ] = None
    around: Annotated[
        list[str] | None, typer.Option("--around", metavar="ID", help="Draw what lies around this fact. Repeatable.")
    ] = None
    k: Annotated[int | None, typer.Option("-k", metavar="N", help="At most so many facts come back.")] = None
    scope: Annotated[list[str] | None, typer.Option("--scope", metavar="NAME", help="Ask this scope. Repeatable.")] = (
        None
    )
    where: WhereOption = None
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="NAME", help="Follow links of this kind. Repeatable.")
    ] = None
    depth: Annotated[int, typer.Option("--depth", metavar="N", min=1, max=10, help="Follow so many links outward.")] = 1
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=MAX_FACTS, help="Show about so many facts.")
    ] = 24

    @property
    def conditions(self) -> dict[str, Any] | None:
        """The filter by metadata, as Memory takes it."""
        return parse_expressions(self.where or ()) or None


def graph(
    *, file: HtmlFileArgument, subject: GraphCommandOptions, force: ForceOption = False, call: GlobalOptions
) -> None:
    """Draw what comes back for a question, and what lies around it, as one page of HTML to share.

    The page needs no network and runs no script. Everybody who gets it can read the facts in it; facts of other scopes are not.

    cofire graph answer.html --about "What database configuration do we use?"
    """
    _refuse_invalid_options(file, subject)
    refuse_to_overwrite(file, call, force=force)
    with call.memory() if subject.about is not None else call.shelf() as memory:
        drawn = (
            _make_question_scene(memory, subject) if subject.about is not None else _make_facts_scene(memory, subject)
        )
    file.write_text(render_page(drawn), encoding="utf-8")
    _show_result(file, drawn, subject, call)


def _refuse_invalid_options(file: Path, subject: GraphCommandOptions) -> None:
    if file.suffix.lower() not in HTML_SUFFIXES:
        raise InvalidInput(f"{file} does not end in .html.", way_out="Name a file like answer.html.")
    if (subject.about is None) == (not subject.around):
        raise InvalidInput(
            "A picture is about one question, or around some facts.", way_out="Say --about QUESTION or --around ID."
        )


def _make_question_scene(memory: cofire.Memory, subject: GraphCommandOptions) -> Scene:
    """What came back, with all facts on the ways that led there, and their neighbours in the scopes that were asked."""
    said: dict[str, Any] = {"k": subject.k, "scope": subject.scope, "where": subject.conditions}
    found = memory.recall(subject.about or "", **{name: one for name, one in said.items() if one})
    if not found.known:
        raise NotFound(
            f"There is nothing to draw. {found.reason}", way_out="Ask in other words, or name a fact with --around."
        )
    hits = (
        found.hits
        if memory.settings()[table.GRAPH_RECALL_EXPLAIN_DOORS]
        else [_without_paths(hit) for hit in found.hits]
    )
    ids = dict.fromkeys(id for hit in hits for id in (hit.id, *hit.path, *(hop.source for hop in hit.bridge)))
    around, names = _fetch_surroundings(memory, list(ids), found.scopes, subject)
    return make_scene(found.question, around, hits, [], names)


def _without_paths(hit: Hit) -> Hit:
    return Hit(hit.fact, hit.score, hit.channels)


def _make_facts_scene(memory: cofire.Memory, subject: GraphCommandOptions) -> Scene:
    ids = list(dict.fromkeys(subject.around or ()))
    facts = memory.facts(ids)
    scopes = subject.scope or sorted({fact.scope for fact in facts})
    around, names = _fetch_surroundings(memory, ids, scopes, subject)
    return make_scene(shorten_text(facts[0].text), around, [], ids, names)


def _fetch_surroundings(
    memory: cofire.Memory, ids: Sequence[str], scopes: Sequence[str], subject: GraphCommandOptions
) -> tuple[Picture, dict[CommunityKey, str]]:
    """What lies around some facts, and the names of the communities there."""
    around = memory.graph(
        ids, depth=subject.depth, scope=scopes, kind=subject.kind, where=subject.conditions, limit=subject.limit
    )
    if not any(node.importance for node in around.nodes):
        return around, {}
    return around, {(one.scope, one.number): one.name for one in memory.communities(scope=scopes, limit=1_000)}


def _show_result(file: Path, drawn: Scene, subject: GraphCommandOptions, call: GlobalOptions) -> None:
    if call.as_json:
        return show_json(
            {
                "path": str(file),
                "question": subject.about,
                "facts": len(drawn.dots),
                "links": len(drawn.strokes),
                "hits": [dot.fact.id for dot in drawn.dots if dot.hit],
                "store": call.place,
            }
        )
    show_text(f"Drew {format_count(len(drawn.dots), 'fact')} and {format_count(len(drawn.strokes), 'link')} to {file}.")
    return show_note("Open it in a browser. Whoever gets the file can read these facts.")
