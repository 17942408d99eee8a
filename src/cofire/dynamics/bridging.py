"""Bridges: a few weak links between communities, each through the two facts that come closest. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bridge:
    """A link between two communities through these two nodes, the smaller one first."""

    a: int
    b: int
    weight: float


def bridge_weight(cosine: float, *, share: float, ceiling: float) -> float:
    """A bridge is a guess: it carries a share of the likeness and never more than the ceiling, min(ceiling, share · cosine).

    >>> bridge_weight(0.5, share=0.5, ceiling=0.3), bridge_weight(0.9, share=0.5, ceiling=0.3)
    (0.25, 0.3)
    """
    return min(ceiling, share * cosine)


def bridges(
    community: Ints,
    pairs: tuple[Ints, Ints],
    cosine: Floats,
    *,
    standing: tuple[Ints, Ints],
    floor: float,
    smallest: int,
    share: float,
    ceiling: float,
    most: int,
) -> tuple[Bridge, ...]:
    """Consolidation bridges (000, Auto-Linking), the closest first: for two communities at most one, through their closest pair.

    `pairs` are candidates with their cosines, `standing` the ends of links that join communities already; those get no
    second one. Communities under the `smallest` size are passed over, pairs under the `floor` are too far apart, and
    of equally close pairs the smaller nodes win. Here nodes 0 and 1 make community 0, nodes 2 and 3 community 1:

    >>> community, nobody = np.array([0, 0, 1, 1]), np.zeros(0, dtype=int)
    >>> pairs, cosine = (np.array([0, 3, 0]), np.array([2, 1, 1])), np.array([0.4, 0.5, 0.9])
    >>> few = dict(floor=0.3, smallest=2, share=0.5, ceiling=0.3, most=10)
    >>> bridges(community, pairs, cosine, standing=(nobody, nobody), **few)
    (Bridge(a=1, b=3, weight=0.25),)
    """
    a, b = np.minimum(*pairs), np.maximum(*pairs)
    large = (np.bincount(community) >= smallest)[community] if len(community) else np.zeros(0, dtype=np.bool_)
    fit = np.flatnonzero((community[a] != community[b]) & large[a] & large[b] & (cosine >= floor))
    fit = fit[~np.isin(_gaps(community, a[fit], b[fit]), _gaps(community, *standing))]
    closest_first = fit[np.lexsort((b[fit], a[fit], -cosine[fit]))]
    _, first = np.unique(_gaps(community, a[closest_first], b[closest_first]), return_index=True)
    return tuple(
        Bridge(int(a[pair]), int(b[pair]), bridge_weight(float(cosine[pair]), share=share, ceiling=ceiling))
        for pair in closest_first[np.sort(first)[:most]]
    )


def _gaps(community: Ints, a: Ints, b: Ints) -> Ints:
    """A number for the two communities of each pair, whichever comes first."""
    one, other = community[a], community[b]
    return np.minimum(one, other) * (int(community.max(initial=0)) + 1) + np.maximum(one, other)
