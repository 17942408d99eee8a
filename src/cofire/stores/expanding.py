"""Expanding: links of facts, as seen from each, brought into the arrays of an Expansion. The plain form; reads nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cofire.kinds import kind_of
from cofire.model import Link
from cofire.stores.base import Conducting, Expansion

THROUGH_NAMES = frozenset(("about", "entity"))
WEIGHT_DECIMALS = 6


def expansion(
    ids: Sequence[str], links: Mapping[str, Sequence[Link]], conducting: Conducting, admitted: Mapping[str, int]
) -> Expansion:
    """The links that leave these facts, the strongest first; `admitted` are the facts that pass the filter, and their places in
    the order of contents."""
    leaving = {
        id: [(other(id, link), link) for link in links.get(id, ()) if leaves(id, link, conducting)] for id in ids
    }
    kept = [(id, *pair) for id, pairs in leaving.items() for pair in _strongest(id, pairs, conducting, admitted)]
    rows = {id: row for row, id in enumerate(dict.fromkeys([*ids, *(target for _, target, _ in kept)]))}
    return Expansion(
        ids=tuple(rows),
        source=np.array([rows[source] for source, _, _ in kept], np.int64),
        target=np.array([rows[target] for _, target, _ in kept], np.int64),
        kind=tuple(link.kind for _, _, link in kept),
        weight=_numbers([link.weight for _, _, link in kept]),
        confidence=_numbers([link.confidence for _, _, link in kept]),
        tags=tuple(frozenset(link.tags) for _, _, link in kept),
        via=tuple(link.via for _, _, link in kept),
        degree=np.array([len({target for target, _ in pairs}) for pairs in leaving.values()], np.int64),
    )


def other(id: str, link: Link) -> str:
    return link.target if link.source == id else link.source


def leaves(id: str, link: Link, conducting: Conducting) -> bool:
    """Whether a link of a wanted kind conducts away from a fact. Through names it does both ways, its weight saying how well."""
    if not conducting.wants(link.kind) or (link.via and not conducting.names):
        return False
    conducts = "both" if link.kind in THROUGH_NAMES else kind_of(link.kind).conducts
    return conducts == "both" or (conducts == "forward" and link.source == id)


def _strongest(
    id: str, pairs: Sequence[tuple[str, Link]], conducting: Conducting, admitted: Mapping[str, int]
) -> list[tuple[str, Link]]:
    """Of equals by kind, then by content; of parallel ones the surer, then the one that goes out, then the stored one."""

    def order(pair: tuple[str, Link]) -> tuple[float, str, int, float, bool, str]:
        target, link = pair
        weight = round(min(1.0, max(0.0, link.weight or 0.0)), WEIGHT_DECIMALS)
        return -weight, link.kind, admitted[target], -(link.confidence or 0.0), link.source != id, link.via or ""

    seen = [pair for pair in pairs if pair[0] in admitted and _is_sure(pair[1], conducting.floor)]
    return sorted(seen, key=order)[: conducting.most]


def _is_sure(link: Link, floor: float) -> bool:
    return link.confidence is None or link.confidence >= floor


def _numbers(values: Sequence[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
