"""Ways: where names lead from seeds, prepared once for as many passes as go over them, and the best link to each fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics import walking
from cofire.kernels import walk as compiled
from cofire.kernels.library import LIBRARY
from cofire.ranking import ranking
from cofire.stores.base import NamePaths
from cofire.verbs.cueing import Cue
from cofire.verbs.slates import Numbers, Slate

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a walk may go: from so many seeds that count at least so much, to so many facts, over links at least so sure."""

    seeds: int
    least_seed: float
    expanded: int
    floor: float


@dataclass(frozen=True, slots=True)
class Ways:
    """Paths, with what no pass changes: the rows of their facts in the slate, how much each fact draws, and what each name counts.
    `in_c` is all that as compiled code reads it."""

    paths: NamePaths
    rows: Rows
    draws: Numbers
    names: Numbers
    in_c: compiled.PathsInC | None


@dataclass(frozen=True, slots=True)
class Linked:
    """Facts that the walk came to: their rows in the paths, and for each the row of the best link there; `target` and `source` are
    rows of the slate, of the fact and of the one that leads to it."""

    at: Rows
    link: Rows
    about: Numbers
    shared: Numbers
    target: Rows
    source: Rows


def ways(paths: NamePaths, known: Slate, cue: Cue, floor: float) -> Ways:
    """Where these paths lead, for this question."""
    rows = np.fromiter(map(known.rows.__getitem__, paths.ids), np.int64, len(paths.ids))
    draws = walking.nearness(known.standing[rows], softness=ranking().names.nearness)
    names = name_weights(paths, cue, floor)
    return Ways(paths, rows, draws, names, None if LIBRARY is None else in_c(paths, names))


def best_links(over: Ways, known: Slate, seeds: Mapping[str, float], bounds: Bounds) -> Linked:
    """The best link to each fact, over facts about a name and over shared names, and of those the strongest of either kind."""
    paths, rows, starts = over.paths, over.rows, np.zeros(len(known.ids))
    starts[[known.rows[id] for id in seeds]] = list(seeds.values())
    if over.in_c is not None:
        best = compiled.best_links(over.in_c, over.draws, starts[rows], paths.loose, bounds.expanded)
        source = rows[paths.holder[paths.step[best.link]]]
        return Linked(best.at, best.link, best.about, best.shared, rows[best.at], source)
    about, shared = (
        walking.best_steps(steps, starts[rows], over.names, facts=len(paths.ids)) for steps in steps_of(over)
    )
    strong = _strongest(about.value, bounds.expanded) | _strongest(shared.value, bounds.expanded)
    at = np.flatnonzero(strong)
    link = np.where(about.value >= shared.value, about.step, shared.step)
    source = rows[paths.holder[paths.step[link[at]]]]
    return Linked(at, link[at], about.value[at], shared.value[at], rows[at], source)


def name_weights(paths: NamePaths, cue: Cue, floor: float) -> Numbers:
    """What each name counts: by its rarity, less if the question holds it; those that are too unsure nothing."""
    weights = walking.rarity(max(1, cue.facts), paths.count) * (paths.sure >= floor)
    if cue.spelled.isdisjoint(paths.name):
        return weights
    known = ranking().names.in_question
    return weights * np.array([known if name in cue.spelled else 1.0 for name in paths.name], np.float64)


def steps_of(over: Ways) -> tuple[walking.Steps, walking.Steps]:
    """Steps to facts about a name (or from a fact about it), and steps between facts that merely share one.

    Turns of a session are linked by their neighbours; that they mention the same name says nothing.
    """
    paths = over.paths
    seed = paths.holder[paths.step]
    draws = over.draws[paths.target] * np.where(paths.strength > 0, paths.strength, 1.0)
    about = (paths.strength > 0) | (paths.own[paths.step] > 0)
    shared = ~about & paths.loose[seed] & paths.loose[paths.target]
    order = np.argsort(turns_of(paths)[paths.step], kind="stable")
    every = walking.Steps(seed[order], paths.step[order], paths.target[order], draws[order], order)
    return every.only(about[order]), every.only(shared[order])


def turns_of(paths: NamePaths) -> Rows:
    """The order of names: of two worth the same, the surer one tells the way, whichever was written first."""
    letters = np.array(sorted(range(len(paths.name)), key=paths.name.__getitem__), np.int64)
    surest = letters[np.argsort(-paths.sure[letters], kind="stable")]
    turn = np.empty(len(surest), np.int64)
    turn[surest] = np.arange(len(surest))
    return turn


def in_c(paths: NamePaths, weights: Numbers) -> compiled.PathsInC:
    """Paths as compiled code reads them, with what each name counts."""
    return compiled.PathsInC(
        (paths.holder, paths.count, paths.sentences, turns_of(paths), paths.own, weights),
        (paths.step, paths.target, paths.there, paths.strength),
    )


def _strongest(values: Numbers, most: int) -> NDArray[np.bool_]:
    """The strongest of those that a step leads to."""
    order = np.argsort(-values, kind="stable")[:most]
    kept = np.zeros(len(values), np.bool_)
    kept[order] = values[order] > 0
    return kept
