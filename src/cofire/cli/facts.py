"""The commands `list`, `stats`, `update`, `show`, `pin` and `archive`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

import cofire
from cofire import explain
from cofire.cli.layout import (
    fetch_texts,
    format_value,
    show_fact_details,
    show_fact_summary,
    show_label_values,
    show_links,
)
from cofire.cli.options import GlobalOptions, SharedFilterOptions, parse_pairs
from cofire.cli.terminal import show_json, show_note, show_text, styled_text
from cofire.errors import InvalidInput
from cofire.explain import format_count
from cofire.interfaces.json_shapes import PortraitLike, facts_json, portrait_json, stats_result_json
from cofire.model import Fact

FactLimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="Maximum number of facts.", show_default=True)
]
BeforeOption = Annotated[
    str | None, typer.Option("--before", metavar="ID", help="The next page: facts older than this one.")
]
ArchivedOption = Annotated[bool, typer.Option("--archived", help="Archived facts only.")]
SupersededOption = Annotated[
    bool, typer.Option("--superseded", help="Superseded facts only, with the ids of the newer ones.")
]
PinnedOption = Annotated[bool, typer.Option("--pinned", help="Pinned facts only.")]


def list_facts(
    *,
    limit: FactLimitOption = 20,
    before: BeforeOption = None,
    pinned: PinnedOption = False,
    archived: ArchivedOption = False,
    superseded: SupersededOption = False,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """List facts, newest first. All scopes by default."""
    with call.open_without_embedder() as memory:
        if before is not None:
            memory.facts([before])
        facts = memory.facts(
            limit=limit, before=before, pinned=pinned, archived=archived, superseded=superseded, **filters.keywords
        )
        counts = {} if facts else fetch_stats_json(memory)
    if call.as_json:
        return show_json({"facts": facts_json(facts)})
    for fact in facts:
        show_fact_summary(fact)
    if not facts:
        filtered = pinned or archived or superseded or bool(filters.keywords or before)
        show_text(_describe_empty_list(call, filtered=filtered, counts=counts))
    elif len(facts) == limit:
        flags = f"{' --pinned' * pinned}{' --archived' * archived}{' --superseded' * superseded}"
        show_note(f"There may be more: cofire list{flags} --before {facts[-1].id}")


def stats(*, call: GlobalOptions) -> None:
    """Show the size of the store, its scopes and how it is searched."""
    with call.open_memory() as memory:
        counts = fetch_stats_json(memory)
    if call.as_json:
        return show_json(counts)
    show_label_values(_format_stats(counts))


def fetch_stats_json(memory: cofire.Memory) -> dict[str, Any]:
    """The statistics of the store as plain values."""
    return stats_result_json(memory.stats())


def _format_stats(stats: dict[str, Any]) -> dict[str, str]:
    archived = f", {stats['archived']:,} of them archived" if stats["archived"] else ""
    waiting = f"{format_count(stats['waiting'], 'fact')}; link them with: cofire dream"
    lines = {
        "store": stats["store"],
        "size": f"{stats['bytes'] / 1_000_000:,.2f} MB",
        "facts": f"{stats['facts']:,}{archived}",
        "scopes": ", ".join(f"{name} ({size:,})" for name, size in stats["scopes"].items()) or "none yet",
        "edges": f"{stats['edges']:,}",
        "mentions": f"{stats['mentions']:,}",
        "waiting": waiting if stats["waiting"] else "none",
        "search": stats["mode"],
        "model": stats["model"] or "none yet",
    }
    return lines | ({"advice": stats["advice"]} if stats["advice"] else {})


def _describe_empty_list(call: GlobalOptions, *, filtered: bool, counts: dict[str, Any]) -> str:
    if filtered:
        return "No fact matches these filters."
    if not counts["facts"]:
        return f'The store {call.location} is empty. Add a fact with: cofire remember "Ana leads the Berlin office."'
    sentences = [f"The store has {format_count(counts['facts'], 'fact')}, but none is currently valid."]
    if counts["archived"]:
        sentences.append("List archived facts with: cofire list --archived")
    if counts["facts"] > counts["archived"]:
        sentences.append("List facts valid at another time with: cofire list --as-of TIME")
    return " ".join(sentences)


CLEARABLE_FIELDS = ("tags", "category", "subject", "at", "metadata", "valid_from", "valid_until", "expires")


def _change_option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text)


UpdatedIdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id, as printed by remember, recall and list.")
]
NewTextArgument = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The new text.")]


@dataclass(frozen=True)
class UpdateCommandOptions:
    """Fields of a fact that can be changed besides the text."""

    tag: Annotated[list[str] | None, _change_option("--tag", "NAME", "Replace the tags. Repeatable.")] = None
    category: Annotated[str | None, _change_option("--category", "NAME", "The category.")] = None
    subject: Annotated[str | None, _change_option("--subject", "NAME", "The subject.")] = None
    at: Annotated[
        str | None, _change_option("--at", "TIME", "The time of the event, for example 2026-05-08T13:56.")
    ] = None
    meta: Annotated[list[str] | None, _change_option("--meta", "KEY=VALUE", "Replace the metadata. Repeatable.")] = None
    valid_from: Annotated[str | None, _change_option("--valid-from", "TIME", "The start of its validity.")] = None
    valid_until: Annotated[str | None, _change_option("--valid-until", "TIME", "The end of its validity.")] = None
    expires: Annotated[str | None, _change_option("--expires", "TIME", "Exclude it from recall from this time on.")] = (
        None
    )
    clear: Annotated[
        list[str] | None,
        _change_option("--clear", "NAME", f"Clear a field: {', '.join(CLEARABLE_FIELDS)}. Repeatable."),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The changes as keyword arguments of Memory.update; a field to clear is None."""
        values = {
            "tags": self.tag,
            "category": self.category,
            "subject": self.subject,
            "at": self.at,
            "metadata": parse_pairs(self.meta or [], "--meta"),
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
            "expires": self.expires,
        }
        changes = {name: value for name, value in values.items() if value not in (None, [], {})}
        return {**dict.fromkeys(self._cleared_fields(changes)), **changes}

    def _cleared_fields(self, changes: dict[str, Any]) -> list[str]:
        for name in self.clear or ():
            if name not in CLEARABLE_FIELDS:
                raise InvalidInput(f"{name} cannot be cleared.", way_out=f"Choose from {', '.join(CLEARABLE_FIELDS)}.")
            if name in changes:
                raise InvalidInput(f"{name} is both set and cleared.", way_out="Do one of the two.")
        return self.clear or []


def update(
    *, id: UpdatedIdArgument, text: NewTextArgument = None, changes: UpdateCommandOptions, call: GlobalOptions
) -> None:
    """Change the text or fields of a fact; its id stays. cofire show ID lists earlier versions.

    cofire update 01J… "Ana leads the Porto office."
    """
    new_values = changes.keywords | ({} if text is None else {"text": text})
    if not new_values:
        raise InvalidInput("No change was given.", way_out="Give a new TEXT, or an option such as --tag.")
    with call.open_memory() as memory:
        fact = memory.update(id, **new_values)
    if call.as_json:
        return show_json({"fact": explain.fact_json(fact)})
    return show_fact_summary(fact)


IdsArgument = Annotated[list[str], typer.Argument(metavar="ID", help="Ids, as printed by remember, recall and list.")]
LinkLimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="Maximum number of links per fact.", show_default=True)
]


def show_facts(*, ids: IdsArgument, limit: LinkLimitOption = 20, call: GlobalOptions) -> None:
    """Show all fields of facts, with their links, importance, feedback and history."""
    with call.open_without_embedder() as memory:
        portraits = [memory.portrait(id, limit=limit) for id in dict.fromkeys(ids)]
        links = [link for portrait in portraits for link in portrait.links]
        texts = fetch_texts(memory, [end for link in links for end in (link.source, link.target)])
    if call.as_json:
        return show_json({"facts": [portrait_json(portrait, texts) for portrait in portraits]})
    for number, portrait in enumerate(portraits):
        if number:
            show_text()
        _show_portrait(portrait, texts, limit)
    return None


def _show_portrait(portrait: PortraitLike, texts: dict[str, str], limit: int) -> None:
    show_fact_details(portrait.fact, _format_portrait(portrait))
    if portrait.links:
        more = f" (strongest; more with --limit {limit * 10})" if len(portrait.links) == limit else ""
        show_text(styled_text(f"{format_count(len(portrait.links), 'link')}{more}", "bold"))
        show_links(portrait.links, portrait.fact.id, texts)


def _format_portrait(portrait: PortraitLike) -> dict[str, str]:
    """Descriptions, importance, feedback and history, by label."""
    lines: dict[str, str] = {}
    if portrait.descriptions:
        lines["descriptions"] = "\n".join(portrait.descriptions)
    importance = portrait.importance
    lines["importance"] = (
        f"{importance.pagerank:.4f}, community {importance.community}" if importance else "unknown before a dream"
    )
    use = portrait.use
    if use.helped or use.hurt:
        lines["feedback"] = f"helped {use.helped:,}×, hurt {use.hurt:,}×"
    if portrait.history:
        lines["history"] = "\n".join(_describe_history(portrait))
    if portrait.archived_because:
        lines["archived because"] = portrait.archived_because
    return lines


def _describe_history(portrait: PortraitLike) -> Iterator[str]:
    later_versions = [*(version.fact for version in portrait.history[1:]), portrait.fact]
    for version, later in zip(portrait.history, later_versions, strict=True):
        yield f"until {version.until:%Y-%m-%d %H:%M}: {describe_change(version.fact, later)}"


def describe_change(before: Fact, after: Fact) -> str:
    """The values of a fact that a change replaced.

    >>> describe_change(Fact("Tea at four.", tags=("tea",)), Fact("Tea at five.", tags=("tea",), category="habit"))
    'Tea at four. · no category'
    """
    old, new = explain.fact_json(before), explain.fact_json(after)
    values = []
    for name in CLEARABLE_FIELDS:
        if old[name] != new[name]:
            label = name.replace("_", " ")
            values.append(f"{label} {format_value(old[name])}" if old[name] else f"no {label}")
    text = [before.text] if before.text != after.text or not values else []
    return " · ".join([*text, *values])


def pin(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Pin facts: they do not decay and are never archived automatically."""
    _change_facts(call, lambda memory: memory.pin(ids), "Pinned")


def unpin(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Unpin facts, so that they decay again."""
    _change_facts(call, lambda memory: memory.unpin(ids), "Unpinned")


def archive(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Exclude facts from recall without deleting them."""
    _change_facts(call, lambda memory: memory.archive(ids), "Archived")


def unarchive(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Include archived facts in recall again."""
    _change_facts(call, lambda memory: memory.restore(ids), "Unarchived")


def _change_facts(call: GlobalOptions, change: Callable[[cofire.Memory], list[Fact]], done: str) -> None:
    with call.open_without_embedder() as memory:
        changed = change(memory)
    if call.as_json:
        return show_json({"facts": facts_json(changed)})
    return show_text(f"{done} {format_count(len(changed), 'fact')}." if changed else "No change was needed.")
