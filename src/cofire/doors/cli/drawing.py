"""Drawing on a terminal: scores as bars made of what each channel gives, and ways through the graph as chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from cofire import xray
from cofire.doors.cli.layout import DECIMALS, clipped, mark_line, place_in, rounded, show_hits
from cofire.doors.cli.screen import WIDEST, harmless, out, show, styled
from cofire.recollection import Heard, Hit, Recollection
from cofire.spreads import Hop

LONGEST_BAR = 60
THIS = "this fact"
_LINE, _AXIS = "━", "│"
_GAP = "  "
_START, _END, _BEND = "○ ", "● ", "╰─"
# A text that is cut shorter than this says nothing; it then stands on a line of its own.
_LEAST_TEXT = 24
# The sixteen colours of the terminal follow its theme, so they can be read on light and on dark.
_COLOURS = {
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
_OWN = "bright_yellow"


@dataclass(frozen=True)
class Scale:
    """How many columns a point of score is wide, and how many columns stand left of nothing."""

    columns: float
    below: int
    letters: Mapping[str, str]


def show_found(found: Recollection, *, explained: bool) -> None:
    """The hits of a recall: drawn at a terminal, as plain lines in a pipe."""
    if out().is_terminal:
        draw_hits(found, explained=explained)
    else:
        show_hits(found)


def draw_hits(found: Recollection, *, explained: bool) -> None:
    """The hits, best first: score and text, under it the bar, what it is made of, and the way that led there."""
    places = len(str(len(found)))
    scores = max(len(rounded(hit.score)) for hit in found)
    scale = scale_of(found.hits, bar_room(places + scores + 4))
    for place, hit in enumerate(found, start=1):
        lead = Text.assemble((f"{place:>{places}}  ", "dim"), (rounded(hit.score).rjust(scores), "bold cyan"), "  ")
        show(styled(hit.text, "bold"), lead=lead, indent=lead.cell_len)
        draw_score(hit, scale, indent=lead.cell_len)
        if explained:
            draw_ways(hit, found.texts, indent=lead.cell_len)
        show(mark_line(hit.fact), indent=lead.cell_len)
        if place < len(found):
            show()


def draw_score(hit: Hit, scale: Scale, *, indent: int) -> None:
    """The bar of a hit, and under it the same in words and numbers."""
    show(bar(hit.channels, scale), indent=indent)
    show_packed(in_numbers(hit, scale), indent=indent)


def bar_room(indent: int) -> int:
    """How long a bar may be beside what stands before it."""
    return max(20, min(LONGEST_BAR, _width(out()) - indent))


def scale_of(hits: Iterable[Hit], room: int) -> Scale:
    """One scale for several hits, so that their bars can be compared."""
    given = [hit.channels for hit in hits]
    most = max((_sum(one, above=True) for one in given), default=0.0)
    least = max((_sum(one, above=False) for one in given), default=0.0)
    columns = (room - 1) / (most + least) if most + least else 0.0
    return Scale(columns, round(least * columns), letters(dict.fromkeys(name for one in given for name in one)))


def letters(names: Iterable[str]) -> dict[str, str]:
    """A letter for each channel: the first of its name that no other has.

    >>> letters(["semantic", "keyword", "sales"])
    {'semantic': 's', 'keyword': 'k', 'sales': 'a'}
    """
    chosen: dict[str, str] = {}
    for name in names:
        free = [letter for letter in harmless(name) if letter not in chosen.values()]
        chosen[name] = free[0] if free else "?"
    return chosen


def bar(channels: Mapping[str, Heard], scale: Scale) -> Text:
    """What the channels give, end to end from an axis on; what they take away stands left of it."""
    below = _stretch(channels, scale, above=False)
    line = Text(" " * (scale.below - below.cell_len)).append_text(below)
    if scale.below:
        line.append(_AXIS, "dim")
    return line.append_text(_stretch(channels, scale, above=True))


def in_numbers(hit: Hit, scale: Scale) -> list[Text]:
    """The parts of the score, which add up to it: name with its letter marked, the fact's place in the channel, and the value."""
    return [
        named(name, scale).append(f"{place_in(hit.channels[name])} {rounded(gives, '+')}", "dim")
        for name, gives in xray.shown_parts(hit, DECIMALS).items()
    ]


def named(name: str, scale: Scale) -> Text:
    """The name of a channel in its colour, with the letter marked that stands for it in the bars."""
    spelled = styled(name, _colour(name))
    at = spelled.plain.find(scale.letters[name])
    if at >= 0:
        spelled.stylize("bold underline", at, at + 1)
    return spelled


def show_packed(pieces: Iterable[Text], *, indent: int) -> None:
    """Pieces beside one another, as many on a line as fit; none is broken."""
    line = Text()
    for piece in pieces:
        if line and indent + line.cell_len + len(_GAP) + piece.cell_len > _width(out()):
            show(line, indent=indent)
            line = Text()
        line = Text(_GAP).join([line, piece]) if line else piece
    show(line, indent=indent)


def _stretch(channels: Mapping[str, Heard], scale: Scale, *, above: bool) -> Text:
    """Rounded where each part ends, not part by part: so the whole is as long as the sum."""
    line, reached = Text(), 0.0
    for name, heard in channels.items():
        reached += _part(heard, above=above)
        columns = round(reached * scale.columns) - line.cell_len
        if columns > 0:
            line.append(scale.letters[name], _bold(name)).append(_LINE * (columns - 1), _colour(name))
    return line


def _part(heard: Heard, *, above: bool) -> float:
    return max(0.0, heard.gives if above else -heard.gives)


def _sum(channels: Mapping[str, Heard], *, above: bool) -> float:
    return sum(_part(heard, above=above) for heard in channels.values())


def draw_ways(hit: Hit, texts: Mapping[str, str], *, indent: int) -> None:
    """How the graph came to a hit: hop by hop from a fact that was found, or from the two facts that it connects."""
    if hit.hops:
        _draw_chain(hit.hops, texts, indent)
    for hop in hit.bridge:
        _draw_chain([hop], texts, indent)


def _draw_chain(hops: Sequence[Hop], texts: Mapping[str, str], indent: int) -> None:
    room = _width(out()) - indent
    _draw_fact(Text(_START, "cyan"), texts.get(hops[0].source, hops[0].source), room, indent)
    for hop in hops[:-1]:
        _draw_hop(hop, texts.get(hop.target, hop.target), room, indent)
    show(_arrow(hops[-1]).append(_END, "bold cyan").append(THIS), indent=indent)


def _draw_hop(hop: Hop, text: str, room: int, indent: int) -> None:
    lead = _arrow(hop).append(_START, "cyan")
    if room - lead.cell_len >= min(_LEAST_TEXT, Text(text).cell_len):
        return _draw_fact(lead, text, room, indent)
    show(_arrow(hop), indent=indent)
    return _draw_fact(Text(_START, "cyan"), text, room, indent)


def _draw_fact(lead: Text, text: str, room: int, indent: int) -> None:
    line = lead.append_text(styled(" ".join(text.split())))
    line.truncate(room, overflow="ellipsis")
    show(line, indent=indent)


def _arrow(hop: Hop) -> Text:
    """
    >>> _arrow(Hop("a", "b", "entity", 0.2, 0.7, "pool", 0.1)).plain
    '╰─entity via pool .70→ '
    """
    via = f" via {clipped(hop.via, _LEAST_TEXT)}" if hop.via else ""
    trust = 1.0 if hop.confidence is None else hop.confidence
    return Text.assemble((_BEND, "cyan"), styled(f"{hop.kind}{via} ", "cyan"), (f"{_short(trust)}→ ", "cyan"))


def _short(share: float) -> str:
    """
    >>> _short(0.7), _short(1.0)
    ('.70', '1.0')
    """
    return "1.0" if round(share, 2) >= 1 else f"{share:.2f}".removeprefix("0")


def _width(console: Console) -> int:
    return min(console.width, WIDEST)


def _colour(name: str) -> str:
    return _COLOURS.get(name, _OWN)


def _bold(name: str) -> str:
    return f"bold {_colour(name)}"
