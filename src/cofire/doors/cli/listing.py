"""`cofire list` and `stats`: what memory holds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

import cofire
from cofire import xray
from cofire.doors.cli.calling import Call
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.layout import show_listed, show_pairs
from cofire.doors.cli.screen import note, show, show_json
from cofire.model import Fact
from cofire.xray import counted

LimitOption = Annotated[int, typer.Option("--limit", metavar="N", help="At most so many facts.", show_default=True)]
BeforeOption = Annotated[
    str | None, typer.Option("--before", metavar="ID", help="The next page: facts older than this one.")
]
ArchivedOption = Annotated[bool, typer.Option("--archived", help="Only facts that are archived.")]
SupersededOption = Annotated[
    bool, typer.Option("--superseded", help="Only facts that newer ones have replaced, with the ids of those.")
]
PinnedOption = Annotated[bool, typer.Option("--pinned", help="Only facts that are pinned.")]


def list_facts(
    *,
    limit: LimitOption = 20,
    before: BeforeOption = None,
    pinned: PinnedOption = False,
    archived: ArchivedOption = False,
    superseded: SupersededOption = False,
    filters: Filters,
    call: Call,
) -> None:
    """List facts, newest first. All scopes by default."""
    with call.shelf() as memory:
        if before is not None:
            memory.facts([before])
        found = memory.facts(
            limit=limit, before=before, pinned=pinned, archived=archived, superseded=superseded, **filters.keywords
        )
        held = {} if found else stats_json(memory)
    if call.as_json:
        return show_json({"facts": facts_json(found)})
    for fact in found:
        show_listed(fact)
    if not found:
        show(_emptiness(call, asked=pinned or archived or superseded or bool(filters.keywords or before), held=held))
    elif len(found) == limit:
        flags = f"{' --pinned' * pinned}{' --archived' * archived}{' --superseded' * superseded}"
        note(f"There may be more: cofire list{flags} --before {found[-1].id}")


def stats(*, call: Call) -> None:
    """Show how much memory holds, where, and how it is searched."""
    with call.memory() as memory:
        held = stats_json(memory)
    if call.as_json:
        return show_json(held)
    show_pairs(_in_words(held))


def facts_json(facts: list[Fact]) -> list[dict[str, Any]]:
    return [xray.fact_json(fact) for fact in facts]


def stats_json(memory: cofire.Memory) -> dict[str, Any]:
    """What memory holds, as plain values."""
    return held_json(memory.stats())


def held_json(held: Any) -> dict[str, Any]:
    """What stats returned, as plain values."""
    return {
        "store": held.size.place,
        "bytes": held.size.bytes,
        "facts": held.size.facts,
        "archived": held.size.archived,
        "scopes": dict(held.size.scopes),
        "edges": held.size.edges,
        "mentions": held.size.mentions,
        "waiting": held.size.waiting,
        "mode": held.mode,
        "model": held.model,
        "without_vector": held.without_vector,
        "advice": held.advice,
        "reading_failures": asdict(held.reading_failures),
        "details": dict(held.size.details),
    }


def _in_words(held: dict[str, Any]) -> dict[str, str]:
    pairs = {
        "store": held["store"],
        "size": f"{held['bytes'] / 1_000_000:,.2f} MB",
        "facts": f"{held['facts']:,}" + (f", {held['archived']:,} of them archived" if held["archived"] else ""),
        "scopes": ", ".join(f"{name} ({size:,})" for name, size in held["scopes"].items()) or "none yet",
        "edges": f"{held['edges']:,}",
        "mentions": f"{held['mentions']:,}",
        "waiting": f"{counted(held['waiting'], 'fact')}; connect with: cofire dream" if held["waiting"] else "none",
        "search": held["mode"],
        "model": held["model"] or "none yet",
    }
    return pairs | ({"advice": held["advice"]} if held["advice"] else {})


def _emptiness(call: Call, *, asked: bool, held: dict[str, Any]) -> str:
    if asked:
        return "No fact passes these filters."
    if held["facts"]:
        return " ".join([f"Of {counted(held['facts'], 'fact')} none holds now.", *_ways_to_others(held)])
    return f'The store {call.place} is empty. Begin with: cofire remember "Ana leads the Berlin office."'


def _ways_to_others(held: dict[str, Any]) -> list[str]:
    """How to see facts that do not hold now: those put aside, and those whose time is over or has not come."""
    archived = ["List those that are archived with: cofire list --archived"] if held["archived"] else []
    timely = ["List those that held at another time with: cofire list --as-of TIME"]
    return archived + (timely if held["facts"] > held["archived"] else [])
