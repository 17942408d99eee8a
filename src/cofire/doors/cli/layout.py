"""Layout: how facts and recollections look on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from cofire import xray
from cofire.doors.cli.screen import show, styled
from cofire.model import DEFAULT_SCOPE, Fact
from cofire.recollection import Heard, Hit, Recollection

SHORT = 280
DECIMALS = 2
_BETWEEN = " · "


def show_hits(found: Recollection) -> None:
    """The hits, best first: place, score and text, and under it what each channel gave, and the id."""
    places = len(str(len(found)))
    scores = max(len(rounded(hit.score)) for hit in found)
    for place, hit in enumerate(found, start=1):
        lead = Text.assemble((f"{place:>{places}}  ", "dim"), (rounded(hit.score).rjust(scores), "bold cyan"), "  ")
        show(styled(hit.text), lead=lead, indent=lead.cell_len)
        show(styled(channel_line(hit), "dim"), indent=lead.cell_len)
        show(mark_line(hit.fact), indent=lead.cell_len)


def channel_line(hit: Hit) -> str:
    """The parts of the score, which add up to it: what each channel gives, with the fact's place there, and every other addend."""
    return _BETWEEN.join(
        f"{name}{place_in(hit.channels[name])} {rounded(gives, '+')}"
        for name, gives in xray.shown_parts(hit, DECIMALS).items()
    )


def place_in(heard: Heard) -> str:
    """The place of a fact in a channel; empty for an addend that is no channel."""
    return "" if heard.rank is None else f" #{heard.rank}"


def show_listed(fact: Fact, *, console: Console | None = None) -> None:
    """A fact in a list: its text, shortened, and under it its id and marks."""
    show(styled(shortened(fact.text)), console=console)
    show(mark_line(fact), indent=2, console=console)


def show_whole(fact: Fact, besides: Mapping[str, str]) -> None:
    """Everything about a fact, and what else is to be said of it."""
    show(styled(fact.text, "bold"))
    known = {label: plain(value) for label, value in xray.fact_json(fact).items() if value not in _NOTHING}
    told = {label.replace("_", " "): value for label, value in known.items() if label != "text"}
    show_pairs({**told, **besides}, indent=2)


_NOTHING: tuple[Any, ...] = (None, "", False, 0, [], {})


def show_pairs(pairs: Mapping[str, str], *, indent: int = 0) -> None:
    """Labels in one column, what they stand for in another."""
    width = indent + max(len(label) for label in pairs) + 2
    for label, value in pairs.items():
        show(styled(value), lead=styled(" " * indent + label, "dim"), indent=width)


def mark_line(fact: Fact) -> Text:
    """The id of a fact, then its date, speaker, subject, tags, source and scope."""
    scope = f"scope {fact.scope}" if fact.scope != DEFAULT_SCOPE else None
    replaced = f"superseded by {', '.join(fact.superseded_by)}" if fact.superseded_by else None
    tags = (f"#{tag}" for tag in fact.tags)
    marks = [_day(fact.time), fact.speaker, fact.subject, *tags, fact.source, scope, replaced]
    said = _BETWEEN.join(mark for mark in marks if mark)
    return Text.assemble(styled(fact.id, "cyan"), styled(f"  {said}", "dim"))


def shortened(text: str) -> str:
    """A long text on one line, cut where it becomes too long to skim."""
    return clipped(text, SHORT)


def clipped(text: str, length: int) -> str:
    """A text on one line, of at most so many letters.

    >>> clipped("tea\\n at  four", 20), clipped("tea at four", 6)
    ('tea at four', 'tea a…')
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def rounded(score: float, sign: str = "") -> str:
    """A score in two decimals; almost nothing is nothing, from below too.

    >>> rounded(-0.001), rounded(1.234, "+")
    ('0.00', '+1.23')
    """
    return f"{round(score, DECIMALS) + 0.0:{sign}.{DECIMALS}f}"


def _day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


def plain(value: Any) -> str:
    """A value in words, without the marks of a program.

    >>> plain(["db", "prod"]), plain({"page": 3})
    ('db, prod', 'page=3')
    """
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{label}={one}" for label, one in value.items())
    return str(value)
