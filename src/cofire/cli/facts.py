"""The commands `list`, `stats`, `update`, `show`, `pin` and `archive`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Protocol

import typer

import cofire
from cofire import explain
from cofire.cli.layout import (
    fetch_texts,
    find_other_end,
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
from cofire.model import Fact, FactImportance, FactVersion, Link
from cofire.stores.learning_rows import FeedbackCounts

FactLimitOption = Annotated[int, typer.Option("--limit", metavar="N", help="At most so many facts.", show_default=True)]
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
    limit: FactLimitOption = 20,
    before: BeforeOption = None,
    pinned: PinnedOption = False,
    archived: ArchivedOption = False,
    superseded: SupersededOption = False,
    filters: SharedFilterOptions,
    call: GlobalOptions,
) -> None:
    """List facts, newest first. All scopes by default."""
    with call.shelf() as memory:
        if before is not None:
            memory.facts([before])
        found = memory.facts(
            limit=limit, before=before, pinned=pinned, archived=archived, superseded=superseded, **filters.keywords
        )
        held = {} if found else fetch_stats_json(memory)
    if call.as_json:
        return show_json({"facts": facts_json(found)})
    for fact in found:
        show_fact_summary(fact)
    if not found:
        show_text(
            _describe_empty_list(
                call, asked=pinned or archived or superseded or bool(filters.keywords or before), held=held
            )
        )
    elif len(found) == limit:
        flags = f"{' --pinned' * pinned}{' --archived' * archived}{' --superseded' * superseded}"
        show_note(f"There may be more: cofire list{flags} --before {found[-1].id}")


def stats(*, call: GlobalOptions) -> None:
    """Show how much memory holds, where, and how it is searched."""
    with call.memory() as memory:
        held = fetch_stats_json(memory)
    if call.as_json:
        return show_json(held)
    show_label_values(_format_stats(held))


def facts_json(facts: list[Fact]) -> list[dict[str, Any]]:
    return [explain.fact_json(fact) for fact in facts]


def fetch_stats_json(memory: cofire.Memory) -> dict[str, Any]:
    """What memory holds, as plain values."""
    return stats_result_json(memory.stats())


def stats_result_json(held: Any) -> dict[str, Any]:
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


def _format_stats(held: dict[str, Any]) -> dict[str, str]:
    pairs = {
        "store": held["store"],
        "size": f"{held['bytes'] / 1_000_000:,.2f} MB",
        "facts": f"{held['facts']:,}" + (f", {held['archived']:,} of them archived" if held["archived"] else ""),
        "scopes": ", ".join(f"{name} ({size:,})" for name, size in held["scopes"].items()) or "none yet",
        "edges": f"{held['edges']:,}",
        "mentions": f"{held['mentions']:,}",
        "waiting": f"{format_count(held['waiting'], 'fact')}; connect with: cofire dream"
        if held["waiting"]
        else "none",
        "search": held["mode"],
        "model": held["model"] or "none yet",
    }
    return pairs | ({"advice": held["advice"]} if held["advice"] else {})


def _describe_empty_list(call: GlobalOptions, *, asked: bool, held: dict[str, Any]) -> str:
    if asked:
        return "No fact passes these filters."
    if held["facts"]:
        return " ".join([f"Of {format_count(held['facts'], 'fact')} none holds now.", *_list_hidden_fact_hints(held)])
    return f'The store {call.place} is empty. Begin with: cofire remember "Ana leads the Berlin office."'


def _list_hidden_fact_hints(held: dict[str, Any]) -> list[str]:
    """How to see facts that do not hold now: those put aside, and those whose time is over or has not come."""
    archived = ["List those that are archived with: cofire list --archived"] if held["archived"] else []
    timely = ["List those that held at another time with: cofire list --as-of TIME"]
    return archived + (timely if held["facts"] > held["archived"] else [])


CLEARABLE_FIELDS = ("tags", "category", "subject", "at", "metadata", "valid_from", "valid_until", "expires")


def _change_option(flag: str, metavar: str, text: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=text)


UpdatedIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id as remember, recall and list print it.")]
NewTextArgument = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="What it says from now on.")]


@dataclass(frozen=True)
class UpdateCommandOptions:
    """What may be changed besides the text."""

    tag: Annotated[
        list[str] | None, _change_option("--tag", "NAME", "Its tags, in place of those it has. Repeatable.")
    ] = None
    category: Annotated[str | None, _change_option("--category", "NAME", "What kind of fact it is.")] = None
    subject: Annotated[str | None, _change_option("--subject", "NAME", "What it is about.")] = None
    at: Annotated[str | None, _change_option("--at", "TIME", "When it happened, as in 2026-05-08T13:56.")] = None
    meta: Annotated[
        list[str] | None, _change_option("--meta", "KEY=VALUE", "Its metadata, in place of what it has. Repeatable.")
    ] = None
    valid_from: Annotated[str | None, _change_option("--valid-from", "TIME", "From when on it holds.")] = None
    valid_until: Annotated[str | None, _change_option("--valid-until", "TIME", "Until when it holds.")] = None
    expires: Annotated[str | None, _change_option("--expires", "TIME", "When it is no longer to be recalled.")] = None
    clear: Annotated[
        list[str] | None,
        _change_option("--clear", "NAME", f"Take a value away: {', '.join(CLEARABLE_FIELDS)}. Repeatable."),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """What was said, in the keywords of Memory.update."""
        plain = {label: getattr(self, label) for label in CLEARABLE_FIELDS if label not in {"tags", "metadata"}}
        said = plain | {"tags": self.tag, "metadata": parse_pairs(self.meta or [], "--meta")}
        given = {label: value for label, value in said.items() if value not in (None, [], {})}
        return {**dict.fromkeys(self._cleared(given)), **given}

    def _cleared(self, given: dict[str, Any]) -> list[str]:
        for label in self.clear or ():
            if label not in CLEARABLE_FIELDS:
                raise InvalidInput(f"{label} cannot be cleared.", way_out=f"These can: {', '.join(CLEARABLE_FIELDS)}.")
            if label in given:
                raise InvalidInput(f"{label} is both given and cleared.", way_out="Do one of the two.")
        return self.clear or []


def update(
    *, id: UpdatedIdArgument, text: NewTextArgument = None, changes: UpdateCommandOptions, call: GlobalOptions
) -> None:
    """Change a fact under its id. What it said before is kept: cofire show ID tells it.

    cofire update 01J… "Ana leads the Porto office."
    """
    said = changes.keywords | ({} if text is None else {"text": text})
    if not said:
        raise InvalidInput("Nothing says what to change.", way_out="Give a new TEXT, or an option such as --tag.")
    with call.memory() as memory:
        fact = memory.update(id, **said)
    if call.as_json:
        return show_json({"fact": explain.fact_json(fact)})
    return show_fact_summary(fact)


ShownIdsArgument = Annotated[
    list[str], typer.Argument(metavar="ID", help="Ids as remember, recall and list print them.")
]
LinkLimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", help="At most so many links of each fact.", show_default=True)
]


class PortraitLike(Protocol):
    """A fact with all that hangs on it."""

    @property
    def fact(self) -> Fact: ...
    @property
    def links(self) -> Sequence[Link]: ...
    @property
    def descriptions(self) -> Sequence[str]: ...
    @property
    def importance(self) -> FactImportance | None: ...
    @property
    def history(self) -> Sequence[FactVersion]: ...
    @property
    def use(self) -> FeedbackCounts: ...
    @property
    def archived_because(self) -> str | None: ...


def show_facts(*, ids: ShownIdsArgument, limit: LinkLimitOption = 20, call: GlobalOptions) -> None:
    """Show everything about some facts: what was said, the links to other facts, and how important each is."""
    with call.shelf() as memory:
        portraits = [memory.portrait(id, limit=limit) for id in dict.fromkeys(ids)]
        texts = fetch_texts(
            memory, (end for one in portraits for link in one.links for end in (link.source, link.target))
        )
    if call.as_json:
        return show_json({"facts": [portrait_json(one, texts) for one in portraits]})
    for place, portrait in enumerate(portraits):
        if place:
            show_text()
        _show_portrait(portrait, texts, limit)
    return None


def portrait_json(portrait: PortraitLike, texts: dict[str, str]) -> dict[str, Any]:
    """A fact as plain values, with what hangs on it."""
    id, rated = portrait.fact.id, portrait.importance
    links = [{**explain.link_json(link), "text": texts[find_other_end(link, id)]} for link in portrait.links]
    return {
        **explain.fact_json(portrait.fact),
        "links": links,
        "descriptions": list(portrait.descriptions),
        "importance": {"pagerank": rated.pagerank, "community": rated.community} if rated else None,
        "use": use_json(portrait.use),
        "history": [past_version_json(past) for past in portrait.history],
        "archived_because": portrait.archived_because,
    }


def past_version_json(past: FactVersion) -> dict[str, Any]:
    """What a fact said before, as plain values."""
    return {"until": past.until.isoformat(), **explain.fact_json(past.fact)}


def use_json(use: FeedbackCounts) -> dict[str, Any]:
    """How a fact fared, as plain values."""
    return {"helped": use.helped, "hurt": use.hurt, "success": use.success}


def _show_portrait(portrait: PortraitLike, texts: dict[str, str], limit: int) -> None:
    show_fact_details(portrait.fact, _format_portrait(portrait))
    if portrait.links:
        more = f", the strongest; there may be more: --limit {limit * 10}" if len(portrait.links) == limit else ""
        show_text(styled_text(f"{format_count(len(portrait.links), 'link')}{more}", "bold"))
        show_links(portrait.links, portrait.fact.id, texts)


def _format_portrait(portrait: PortraitLike) -> dict[str, str]:
    """Where the fact stands in the graph, and what it is described by."""
    rated = portrait.importance
    importance = f"{rated.pagerank:.4f}, in community {rated.community}" if rated else "not known before a dream"
    described = {"described": "\n".join(portrait.descriptions)} if portrait.descriptions else {}
    use = portrait.use
    fared = {"fared": f"helped {use.helped:,}×, hurt {use.hurt:,}×"} if use.helped or use.hurt else {}
    said = "\n".join(_describe_history(portrait))
    archived = {"archived because": portrait.archived_because} if portrait.archived_because else {}
    return described | {"importance": importance} | fared | ({"history": said} if said else {}) | archived


def _describe_history(portrait: PortraitLike) -> Iterator[str]:
    later = [*(past.fact for past in portrait.history), portrait.fact][1:]
    for past, fact in zip(portrait.history, later, strict=True):
        yield f"until {past.until:%Y-%m-%d %H:%M}: {describe_change(past.fact, fact)}"


def describe_change(before: Fact, after: Fact) -> str:
    """What a fact said that it said no more after a change.

    >>> describe_change(Fact("Tea at four.", tags=("tea",)), Fact("Tea at five.", tags=("tea",), category="habit"))
    'Tea at four. · no category'
    """
    was, now = explain.fact_json(before), explain.fact_json(after)
    changed = {label.replace("_", " "): was[label] for label in CLEARABLE_FIELDS if was[label] != now[label]}
    values = [f"{label} {format_value(value)}" if value else f"no {label}" for label, value in changed.items()]
    text = [before.text] if before.text != after.text or not values else []
    return " · ".join([*text, *values])


IdsArgument = Annotated[list[str], typer.Argument(metavar="ID", help="Ids as remember, recall and list print them.")]


def pin(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Pin facts: they never fade and are never archived by themselves."""
    _change_facts(call, lambda memory: memory.pin(ids), "Pinned")


def unpin(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Let pinned facts fade again like others."""
    _change_facts(call, lambda memory: memory.unpin(ids), "Unpinned")


def archive(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Put facts out of recall without losing them."""
    _change_facts(call, lambda memory: memory.archive(ids), "Archived")


def unarchive(*, ids: IdsArgument, call: GlobalOptions) -> None:
    """Bring archived facts back into recall."""
    _change_facts(call, lambda memory: memory.restore(ids), "Brought back")


def _change_facts(call: GlobalOptions, verb: Callable[[cofire.Memory], list[Fact]], done: str) -> None:
    with call.shelf() as memory:
        changed = verb(memory)
    if call.as_json:
        return show_json({"facts": facts_json(changed)})
    return show_text(f"{done} {format_count(len(changed), 'fact')}." if changed else "Nothing was to be changed.")
