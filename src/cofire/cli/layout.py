"""Facts, hits, edges, score bars and graph paths laid out for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text

import cofire
from cofire import explain
from cofire.activation_paths import ActivationHop
from cofire.cli.terminal import MAX_WIDTH, show_text, stdout_console, styled_text
from cofire.explain import flatten_text, shorten_text
from cofire.interfaces.json_shapes import find_other_end
from cofire.interfaces.plain_text import SCORE_DECIMALS, escape_controls, format_score
from cofire.model import DEFAULT_SCOPE, Edge, Fact, Link
from cofire.results import ChannelScore, Hit, Recollection
from cofire.stores.edge_kinds import is_symmetric_kind

MAX_TEXT_LENGTH = 280
_SEPARATOR = " · "
_EMPTY_VALUES: tuple[Any, ...] = (None, "", False, 0, [], {})


# Facts


def show_fact_summary(fact: Fact, *, console: Console | None = None) -> None:
    """A fact in a list: its shortened text, and below it the id and marks."""
    show_text(styled_text(shorten_text(fact.text, MAX_TEXT_LENGTH)), console=console)
    show_text(format_fact_marks(fact), indent=2, console=console)


def show_fact_details(fact: Fact, extra: Mapping[str, str]) -> None:
    """The text and all fields of a fact that are set, and further values by label."""
    show_text(styled_text(fact.text, "bold"))
    values = {
        label.replace("_", " "): format_value(value)
        for label, value in explain.fact_json(fact).items()
        if label != "text" and value not in _EMPTY_VALUES
    }
    show_label_values({**values, **extra}, indent=2)


def show_label_values(pairs: Mapping[str, str], *, indent: int = 0) -> None:
    """Labels in one column, their values in another."""
    width = indent + max(len(label) for label in pairs) + 2
    for label, value in pairs.items():
        show_text(styled_text(value), lead=styled_text(" " * indent + label, "dim"), indent=width)


def format_fact_marks(fact: Fact) -> Text:
    """The id of a fact, then its date, speaker, subject, tags, source and scope."""
    marks = [
        _format_day(fact.time),
        fact.speaker,
        fact.subject,
        *(f"#{tag}" for tag in fact.tags),
        fact.source,
        f"scope {fact.scope}" if fact.scope != DEFAULT_SCOPE else None,
        f"superseded by {', '.join(fact.superseded_by)}" if fact.superseded_by else None,
    ]
    line = _SEPARATOR.join(mark for mark in marks if mark)
    return Text.assemble(styled_text(fact.id, "cyan"), styled_text(f"  {line}", "dim"))


def _format_day(time: datetime | None) -> str | None:
    return time.date().isoformat() if time else None


def format_value(value: Any) -> str:
    """A value without Python syntax.

    >>> format_value(["db", "prod"]), format_value({"page": 3})
    ('db, prod', 'page=3')
    """
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{label}={item}" for label, item in value.items())
    return str(value)


def format_setting_value(value: object) -> str:
    """A setting's value as it is typed or written in a file: true, not True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# Edges and links

EDGE_COLUMNS = ("kind", "weight", "confidence", "origin")
MAX_END_LENGTH = 60
_ARROW_BOTH, _ARROW_TO, _ARROW_FROM = "↔", "→", "←"
_NUMBER_COLUMNS = (1, 2)
_NO_VALUE = "–"
# Links through a shared name are computed on reading and have no direction.
_NAME_LINK_KIND = "entity"


def show_edges(edges: Sequence[Edge], texts: Mapping[str, str]) -> None:
    """A table with one edge per row, followed by its two facts and their ids."""
    rows = [_edge_cells(edge) for edge in edges]
    widths = _column_widths([EDGE_COLUMNS, *rows])
    head = _format_row(EDGE_COLUMNS, widths, "dim")
    show_text(styled_text("facts", "dim"), lead=head, indent=head.cell_len)
    for edge, row in zip(edges, rows, strict=True):
        lead = _format_row(row, widths, "cyan")
        arrow = _ARROW_BOTH if _is_undirected(edge) else _ARROW_TO
        facts = f"{_shorten_end(texts, edge.source)} {arrow} {_shorten_end(texts, edge.target)}"
        show_text(facts, lead=lead, indent=lead.cell_len)
        show_text(styled_text(f"{edge.source} {arrow} {edge.target}", "dim"), indent=lead.cell_len)


def show_links(links: Sequence[Link], seen_from: str, texts: Mapping[str, str]) -> None:
    """A table with one link of a fact per row: direction, kind, weight, and the other fact."""
    rows = [(link_arrow(link, seen_from), *_edge_cells(link)) for link in links]
    widths = _column_widths([("", *EDGE_COLUMNS), *rows])
    head = _format_link_row(("", *EDGE_COLUMNS), widths, "dim")
    show_text(styled_text("fact", "dim"), lead=head, indent=head.cell_len)
    for link, row in zip(links, rows, strict=True):
        lead = _format_link_row(row, widths, "cyan")
        other = find_other_end(link, seen_from)
        via = f"  via {link.via}" if link.via else ""
        show_text(_shorten_end(texts, other), lead=lead, indent=lead.cell_len)
        show_text(styled_text(f"{other}{via}", "dim"), indent=lead.cell_len)


def link_arrow(link: Edge, seen_from: str) -> str:
    """The direction of a link, seen from one of its facts.

    >>> causes, similar = Edge("a", "b", "causes"), Edge("a", "b", "similar")
    >>> link_arrow(causes, "a"), link_arrow(causes, "b"), link_arrow(similar, "b")
    ('→', '←', '↔')
    """
    if _is_undirected(link):
        return _ARROW_BOTH
    return _ARROW_TO if link.source == seen_from else _ARROW_FROM


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
    for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        text = styled_text(cell, style)
        text.align("right" if column in numbers else "left", width)
        line.append_text(text).append("  ")
    return line


def _format_link_row(cells: Sequence[str], widths: Sequence[int], style: str) -> Text:
    numbers = [column + 1 for column in _NUMBER_COLUMNS]
    return Text("  ").append_text(_format_row(cells, widths, style, numbers))


def _shorten_end(texts: Mapping[str, str], id: str) -> str:
    return shorten_text(texts[id], MAX_END_LENGTH)


# Hits

MAX_BAR_LENGTH = 60
THIS_FACT = "this fact"
_BAR_GLYPH, _AXIS_GLYPH = "━", "│"
_COLUMN_GAP = "  "
_START_GLYPH, _END_GLYPH, _BEND_GLYPH = "○ ", "● ", "╰─"
# With less room than this a text goes to a line of its own.
_MIN_TEXT_LENGTH = 24
# The sixteen terminal colours follow the theme, so they are readable on light and on dark.
_CHANNEL_COLOURS = {
    "semantic": "blue",
    "keyword": "green",
    "entity": "magenta",
    "temporal": "yellow",
    "activation": "cyan",
    "coverage": "bright_blue",
    "importance": "bright_green",
    "bridges": "bright_magenta",
    "prior": "red",
    "recency": "bright_cyan",
}
_CUSTOM_CHANNEL_COLOUR = "bright_yellow"


@dataclass(frozen=True)
class BarScale:
    """Columns per point of score, columns left of the axis, and the letter of each channel."""

    columns: float
    below: int
    letters: Mapping[str, str]


def show_recollection(recollection: Recollection, *, explained: bool) -> None:
    """The hits of a recall: with score bars on a terminal, as plain lines in a pipe."""
    if stdout_console().is_terminal:
        draw_hits(recollection, explained=explained)
    else:
        show_hits(recollection)


def show_hits(recollection: Recollection) -> None:
    """The hits, best first: rank, score and text; below them the channel scores and the id."""
    rank_width = len(str(len(recollection)))
    score_width = max(len(format_score(hit.score)) for hit in recollection)
    for rank, hit in enumerate(recollection, start=1):
        lead = _format_hit_lead(rank, rank_width, hit, score_width)
        show_text(styled_text(hit.text), lead=lead, indent=lead.cell_len)
        show_text(styled_text(format_channels(hit), "dim"), indent=lead.cell_len)
        show_text(format_fact_marks(hit.fact), indent=lead.cell_len)


def draw_hits(recollection: Recollection, *, explained: bool) -> None:
    """The hits, best first: score and text; below them the score bar, its parts and the graph path."""
    rank_width = len(str(len(recollection)))
    score_width = max(len(format_score(hit.score)) for hit in recollection)
    scale = make_bar_scale(recollection.hits, available_bar_length(rank_width + score_width + 4))
    for rank, hit in enumerate(recollection, start=1):
        lead = _format_hit_lead(rank, rank_width, hit, score_width)
        show_text(styled_text(hit.text, "bold"), lead=lead, indent=lead.cell_len)
        draw_score(hit, scale, indent=lead.cell_len)
        if explained:
            draw_paths(hit, recollection.texts, indent=lead.cell_len)
        show_text(format_fact_marks(hit.fact), indent=lead.cell_len)
        if rank < len(recollection):
            show_text()


def _format_hit_lead(rank: int, rank_width: int, hit: Hit, score_width: int) -> Text:
    score = format_score(hit.score).rjust(score_width)
    return Text.assemble((f"{rank:>{rank_width}}  ", "dim"), (score, "bold cyan"), "  ")


def format_channels(hit: Hit) -> str:
    """The parts of the score, which sum to it: channel, rank in the channel, and contribution."""
    shares = explain.round_shown_parts(hit, SCORE_DECIMALS)
    parts = [f"{name}{format_rank(hit.channels[name])} {format_score(share, '+')}" for name, share in shares.items()]
    return _SEPARATOR.join(parts)


def format_rank(score: ChannelScore) -> str:
    """The rank of a fact in a channel; empty for a part that is not a channel."""
    return "" if score.rank is None else f" #{score.rank}"


def draw_score(hit: Hit, scale: BarScale, *, indent: int) -> None:
    """The score bar of a hit, and below it the parts as text."""
    show_text(make_score_bar(hit.channels, scale), indent=indent)
    show_wrapped_pieces(format_score_parts(hit, scale), indent=indent)


def available_bar_length(indent: int) -> int:
    """The longest bar that fits beside an indent."""
    return max(20, min(MAX_BAR_LENGTH, _usable_width(stdout_console()) - indent))


def make_bar_scale(hits: Iterable[Hit], room: int) -> BarScale:
    """One scale for several hits, so that their bars can be compared."""
    channels_by_hit = [hit.channels for hit in hits]
    above = max((_sum_contributions(channels, above=True) for channels in channels_by_hit), default=0.0)
    below = max((_sum_contributions(channels, above=False) for channels in channels_by_hit), default=0.0)
    columns = (room - 1) / (above + below) if above + below else 0.0
    names = dict.fromkeys(name for channels in channels_by_hit for name in channels)
    return BarScale(columns, round(below * columns), assign_letters(names))


def assign_letters(names: Iterable[str]) -> dict[str, str]:
    """A letter for each channel: the first letter of its name that is still free.

    >>> assign_letters(["semantic", "keyword", "sales"])
    {'semantic': 's', 'keyword': 'k', 'sales': 'a'}
    """
    letters: dict[str, str] = {}
    for name in names:
        free = [letter for letter in escape_controls(name) if letter not in letters.values()]
        letters[name] = free[0] if free else "?"
    return letters


def make_score_bar(channels: Mapping[str, ChannelScore], scale: BarScale) -> Text:
    """Positive contributions right of the axis, end to end; negative ones left of it."""
    below = _make_bar_side(channels, scale, above=False)
    line = Text(" " * (scale.below - below.cell_len)).append_text(below)
    if scale.below:
        line.append(_AXIS_GLYPH, "dim")
    return line.append_text(_make_bar_side(channels, scale, above=True))


def format_score_parts(hit: Hit, scale: BarScale) -> list[Text]:
    """The parts of the score, which sum to it: channel with its letter marked, rank, and contribution."""
    return [
        format_channel_name(name, scale).append(f"{format_rank(hit.channels[name])} {format_score(share, '+')}", "dim")
        for name, share in explain.round_shown_parts(hit, SCORE_DECIMALS).items()
    ]


def format_channel_name(name: str, scale: BarScale) -> Text:
    """The name of a channel in its colour; the letter that marks it in the bars is underlined."""
    text = styled_text(name, _channel_colour(name))
    position = text.plain.find(scale.letters[name])
    if position >= 0:
        text.stylize("bold underline", position, position + 1)
    return text


def show_wrapped_pieces(pieces: Iterable[Text], *, indent: int) -> None:
    """Print pieces side by side, as many per line as fit, without breaking one."""
    line = Text()
    for piece in pieces:
        needed = indent + line.cell_len + len(_COLUMN_GAP) + piece.cell_len
        if line and needed > _usable_width(stdout_console()):
            show_text(line, indent=indent)
            line = Text()
        line = Text(_COLUMN_GAP).join([line, piece]) if line else piece
    show_text(line, indent=indent)


def _make_bar_side(channels: Mapping[str, ChannelScore], scale: BarScale, *, above: bool) -> Text:
    """Round the running sum, not each part, so that the bar is as long as the sum."""
    line = Text()
    total = 0.0
    for name, score in channels.items():
        total += _signed_contribution(score, above=above)
        columns = round(total * scale.columns) - line.cell_len
        if columns > 0:
            colour = _channel_colour(name)
            line.append(scale.letters[name], f"bold {colour}").append(_BAR_GLYPH * (columns - 1), colour)
    return line


def _signed_contribution(score: ChannelScore, *, above: bool) -> float:
    return max(0.0, score.gives if above else -score.gives)


def _sum_contributions(channels: Mapping[str, ChannelScore], *, above: bool) -> float:
    return sum(_signed_contribution(score, above=above) for score in channels.values())


def draw_paths(hit: Hit, texts: Mapping[str, str], *, indent: int) -> None:
    """The graph path to a hit, hop by hop, and the links from the two results that it bridges."""
    if hit.hops:
        _draw_path(hit.hops, texts, indent)
    for hop in hit.bridge:
        _draw_path([hop], texts, indent)


def _draw_path(hops: Sequence[ActivationHop], texts: Mapping[str, str], indent: int) -> None:
    room = _usable_width(stdout_console()) - indent
    _draw_fact(Text(_START_GLYPH, "cyan"), texts.get(hops[0].source, hops[0].source), room, indent)
    for hop in hops[:-1]:
        _draw_hop(hop, texts.get(hop.target, hop.target), room, indent)
    show_text(_format_hop(hops[-1]).append(_END_GLYPH, "bold cyan").append(THIS_FACT), indent=indent)


def _draw_hop(hop: ActivationHop, text: str, room: int, indent: int) -> None:
    lead = _format_hop(hop).append(_START_GLYPH, "cyan")
    if room - lead.cell_len >= min(_MIN_TEXT_LENGTH, Text(text).cell_len):
        return _draw_fact(lead, text, room, indent)
    show_text(_format_hop(hop), indent=indent)
    return _draw_fact(Text(_START_GLYPH, "cyan"), text, room, indent)


def _draw_fact(lead: Text, text: str, room: int, indent: int) -> None:
    line = lead.append_text(styled_text(flatten_text(text)))
    line.truncate(room, overflow="ellipsis")
    show_text(line, indent=indent)


def _format_hop(hop: ActivationHop) -> Text:
    """
    >>> _format_hop(ActivationHop("a", "b", "entity", 0.2, 0.7, "pool", 0.1)).plain
    '╰─entity via pool .70→ '
    """
    via = f" via {shorten_text(hop.via, _MIN_TEXT_LENGTH)}" if hop.via else ""
    confidence = _format_share(1.0 if hop.confidence is None else hop.confidence)
    return Text.assemble((_BEND_GLYPH, "cyan"), styled_text(f"{hop.kind}{via} ", "cyan"), (f"{confidence}→ ", "cyan"))


def _format_share(share: float) -> str:
    """
    >>> _format_share(0.7), _format_share(1.0)
    ('.70', '1.0')
    """
    return "1.0" if round(share, 2) >= 1 else f"{share:.2f}".removeprefix("0")


def _usable_width(console: Console) -> int:
    return min(console.width, MAX_WIDTH)


def _channel_colour(name: str) -> str:
    return _CHANNEL_COLOURS.get(name, _CUSTOM_CHANNEL_COLOUR)
