"""A walk along the graph, as `cofire demo` takes it: from fact to fact, each among the neighbours of the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cofire
from cofire import xray
from cofire.doors.cli.graph_layout import arrow, other_end
from cofire.doors.cli.layout import rounded
from cofire.doors.cli.screen import show, styled
from cofire.model import Link


@dataclass(frozen=True)
class Step:
    """From one fact to the next, and the links that lead there, the strongest first; none where nothing does."""

    start: str
    text: str
    next: str
    links: tuple[Link, ...]


def walk(memory: cofire.Memory, texts: Sequence[str]) -> Iterator[Step]:
    """The steps through facts with these texts, as far as memory's own links go."""
    ids = {fact.text: fact.id for fact in memory.facts()}
    for text, following in pairwise(texts):
        start, end = ids[text], ids[following]
        links = tuple(link for link in memory.neighbours(start) if other_end(link, start) == end)
        yield Step(start, text, following, links)


def show_walk(steps: Sequence[Step]) -> None:
    """The facts, and between them what links each to the next."""
    for step in steps:
        show(step.text, indent=2)
        show(styled(_in_words(step), "cyan"), indent=4)
    show(steps[-1].next, indent=2)


def step_json(step: Step) -> dict[str, Any]:
    """A step as plain values."""
    return {"from": step.text, "to": step.next, "links": [xray.link_json(link) for link in step.links]}


def _in_words(step: Step) -> str:
    if not step.links:
        return "nothing links these two"
    return " · ".join(_link(link, step.start) for link in step.links)


def _link(link: Link, seen_from: str) -> str:
    via = f" via {link.via}" if link.via else ""
    return f"{arrow(link, seen_from)} {link.kind} {rounded(link.weight or 0.0)}{via}"
