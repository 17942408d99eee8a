"""The default dynamics: a query-aware walk over names, and features by which a linked fact is judged: above all what it adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking, Weigh
from cofire.dynamics import covering, fusion, walking
from cofire.graph_asks import Paths, Places
from cofire.ranking import ranking
from cofire.spreads import Hop
from cofire.stores.base import Evidence, NamePaths
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue
from cofire.verbs.direct import Numbers, Slate, joined, slate
from cofire.verbs.wires import wired

Rows = NDArray[np.int64]

SURE_AS_CAN_BE = 6.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a walk may go: from so many seeds that count at least so much, to so many facts, over links at least so sure."""

    seeds: int
    least_seed: float
    expanded: int
    floor: float


@dataclass(frozen=True)
class Walked:
    """What one pass found: the slate with the facts it brought, what each feature gives a row of it, and the best hop to a fact."""

    slate: Slate
    seeds: Mapping[str, float]
    gives: Mapping[str, Numbers]
    hops: Mapping[str, Hop]

    @property
    def total(self) -> Numbers:
        """What the walk gives each fact."""
        return np.asarray(sum(self.gives.values(), np.zeros(len(self.slate.ids))))


@dataclass(frozen=True)
class Linked:
    """Facts that the walk came to: their rows in the paths, and for each the row of the best link there."""

    at: Rows
    link: Rows
    about: Numbers
    shared: Numbers


def first_pass(known: Slate, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """From the facts that answer best by themselves."""
    seeds = seeds_of(known, known.direct, ranking().seeds.warmth, bounds)
    return (yield from walk(known, seeds, cue, asked, bounds))


def next_pass(walked: Walked, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """From the facts that answer best after a pass."""
    scores = walked.slate.direct + walked.total
    seeds = seeds_of(walked.slate, scores, ranking().seeds.again, bounds)
    return (yield from walk(walked.slate, seeds, cue, asked, bounds))


def walk(known: Slate, seeds: Mapping[str, float], cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """One pass from weighted seeds."""
    constants = ranking().names
    paths: NamePaths = yield Paths(tuple(seeds), asked.where, constants.common, constants.most)
    wires = yield from wired(seeds, asked, bounds.floor, bounds.expanded)
    known = yield from widened(known, (*paths.ids, *wires), cue, asked)
    row = known.rows
    paths = _still_there(paths, row)
    rows = np.array([row[id] for id in paths.ids], np.int64)
    linked = best_links(paths, known.standing[rows], seeds, cue, bounds)
    features = yield from judged(known, paths, rows, linked, cue)
    features["wired"] = np.sqrt([wires[id].energy if id in wires else 0.0 for id in known.ids])
    gives = {name: ranking().features[name] * values for name, values in features.items()}
    return Walked(known, seeds, gives, strongest(hops_of(paths, linked), wires))


def _still_there(paths: NamePaths, weighed: Mapping[str, int]) -> NamePaths:
    """Paths without facts that somebody forgot since they were found."""
    there = np.array([id in weighed for id in paths.ids], np.bool_)
    if there.all():
        return paths
    moved = np.maximum(0, np.cumsum(there) - 1)
    kept = there[paths.target] & there[paths.holder[paths.step]]
    return replace(
        paths,
        ids=tuple(id for id in paths.ids if id in weighed),
        loose=paths.loose[there],
        holder=moved[paths.holder],
        step=paths.step[kept],
        target=moved[paths.target[kept]],
        strength=paths.strength[kept],
        there=paths.there[kept],
    )


def strongest(*ways: Mapping[str, Hop]) -> dict[str, Hop]:
    """Of several hops to a fact the one that carries most."""
    found: dict[str, Hop] = {}
    for hops in ways:
        found |= {id: hop for id, hop in hops.items() if id not in found or found[id].energy < hop.energy}
    return found


def seeds_of(known: Slate, scores: Numbers, softness: float, bounds: Bounds) -> dict[str, float]:
    """The best as seeds, with their weights beside the very best, which comes first; those that count too little are none."""
    rows = fusion.best(scores, known.ties, bounds.seeds)
    weights = walking.warmth(scores[rows], softness=softness)
    return {
        known.ids[row]: float(weight) for row, weight in zip(rows, weights, strict=True) if weight >= bounds.least_seed
    }


def widened(known: Slate, ids: Sequence[str], cue: Cue, asked: Question) -> Asking[Slate]:
    """The slate with facts that were not weighed yet."""
    weighed = set(known.ids)
    new = [id for id in dict.fromkeys(ids) if id not in weighed]
    if not new:
        return known
    evidence: Evidence = yield weigh(new, cue)
    return joined(known, slate(evidence, cue, asked.settings))


def weigh(ids: Sequence[str], cue: Cue) -> Weigh:
    """Ask for what scoring needs of facts, and of the turns around them where those count."""
    if cue.words.context is None:
        return Weigh(ids, cue.words.words)
    return Weigh(ids, cue.words.words, ranking().words.reach, ranking().vectors.reach)


def best_links(paths: NamePaths, standing: Numbers, seeds: Mapping[str, float], cue: Cue, bounds: Bounds) -> Linked:
    """The best link to each fact, over facts about a name and over shared names, and of those the strongest of either kind."""
    weights = np.array([seeds.get(id, 0.0) for id in paths.ids], np.float64)
    names = name_weights(paths, cue, bounds.floor)
    about, shared = (
        walking.best_steps(steps, weights, names, facts=len(paths.ids)) for steps in steps_of(paths, standing)
    )
    strong = _strongest(about.value, bounds.expanded) | _strongest(shared.value, bounds.expanded)
    at = np.flatnonzero(strong)
    link = np.where(about.value >= shared.value, about.step, shared.step)
    return Linked(at, link[at], about.value[at], shared.value[at])


def name_weights(paths: NamePaths, cue: Cue, floor: float) -> Numbers:
    """What each name counts: by its rarity, less if the question holds it; those that are too unsure nothing."""
    asked = {one.name for one in cue.names}
    held = np.array([ranking().names.in_question if name in asked else 1.0 for name in paths.name], np.float64)
    return walking.rarity(max(1, cue.facts), paths.count) * held * (paths.sure >= floor)


def steps_of(paths: NamePaths, standing: Numbers) -> tuple[walking.Steps, walking.Steps]:
    """Steps to facts about a name (or from a fact about it), and steps between facts that merely share one.

    Turns of a session are linked by their neighbours; that they mention the same name says nothing.
    """
    near = walking.nearness(standing, softness=ranking().names.nearness)
    seed = paths.holder[paths.step]
    draws = near[paths.target] * np.where(paths.strength > 0, paths.strength, 1.0)
    about = (paths.strength > 0) | (paths.own[paths.step] > 0)
    shared = ~about & paths.loose[seed] & paths.loose[paths.target]
    # Of two names worth the same, the surer one tells the way, whichever was written first.
    surest = np.lexsort((np.array(paths.name, dtype=np.str_), -paths.sure))
    order = np.argsort(np.argsort(surest)[paths.step], kind="stable")
    every = walking.Steps(seed[order], paths.step[order], paths.target[order], draws[order], order)
    return every.only(about[order]), every.only(shared[order])


def judged(known: Slate, paths: NamePaths, rows: Rows, linked: Linked, cue: Cue) -> Asking[dict[str, Numbers]]:
    """The features of linked facts, 0 for all others."""
    shares, step = cue.word_shares, paths.step[linked.link]
    target, source = rows[linked.at], rows[paths.holder[step]]
    looked_at = dict.fromkeys([*target.tolist(), *source.tolist()])
    places: NDArray[np.int64] = yield Places([known.ids[row] for row in looked_at], cue.words.words)
    at = {row: place for place, row in enumerate(looked_at)}
    there, here = (places[[at[row] for row in rows.tolist()]] for rows in (target, source))
    theirs = known.holds[source]
    found = {
        "about": np.sqrt(linked.about),
        "shared": np.sqrt(linked.shared),
        "rare": SURE_AS_CAN_BE - np.log(np.maximum(1, paths.count[step])),
        "fits": covering.best_sentence(here, paths.sentences[step], np.zeros_like(theirs), shares),
        "adds_there": covering.best_sentence(there, paths.there[linked.link], theirs, shares),
        "adds": covering.share(known.holds[target], theirs, shares),
        "repeats": known.scores["keyword"][target],
    }
    return {name: _over(len(known.ids), target, values) for name, values in found.items()}


def hops_of(paths: NamePaths, linked: Linked) -> dict[str, Hop]:
    """The best link to each fact, as the x-ray tells it."""
    found = {}
    for at, link, about, shared in zip(
        linked.at.tolist(), linked.link.tolist(), linked.about, linked.shared, strict=True
    ):
        step = int(paths.step[link])
        weight = max(float(paths.strength[link]), float(paths.own[step]), 0.3) / max(1, int(paths.count[step])) ** 0.5
        found[paths.ids[at]] = Hop(
            paths.ids[int(paths.holder[step])],
            paths.ids[at],
            "about" if about >= shared else "entity",
            weight,
            float(paths.sure[step]),
            paths.name[step],
            float(max(about, shared)),
        )
    return found


def _over(size: int, rows: Rows, values: Numbers) -> Numbers:
    found = np.zeros(size)
    found[rows] = values
    return found


def _strongest(values: Numbers, most: int) -> NDArray[np.bool_]:
    """The strongest of those that a step leads to."""
    order = np.argsort(-values, kind="stable")[:most]
    kept = np.zeros(len(values), np.bool_)
    kept[order] = values[order] > 0
    return kept
