"""`cofire graph`: a picture of what lies around an answer, or around some facts, as one file to share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import cofire
from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Conditions
from cofire.doors.cli.moving import refuse_to_overwrite
from cofire.doors.cli.screen import note, show, show_json
from cofire.doors.picture.page import page
from cofire.doors.picture.scene import CommunityKey, Scene, scene
from cofire.errors import InvalidInput, NotFound
from cofire.metadata_filter import parse_expressions
from cofire.pictures import Picture
from cofire.recollection import Hit
from cofire.settings import recall_settings
from cofire.xray import counted, shortened

# With more facts than these nobody finds anything in the picture; the page of cofire serve is for that.
MOST_FACTS = 300
ENDINGS = (".html", ".htm")

HtmlFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file to make, ending in .html.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


@dataclass(frozen=True)
class Subject:
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
    where: Conditions = None
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="NAME", help="Follow links of this kind. Repeatable.")
    ] = None
    depth: Annotated[int, typer.Option("--depth", metavar="N", min=1, max=10, help="Follow so many links outward.")] = 1
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=MOST_FACTS, help="Show about so many facts.")
    ] = 24

    @property
    def conditions(self) -> dict[str, Any] | None:
        """The filter by metadata, as Memory takes it."""
        return parse_expressions(self.where or ()) or None


def graph(*, file: HtmlFile, subject: Subject, force: Force = False, call: Call) -> None:
    """Draw what comes back for a question, and what lies around it, as one page of HTML to share.

    The page needs no network and runs no script. Everybody who gets it can read the facts in it; facts of other scopes are not.

    cofire graph answer.html --about "What database configuration do we use?"
    """
    _refuse_what_cannot_be_drawn(file, subject)
    refuse_to_overwrite(file, call, force=force)
    with call.memory() if subject.about is not None else call.shelf() as memory:
        drawn = _asked(memory, subject) if subject.about is not None else _named(memory, subject)
    file.write_text(page(drawn), encoding="utf-8")
    _tell(file, drawn, subject, call)


def _refuse_what_cannot_be_drawn(file: Path, subject: Subject) -> None:
    if file.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"{file} does not end in .html.", way_out="Name a file like answer.html.")
    if (subject.about is None) == (not subject.around):
        raise InvalidInput(
            "A picture is about one question, or around some facts.", way_out="Say --about QUESTION or --around ID."
        )


def _asked(memory: cofire.Memory, subject: Subject) -> Scene:
    """What came back, with all facts on the ways that led there, and their neighbours in the scopes that were asked."""
    said: dict[str, Any] = {"k": subject.k, "scope": subject.scope, "where": subject.conditions}
    found = memory.recall(subject.about or "", **{name: one for name, one in said.items() if one})
    if not found.known:
        raise NotFound(
            f"There is nothing to draw. {found.reason}", way_out="Ask in other words, or name a fact with --around."
        )
    hits = found.hits if memory.settings()[recall_settings.EXPLAIN_DOORS] else [_unexplained(hit) for hit in found.hits]
    ids = dict.fromkeys(id for hit in hits for id in (hit.id, *hit.path, *(hop.source for hop in hit.bridge)))
    around, names = _surroundings(memory, list(ids), found.scopes, subject)
    return scene(found.question, around, hits, [], names)


def _unexplained(hit: Hit) -> Hit:
    return Hit(hit.fact, hit.score, hit.channels)


def _named(memory: cofire.Memory, subject: Subject) -> Scene:
    ids = list(dict.fromkeys(subject.around or ()))
    facts = memory.facts(ids)
    scopes = subject.scope or sorted({fact.scope for fact in facts})
    around, names = _surroundings(memory, ids, scopes, subject)
    return scene(shortened(facts[0].text), around, [], ids, names)


def _surroundings(
    memory: cofire.Memory, ids: Sequence[str], scopes: Sequence[str], subject: Subject
) -> tuple[Picture, dict[CommunityKey, str]]:
    """What lies around some facts, and the names of the communities there."""
    around = memory.graph(
        ids, depth=subject.depth, scope=scopes, kind=subject.kind, where=subject.conditions, limit=subject.limit
    )
    if not any(node.importance for node in around.nodes):
        return around, {}
    return around, {(one.scope, one.number): one.name for one in memory.communities(scope=scopes, limit=1_000)}


def _tell(file: Path, drawn: Scene, subject: Subject, call: Call) -> None:
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
    show(f"Drew {counted(len(drawn.dots), 'fact')} and {counted(len(drawn.strokes), 'link')} to {file}.")
    return note("Open it in a browser. Whoever gets the file can read these facts.")
