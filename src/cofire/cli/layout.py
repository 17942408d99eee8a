"""Text layout of facts, hits, edges and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text

import cofire
from cofire import explain
from cofire.cli.terminal import show_text, styled_text
from cofire.model import DEFAULT_SCOPE, Edge, Fact, Link
from cofire.results import ChannelScore, Hit, Recollection
from cofire.stores.edge_kinds import is_symmetric_kind

MAX_TEXT_LENGTH = 280
SCORE_DECIMALS = 2
_SEPARATOR = " · "


def show_hits(found: Recollection) -> None:
    """The hits, best first: place, score and text, and under it what each channel gave, and the id."""
    places = len(str(len(found)))
    scores = max(len(format_score(hit.score)) for hit in found)
    for place, hit in enumerate(found, start=1):
        lead = Text.assemble(
            (f"{place:>{places}}  ", "dim"), (format_score(hit.score).rjust(scores), "bold cyan"), "  "
        )
        show_text(styled_text(hit.text), lead=lead, indent=lead.cell_len)
        show_text(styled_text(format_channels(hit), "dim"), indent=lead.cell_len)
        show_text(format_fact_marks(hit.fact), indent=lead.cell_len)


def format_channels(hit: Hit) -> str:
    """The parts of the score, which add up to it: what each channel gives, with the fact's place there, and every other addend."""
    return _SEPARATOR.join(
        f"{name}{format_rank(hit.channels[name])} {format_score(gives, '+')}"
        for name, gives in explain.round_shown_parts(hit, SCORE_DECIMALS).items()
    )


def format_rank(heard: ChannelScore) -> str:
    """The place of a fact in a channel; empty for an addend that is no channel."""
    return "" if heard.rank is None else f" #{heard.rank}"


def show_fact_summary(fact: Fact, *, console: Console | None = None) -> None:
    """A fact in a list: its text, shortened, and under it its id and marks."""
    show_text(styled_text(shorten_text(fact.text)), console=console)
    show_text(format_fact_marks(fact), indent=2, console=console)


def show_fact_details(fact: Fact, besides: Mapping[str, str]) -> None:
    """Everything about a fact, and what else is to be said of it."""
    show_text(styled_text(fact.text, "bold"))
    known = {
        label: format_value(value) for label, value in explain.fact_json(fact).items() if value not in _EMPTY_VALUES
    }
    told = {label.replace("_", " "): value for label, value in known.items() if label != "text"}
    show_label_values({**told, **besides}, indent=2)


_EMPTY_VALUES: tuple[Any, ...] = (None, "", False, 0, [], {})


def show_label_values(pairs: Mapping[str, str], *, indent: int = 0) -> None:
    """Labels in one column, what they stand for in another."""
    width = indent + max(len(label) for label in pairs) + 2
    for label, value in pairs.items():
        show_text(styled_text(value), lead=styled_text(" " * indent + label, "dim"), indent=width)


def format_fact_marks(fact: Fact) -> Text:
    """The id of a fact, then its date, speaker, subject, tags, source and scope."""
    scope = f"scope {fact.scope}" if fact.scope != DEFAULT_SCOPE else None
    replaced = f"superseded by {', '.join(fact.superseded_by)}" if fact.superseded_by else None
    tags = (f"#{tag}" for tag in fact.tags)
    marks = [_format_day(fact.time), fact.speaker, fact.subject, *tags, fact.source, scope, replaced]
    said = _SEPARATOR.join(mark for mark in marks if mark)
    return Text.assemble(styled_text(fact.id, "cyan"), styled_text(f"  {said}", "dim"))


def shorten_text(text: str) -> str:
    """A long text on one line, cut where it becomes too long to skim."""
    return clip_text(text, MAX_TEXT_LENGTH)


def clip_text(text: str, length: int) -> str:
    """A text on one line, of at most so many letters.

    >>> clip_text("tea\\n at  four", 20), clip_text("tea at four", 6)
    ('tea at four', 'tea a…')
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def format_score(score: float, sign: str = "") -> str:
    """A score in two decimals; almost nothing is nothing, from below too.

    >>> format_score(-0.001), format_score(1.234, "+")
    ('0.00', '+1.23')
    """
    return f"{round(score, SCORE_DECIMALS) + 0.0:{sign}.{SCORE_DECIMALS}f}"


def _format_day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


def format_value(value: Any) -> str:
    """A value in words, without the marks of a program.

    >>> format_value(["db", "prod"]), format_value({"page": 3})
    ('db, prod', 'page=3')
    """
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{label}={one}" for label, one in value.items())
    return str(value)


EDGE_COLUMNS = ("kind", "weight", "confidence", "origin")
MAX_END_LENGTH = 60
_ARROW_BOTH, _ARROW_TO, _ARROW_FROM = "↔", "→", "←"
_NUMBER_COLUMNS = (1, 2)
_NO_VALUE = "–"
# Links through a name that both facts mention are made when they are read, and have no direction.
_NAME_LINK_KIND = "entity"


def show_edges(edges: Sequence[Edge], texts: Mapping[str, str]) -> None:
    """A table, an edge a row: what it is, then the two facts; under them their ids."""
    rows = [_edge_cells(edge) for edge in edges]
    widths = _column_widths([EDGE_COLUMNS, *rows])
    head = _format_row(EDGE_COLUMNS, widths, "dim")
    show_text(styled_text("facts", "dim"), lead=head, indent=head.cell_len)
    for edge, row in zip(edges, rows, strict=True):
        lead = _format_row(row, widths, "cyan")
        arrow = _ARROW_BOTH if _is_undirected(edge) else _ARROW_TO
        facts = f"{_clip_end(texts, edge.source)} {arrow} {_clip_end(texts, edge.target)}"
        show_text(facts, lead=lead, indent=lead.cell_len)
        show_text(styled_text(f"{edge.source} {arrow} {edge.target}", "dim"), indent=lead.cell_len)


def show_links(links: Sequence[Link], seen_from: str, texts: Mapping[str, str]) -> None:
    """Links of a fact: which way each goes, what it is and through what, then the other fact and its id."""
    rows = [(link_arrow(link, seen_from), *_edge_cells(link)) for link in links]
    widths = _column_widths([("", *EDGE_COLUMNS), *rows])
    head = _format_link_row(("", *EDGE_COLUMNS), widths, "dim")
    show_text(styled_text("fact", "dim"), lead=head, indent=head.cell_len)
    for link, row in zip(links, rows, strict=True):
        lead = _format_link_row(row, widths, "cyan")
        other = find_other_end(link, seen_from)
        via = f"  via {link.via}" if link.via else ""
        show_text(_clip_end(texts, other), lead=lead, indent=lead.cell_len)
        show_text(styled_text(f"{other}{via}", "dim"), indent=lead.cell_len)


def link_arrow(link: Edge, seen_from: str) -> str:
    """Which way a link goes, for whoever stands at one of its ends.

    >>> (
    ...     link_arrow(Edge("a", "b", "causes"), "a"),
    ...     link_arrow(Edge("a", "b", "causes"), "b"),
    ...     link_arrow(Edge("a", "b", "similar"), "b"),
    ... )
    ('→', '←', '↔')
    """
    if _is_undirected(link):
        return _ARROW_BOTH
    return _ARROW_TO if link.source == seen_from else _ARROW_FROM


def find_other_end(link: Edge, seen_from: str) -> str:
    """The fact at the other end of a link."""
    return link.target if link.source == seen_from else link.source


def fetch_texts(memory: cofire.Memory, ids: Iterable[str]) -> dict[str, str]:
    """The texts of facts, by id."""
    return {fact.id: fact.text for fact in memory.facts(set(ids))}


def _is_undirected(edge: Edge) -> bool:
    return edge.kind == _NAME_LINK_KIND or is_symmetric_kind(edge.kind)


def _edge_cells(edge: Edge) -> tuple[str, ...]:
    return edge.kind, _format_number(edge.weight), _format_number(edge.confidence), edge.origin


def _format_number(value: float | None) -> str:
    return _NO_VALUE if value is None else format_score(value)


def _column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(Text(cell).cell_len for cell in column) for column in zip(*rows, strict=True)]


def _format_row(
    cells: Sequence[str], widths: Sequence[int], style: str, numbers: Sequence[int] = _NUMBER_COLUMNS
) -> Text:
    line = Text()
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        text = styled_text(cell, style)
        text.align("right" if place in numbers else "left", width)
        line.append_text(text).append("  ")
    return line


def _format_link_row(cells: Sequence[str], widths: Sequence[int], style: str) -> Text:
    return Text("  ").append_text(_format_row(cells, widths, style, numbers=[place + 1 for place in _NUMBER_COLUMNS]))


def _clip_end(texts: Mapping[str, str], id: str) -> str:
    return clip_text(texts[id], MAX_END_LENGTH)
