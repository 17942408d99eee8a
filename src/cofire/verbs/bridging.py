"""Bridging: facts that connect two results which nothing else connects join the ranking (BridgeDiscovery in 000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cofire.asks import Asking
from cofire.dynamics import discovering, fusion
from cofire.errors import StoreError
from cofire.graph_asks import Expand
from cofire.recall_settings import BRIDGE_DECAY, BRIDGES, BRIDGES_MOST, CONFIDENCE_FLOOR, MOST_LINKS
from cofire.recollection import ChannelReport, Ranking
from cofire.spreads import Hop
from cofire.stores.base import Conducting, Expansion
from cofire.verbs.asking import Question
from cofire.verbs.planning import Plan
from cofire.verbs.slates import Numbers

CHANNEL = "bridges"

# Results between which bridges are looked for, however many are wanted, so that places do not depend on k.
BRIDGED = 10


@dataclass(frozen=True, slots=True)
class Bridged:
    """A fact that connects two results: what it counts, and the links that lead there."""

    id: str
    score: float
    links: tuple[Hop, Hop]


def bridge(ranking: Ranking, asked: Question, plan: Plan) -> Asking[tuple[Ranking, tuple[ChannelReport, ...]]]:
    """The ranking with what bridges its best facts, and how that went; as it was where bridges are not wanted."""
    if not asked.settings[BRIDGES] or plan.mode not in ("full", "graph"):
        return ranking, ()
    try:
        bridges = yield from _discovered(ranking, asked)
    except StoreError as error:
        return ranking, (ChannelReport(CHANNEL, "failed", note=str(error)),)
    report = ChannelReport(CHANNEL, "ok" if bridges else "empty", heard=len(bridges))
    return _with_bridges(ranking, bridges), (report,)


def _discovered(ranking: Ranking, asked: Question) -> Asking[tuple[Bridged, ...]]:
    settings, kinds = asked.settings, frozenset(discovering.MULTIPLIERS)
    conducting = Conducting(asked.where, kinds, settings[CONFIDENCE_FLOOR], settings[MOST_LINKS])
    found: Expansion = yield Expand(ranking.best(BRIDGED), conducting)
    scores = ranking.total[list(ranking.order[:BRIDGED])]
    through = discovering.conductances(found.kind, found.weight, found.confidence, decay=settings[BRIDGE_DECAY])
    bridges = discovering.discovered(
        scores, found.source, found.target, through, facts=len(found.ids), most=settings[BRIDGES_MOST]
    )
    carried = scores[found.source] * through
    return tuple(
        Bridged(found.ids[one.row], one.score, (_hop(found, one.links[0], carried), _hop(found, one.links[1], carried)))
        for one in bridges
    )


def _hop(found: Expansion, link: int, carried: Numbers) -> Hop:
    weight, confidence = (
        None if np.isnan(said[link]) else float(said[link]) for said in (found.weight, found.confidence)
    )
    source, target = found.ids[found.source[link]], found.ids[found.target[link]]
    return Hop(source, target, found.kind[link], weight, confidence, found.via[link], float(carried[link]))


def _with_bridges(ranking: Ranking, bridges: Sequence[Bridged]) -> Ranking:
    """A bridge is lifted to what it counts as one, and no higher; one that counts as much by itself is not lifted at all."""
    if not bridges:
        return ranking
    counts = {one.id: one.score for one in bridges}
    known = set(ranking.ids)
    wide = _widened(ranking, [id for id in counts if id not in known])
    scores = np.array([counts.get(id, 0.0) for id in wide.ids])
    lifts = np.where(scores > 0, np.maximum(0.0, scores - wide.total), 0.0)
    total = wide.total + lifts
    return replace(
        wide,
        total=total,
        order=fusion.order(total, wide.ids),
        scores={**wide.scores, CHANNEL: scores},
        places={**wide.places, CHANNEL: fusion.ranks(scores, scores > 0, wide.ids)},
        gives={**wide.gives, CHANNEL: lifts},
        bridges={one.id: one.links for one in bridges},
    )


def _widened(ranking: Ranking, ids: Sequence[str]) -> Ranking:
    """The ranking with facts that no channel heard."""
    if not ids:
        return ranking

    def longer(values: Numbers) -> Numbers:
        return np.concatenate([values, np.zeros(len(ids), values.dtype)])

    return replace(
        ranking,
        ids=(*ranking.ids, *ids),
        total=longer(ranking.total),
        scores={name: longer(values) for name, values in ranking.scores.items()},
        places={name: np.concatenate([at, np.zeros(len(ids), at.dtype)]) for name, at in ranking.places.items()},
        gives={name: longer(values) for name, values in ranking.gives.items()},
        parts={name: longer(values) for name, values in ranking.parts.items()},
    )
