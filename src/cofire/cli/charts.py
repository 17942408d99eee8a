"""Recall results drawn at a terminal: score bars by channel, and graph paths as chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from cofire import explain
from cofire.activation_paths import ActivationHop
from cofire.cli.layout import SCORE_DECIMALS, clip_text, format_fact_marks, format_rank, format_score, show_hits
from cofire.cli.terminal import MAX_WIDTH, escape_controls, show_text, stdout_console, styled_text
from cofire.results import ChannelScore, Hit, Recollection

MAX_BAR_LENGTH = 60
THIS_FACT = "this fact"
_BAR_GLYPH, _AXIS_GLYPH = "━", "│"
_COLUMN_GAP = "  "
_START_GLYPH, _END_GLYPH, _BEND_GLYPH = "○ ", "● ", "╰─"
# A text that is cut shorter than this says nothing; it then stands on a line of its own.
_MIN_TEXT_LENGTH = 24
# The sixteen colours of the terminal follow its theme, so they can be read on light and on dark.
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
    """How many columns a point of score is wide, and how many columns stand left of nothing."""

    columns: float
    below: int
    letters: Mapping[str, str]


def show_recollection(found: Recollection, *, explained: bool) -> None:
    """The hits of a recall: drawn at a terminal, as plain lines in a pipe."""
    if stdout_console().is_terminal:
        draw_hits(found, explained=explained)
    else:
        show_hits(found)


def draw_hits(found: Recollection, *, explained: bool) -> None:
    """The hits, best first: score and text, under it the bar, what it is made of, and the way that led there."""
    places = len(str(len(found)))
    scores = max(len(format_score(hit.score)) for hit in found)
    scale = make_bar_scale(found.hits, available_bar_length(places + scores + 4))
    for place, hit in enumerate(found, start=1):
        lead = Text.assemble(
            (f"{place:>{places}}  ", "dim"), (format_score(hit.score).rjust(scores), "bold cyan"), "  "
        )
        show_text(styled_text(hit.text, "bold"), lead=lead, indent=lead.cell_len)
        draw_score(hit, scale, indent=lead.cell_len)
        if explained:
            draw_paths(hit, found.texts, indent=lead.cell_len)
        show_text(format_fact_marks(hit.fact), indent=lead.cell_len)
        if place < len(found):
            show_text()


def draw_score(hit: Hit, scale: BarScale, *, indent: int) -> None:
    """The bar of a hit, and under it the same in words and numbers."""
    show_text(make_score_bar(hit.channels, scale), indent=indent)
    show_wrapped_pieces(format_score_parts(hit, scale), indent=indent)


def available_bar_length(indent: int) -> int:
    """How long a bar may be beside what stands before it."""
    return max(20, min(MAX_BAR_LENGTH, _usable_width(stdout_console()) - indent))


def make_bar_scale(hits: Iterable[Hit], room: int) -> BarScale:
    """One scale for several hits, so that their bars can be compared."""
    given = [hit.channels for hit in hits]
    most = max((_sum_contributions(one, above=True) for one in given), default=0.0)
    least = max((_sum_contributions(one, above=False) for one in given), default=0.0)
    columns = (room - 1) / (most + least) if most + least else 0.0
    return BarScale(
        columns, round(least * columns), assign_letters(dict.fromkeys(name for one in given for name in one))
    )


def assign_letters(names: Iterable[str]) -> dict[str, str]:
    """A letter for each channel: the first of its name that no other has.

    >>> assign_letters(["semantic", "keyword", "sales"])
    {'semantic': 's', 'keyword': 'k', 'sales': 'a'}
    """
    chosen: dict[str, str] = {}
    for name in names:
        free = [letter for letter in escape_controls(name) if letter not in chosen.values()]
        chosen[name] = free[0] if free else "?"
    return chosen


def make_score_bar(channels: Mapping[str, ChannelScore], scale: BarScale) -> Text:
    """What the channels give, end to end from an axis on; what they take away stands left of it."""
    below = _make_bar_side(channels, scale, above=False)
    line = Text(" " * (scale.below - below.cell_len)).append_text(below)
    if scale.below:
        line.append(_AXIS_GLYPH, "dim")
    return line.append_text(_make_bar_side(channels, scale, above=True))


def format_score_parts(hit: Hit, scale: BarScale) -> list[Text]:
    """The parts of the score, which add up to it: name with its letter marked, the fact's place in the channel, and the value."""
    return [
        format_channel_name(name, scale).append(f"{format_rank(hit.channels[name])} {format_score(gives, '+')}", "dim")
        for name, gives in explain.round_shown_parts(hit, SCORE_DECIMALS).items()
    ]


def format_channel_name(name: str, scale: BarScale) -> Text:
    """The name of a channel in its colour, with the letter marked that stands for it in the bars."""
    spelled = styled_text(name, _channel_colour(name))
    at = spelled.plain.find(scale.letters[name])
    if at >= 0:
        spelled.stylize("bold underline", at, at + 1)
    return spelled


def show_wrapped_pieces(pieces: Iterable[Text], *, indent: int) -> None:
    """Pieces beside one another, as many on a line as fit; none is broken."""
    line = Text()
    for piece in pieces:
        if line and indent + line.cell_len + len(_COLUMN_GAP) + piece.cell_len > _usable_width(stdout_console()):
            show_text(line, indent=indent)
            line = Text()
        line = Text(_COLUMN_GAP).join([line, piece]) if line else piece
    show_text(line, indent=indent)


def _make_bar_side(channels: Mapping[str, ChannelScore], scale: BarScale, *, above: bool) -> Text:
    """Rounded where each part ends, not part by part: so the whole is as long as the sum."""
    line, reached = Text(), 0.0
    for name, heard in channels.items():
        reached += _signed_contribution(heard, above=above)
        columns = round(reached * scale.columns) - line.cell_len
        if columns > 0:
            line.append(scale.letters[name], _bold_style(name)).append(
                _BAR_GLYPH * (columns - 1), _channel_colour(name)
            )
    return line


def _signed_contribution(heard: ChannelScore, *, above: bool) -> float:
    return max(0.0, heard.gives if above else -heard.gives)


def _sum_contributions(channels: Mapping[str, ChannelScore], *, above: bool) -> float:
    return sum(_signed_contribution(heard, above=above) for heard in channels.values())


def draw_paths(hit: Hit, texts: Mapping[str, str], *, indent: int) -> None:
    """How the graph came to a hit: hop by hop from a fact that was found, or from the two facts that it connects."""
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
    line = lead.append_text(styled_text(" ".join(text.split())))
    line.truncate(room, overflow="ellipsis")
    show_text(line, indent=indent)


def _format_hop(hop: ActivationHop) -> Text:
    """
    >>> _format_hop(ActivationHop("a", "b", "entity", 0.2, 0.7, "pool", 0.1)).plain
    '╰─entity via pool .70→ '
    """
    via = f" via {clip_text(hop.via, _MIN_TEXT_LENGTH)}" if hop.via else ""
    trust = 1.0 if hop.confidence is None else hop.confidence
    return Text.assemble(
        (_BEND_GLYPH, "cyan"), styled_text(f"{hop.kind}{via} ", "cyan"), (f"{_format_share(trust)}→ ", "cyan")
    )


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


def _bold_style(name: str) -> str:
    return f"bold {_channel_colour(name)}"
