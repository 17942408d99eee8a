"""Links through names: how strongly two facts are linked by a name that one mentions and the other is about. Shared by stores."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cofire.model import Link

MOST_NAMED = 100
BACKWARD = 0.5
SHARED = 0.3

# A name with its counts, how surely the fact at hand holds it, the other fact, and how that one holds it.
Named = tuple[str, int, int, float, str, float | None, float | None]


def through_names(id: str, mentioned: Iterable[Named], about: Iterable[Named]) -> list[Link]:
    """Links of a fact through the names it mentions and the names it is about; the best one to each other fact and name.

    From a fact that mentions X to a fact about X the link is full, 1/√n among n that hold the name; back it is half; between
    two that merely mention X it is weaker. What is specific conducts more than what everybody mentions.
    """
    best: dict[tuple[str, str], Link] = {}
    for name, subjects, mentions, sure, other, strength, confidence in mentioned:
        spread = 1 / math.sqrt(max(1, subjects + mentions))
        if strength is not None:
            _keep(best, Link(id, other, "about", spread * strength, sure, (), "names", name))
        elif confidence is not None:
            _keep(best, Link(id, other, "entity", SHARED * spread, min(sure, confidence), (), "names", name))
    for name, subjects, mentions, strong, other, strength, confidence in about:
        spread = 1 / math.sqrt(max(1, subjects + mentions))
        if confidence is not None:
            _keep(best, Link(other, id, "about", BACKWARD * spread * strong, confidence, (), "names", name))
        elif strength is not None:
            _keep(best, Link(id, other, "entity", SHARED * spread * strong * strength, 1.0, (), "names", name))
    return list(best.values())


def _keep(best: dict[tuple[str, str], Link], link: Link) -> None:
    pair = (min(link.source, link.target) + max(link.source, link.target), link.via or "")
    known = best.get(pair)
    if known is None or (link.weight or 0.0) > (known.weight or 0.0):
        best[pair] = link
