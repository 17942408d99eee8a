"""Graph layout: how edges and links look on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.text import Text

import cofire
from cofire.doors.cli.layout import clipped, rounded
from cofire.doors.cli.screen import show, styled
from cofire.kinds import is_symmetric
from cofire.model import Edge, Link

HEAD = ("kind", "weight", "confidence", "origin")
END = 60
_BOTH, _TO, _FROM = "↔", "→", "←"
_NUMBERS = (1, 2)
_UNSAID = "–"
# Links through a name that both facts mention are made when they are read, and have no direction.
_SHARED_NAME = "entity"


def show_edges(edges: Sequence[Edge], texts: Mapping[str, str]) -> None:
    """A table, an edge a row: what it is, then the two facts; under them their ids."""
    rows = [_columns(edge) for edge in edges]
    widths = _widths([HEAD, *rows])
    head = _row(HEAD, widths, "dim")
    show(styled("facts", "dim"), lead=head, indent=head.cell_len)
    for edge, row in zip(edges, rows, strict=True):
        lead = _row(row, widths, "cyan")
        arrow = _BOTH if _is_mutual(edge) else _TO
        facts = f"{_end(texts, edge.source)} {arrow} {_end(texts, edge.target)}"
        show(facts, lead=lead, indent=lead.cell_len)
        show(styled(f"{edge.source} {arrow} {edge.target}", "dim"), indent=lead.cell_len)


def show_links(links: Sequence[Link], seen_from: str, texts: Mapping[str, str]) -> None:
    """Links of a fact: which way each goes, what it is and through what, then the other fact and its id."""
    rows = [(arrow(link, seen_from), *_columns(link)) for link in links]
    widths = _widths([("", *HEAD), *rows])
    head = _link_row(("", *HEAD), widths, "dim")
    show(styled("fact", "dim"), lead=head, indent=head.cell_len)
    for link, row in zip(links, rows, strict=True):
        lead = _link_row(row, widths, "cyan")
        other = other_end(link, seen_from)
        via = f"  via {link.via}" if link.via else ""
        show(_end(texts, other), lead=lead, indent=lead.cell_len)
        show(styled(f"{other}{via}", "dim"), indent=lead.cell_len)


def arrow(link: Edge, seen_from: str) -> str:
    """Which way a link goes, for whoever stands at one of its ends.

    >>> (
    ...     arrow(Edge("a", "b", "causes"), "a"),
    ...     arrow(Edge("a", "b", "causes"), "b"),
    ...     arrow(Edge("a", "b", "similar"), "b"),
    ... )
    ('→', '←', '↔')
    """
    if _is_mutual(link):
        return _BOTH
    return _TO if link.source == seen_from else _FROM


def other_end(link: Edge, seen_from: str) -> str:
    """The fact at the other end of a link."""
    return link.target if link.source == seen_from else link.source


def texts_of(memory: cofire.Memory, ids: Iterable[str]) -> dict[str, str]:
    """The texts of facts, by id."""
    return {fact.id: fact.text for fact in memory.facts(set(ids))}


def _is_mutual(edge: Edge) -> bool:
    return edge.kind == _SHARED_NAME or is_symmetric(edge.kind)


def _columns(edge: Edge) -> tuple[str, ...]:
    return edge.kind, _number(edge.weight), _number(edge.confidence), edge.origin


def _number(value: float | None) -> str:
    return _UNSAID if value is None else rounded(value)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(Text(cell).cell_len for cell in column) for column in zip(*rows, strict=True)]


def _row(cells: Sequence[str], widths: Sequence[int], style: str, numbers: Sequence[int] = _NUMBERS) -> Text:
    line = Text()
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        text = styled(cell, style)
        text.align("right" if place in numbers else "left", width)
        line.append_text(text).append("  ")
    return line


def _link_row(cells: Sequence[str], widths: Sequence[int], style: str) -> Text:
    return Text("  ").append_text(_row(cells, widths, style, numbers=[place + 1 for place in _NUMBERS]))


def _end(texts: Mapping[str, str], id: str) -> str:
    return clipped(texts[id], END)
