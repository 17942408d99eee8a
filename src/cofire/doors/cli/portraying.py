"""`cofire show`: a fact with all that hangs on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Protocol

import typer

from cofire import xray
from cofire.doors.cli.calling import Call
from cofire.doors.cli.graph_layout import other_end, show_links, texts_of
from cofire.doors.cli.layout import plain, show_whole
from cofire.doors.cli.screen import show, show_json, styled
from cofire.doors.cli.updating import CLEARABLE
from cofire.learned import Use
from cofire.model import Fact, Importance, Link, Past
from cofire.xray import counted

Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids as remember, recall and list print them.")]
LimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="At most so many links of each fact.", show_default=True)
]


class Portrait(Protocol):
    """A fact with all that hangs on it."""

    @property
    def fact(self) -> Fact: ...
    @property
    def links(self) -> Sequence[Link]: ...
    @property
    def descriptions(self) -> Sequence[str]: ...
    @property
    def importance(self) -> Importance | None: ...
    @property
    def history(self) -> Sequence[Past]: ...
    @property
    def use(self) -> Use: ...
    @property
    def archived_because(self) -> str | None: ...


def show_facts(*, ids: Ids, limit: LimitOption = 20, call: Call) -> None:
    """Show everything about some facts: what was said, the links to other facts, and how important each is."""
    with call.shelf() as memory:
        portraits = [memory.portrait(id, limit=limit) for id in dict.fromkeys(ids)]
        texts = texts_of(memory, (end for one in portraits for link in one.links for end in (link.source, link.target)))
    if call.as_json:
        return show_json({"facts": [portrait_json(one, texts) for one in portraits]})
    for place, portrait in enumerate(portraits):
        if place:
            show()
        _show_portrait(portrait, texts, limit)
    return None


def portrait_json(portrait: Portrait, texts: dict[str, str]) -> dict[str, Any]:
    """A fact as plain values, with what hangs on it."""
    id, rated = portrait.fact.id, portrait.importance
    links = [{**xray.link_json(link), "text": texts[other_end(link, id)]} for link in portrait.links]
    return {
        **xray.fact_json(portrait.fact),
        "links": links,
        "descriptions": list(portrait.descriptions),
        "importance": {"pagerank": rated.pagerank, "community": rated.community} if rated else None,
        "use": use_json(portrait.use),
        "history": [past_json(past) for past in portrait.history],
        "archived_because": portrait.archived_because,
    }


def past_json(past: Past) -> dict[str, Any]:
    """What a fact said before, as plain values."""
    return {"until": past.until.isoformat(), **xray.fact_json(past.fact)}


def use_json(use: Use) -> dict[str, Any]:
    """How a fact fared, as plain values."""
    return {"helped": use.helped, "hurt": use.hurt, "success": use.success}


def _show_portrait(portrait: Portrait, texts: dict[str, str], limit: int) -> None:
    show_whole(portrait.fact, _standing(portrait))
    if portrait.links:
        more = f", the strongest; there may be more: --limit {limit * 10}" if len(portrait.links) == limit else ""
        show(styled(f"{counted(len(portrait.links), 'link')}{more}", "bold"))
        show_links(portrait.links, portrait.fact.id, texts)


def _standing(portrait: Portrait) -> dict[str, str]:
    """Where the fact stands in the graph, and what it is described by."""
    rated = portrait.importance
    importance = f"{rated.pagerank:.4f}, in community {rated.community}" if rated else "not known before a dream"
    described = {"described": "\n".join(portrait.descriptions)} if portrait.descriptions else {}
    use = portrait.use
    fared = {"fared": f"helped {use.helped:,}×, hurt {use.hurt:,}×"} if use.helped or use.hurt else {}
    said = "\n".join(_history(portrait))
    archived = {"archived because": portrait.archived_because} if portrait.archived_because else {}
    return described | {"importance": importance} | fared | ({"history": said} if said else {}) | archived


def _history(portrait: Portrait) -> Iterator[str]:
    later = [*(past.fact for past in portrait.history), portrait.fact][1:]
    for past, fact in zip(portrait.history, later, strict=True):
        yield f"until {past.until:%Y-%m-%d %H:%M}: {what_was(past.fact, fact)}"


def what_was(before: Fact, after: Fact) -> str:
    """What a fact said that it said no more after a change.

    >>> what_was(Fact("Tea at four.", tags=("tea",)), Fact("Tea at five.", tags=("tea",), category="habit"))
    'Tea at four. · no category'
    """
    was, now = xray.fact_json(before), xray.fact_json(after)
    changed = {label.replace("_", " "): was[label] for label in CLEARABLE if was[label] != now[label]}
    values = [f"{label} {plain(value)}" if value else f"no {label}" for label, value in changed.items()]
    text = [before.text] if before.text != after.text or not values else []
    return " · ".join([*text, *values])
