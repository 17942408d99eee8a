"""Expanding: links of facts, as seen from each, brought into the arrays of an Expansion. Shared by stores; reads nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cofire.kinds import kind_of
from cofire.model import Link
from cofire.stores.base import Conducting, Expansion

THROUGH_NAMES = frozenset(("about", "entity"))


def expansion(
    ids: Sequence[str],
    links: Mapping[str, Sequence[Link]],
    conducting: Conducting,
    admits: Callable[[Sequence[str]], set[str]],
) -> Expansion:
    """The links that leave these facts, the strongest first; `admits` tells which facts pass the filter."""
    leaving = {
        id: [(other(id, link), link) for link in links.get(id, ()) if leaves(id, link, conducting)] for id in ids
    }
    admitted = admits([target for pairs in leaving.values() for target, _ in pairs])
    kept = [
        (id, target, link)
        for id, pairs in leaving.items()
        for target, link in _strongest(pairs, admitted, conducting.most)
    ]
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
    """Whether a link conducts away from a fact, and may be followed. Through names it conducts both ways, its weight saying how well."""
    if conducting.kinds is not None and link.kind not in conducting.kinds:
        return False
    if link.confidence is not None and link.confidence < conducting.floor:
        return False
    conducts = "both" if link.kind in THROUGH_NAMES else kind_of(link.kind).conducts
    return conducts == "both" or (conducts == "forward" and link.source == id)


def _strongest(pairs: Sequence[tuple[str, Link]], admitted: set[str], most: int) -> list[tuple[str, Link]]:
    seen = [pair for pair in pairs if pair[0] in admitted]
    return sorted(seen, key=lambda pair: (-(pair[1].weight or 0.0), pair[1].kind, pair[0]))[:most]


def _numbers(values: Sequence[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
