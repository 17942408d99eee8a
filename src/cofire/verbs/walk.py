"""The default dynamics: a query-aware walk over names, and features by which a linked fact is judged: above all what it adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking, Weigh, at_one_moment
from cofire.dynamics import covering, fusion, walking
from cofire.dynamics.context import openness
from cofire.graph_asks import Paths, Places
from cofire.kernels import walk as compiled
from cofire.kernels.library import LIBRARY
from cofire.ranking import ranking
from cofire.spreads import Hop
from cofire.stores.base import Evidence, NamePaths
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue
from cofire.verbs.direct import slate
from cofire.verbs.footpaths import NOWHERE, Footpaths, still_there
from cofire.verbs.slates import Numbers, Slate, joined
from cofire.verbs.wires import hops_along, wires

Rows = NDArray[np.int64]

SURE_AS_CAN_BE = 6.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a walk may go: from so many seeds that count at least so much, to so many facts, over links at least so sure."""

    seeds: int
    least_seed: float
    expanded: int
    floor: float


@dataclass(frozen=True, slots=True)
class Placed:
    """In which sentences of facts the words of the question stand: a row a fact and a column a word. `at` tells for the rows of the
    slate which row that is, -1 for a fact that was not looked at."""

    at: Rows
    table: Rows

    def of(self, rows: Rows) -> Rows:
        return self.table[self.at[rows]]


@dataclass(frozen=True)
class Walked:
    """What one pass found: the slate with the facts it brought, what each feature gives a row of it, how much the best hop to
    each carries, the hops themselves, and what later passes need not ask again: where the names of seeds lead, and where the words
    of the question stand in facts."""

    slate: Slate
    seeds: Mapping[str, float]
    gives: Mapping[str, Numbers]
    carried: Numbers
    hops: Mapping[str, Hop]
    footpaths: Footpaths
    places: Placed

    @property
    def total(self) -> Numbers:
        """What the walk gives each fact."""
        return np.asarray(sum(self.gives.values(), np.zeros(len(self.slate.ids))))


@dataclass(frozen=True)
class Linked:
    """Facts that the walk came to: their rows in the paths, and for each the row of the best link there; `target` and `source` are
    rows of the slate, of the fact and of the one that leads to it. `in_c` are the paths as compiled code reads them."""

    at: Rows
    link: Rows
    about: Numbers
    shared: Numbers
    target: Rows
    source: Rows
    in_c: compiled.PathsInC | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Where a pass starts: from weighted seeds, with what earlier passes asked."""

    seeds: Mapping[str, float]
    footpaths: Footpaths
    places: Placed


def first_pass(known: Slate, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """From the facts that answer best by themselves."""
    seeds = seeds_of(known, known.direct, ranking().seeds.warmth, bounds)
    nowhere = Placed(np.zeros(0, np.int64), np.zeros((0, len(cue.words.words)), np.int64))
    return (yield from walk(known, Start(seeds, NOWHERE, nowhere), cue, asked, bounds))


def next_pass(walked: Walked, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """From the facts that answer best after a pass."""
    scores = walked.slate.direct + walked.total
    seeds = seeds_of(walked.slate, scores, ranking().seeds.again, bounds)
    return (yield from walk(walked.slate, Start(seeds, walked.footpaths, walked.places), cue, asked, bounds))


def walk(known: Slate, start: Start, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """One pass from weighted seeds."""
    seeds, constants = start.seeds, ranking().names
    new = [id for id in seeds if id not in start.footpaths.seeds]
    few = walking.few_enough(cue.facts, fewest=constants.few, share=constants.share)
    asks = [Paths(new, asked.where, few, constants.most)] if new else []
    edges, *more = yield from at_one_moment([wires(seeds, asked, bounds.floor, bounds.expanded), *asks])
    footpaths = start.footpaths.with_those_of(new, *more)
    wired = hops_along(edges, seeds)
    known = yield from widened(known, (*footpaths.paths.ids, *wired), cue, asked)
    paths = still_there(footpaths.paths, known.rows)
    linked = best_links(paths, known, seeds, cue, bounds)
    places = yield from _placed(start.places, known, linked, cue)
    features = judged(known, paths, linked, places, cue)
    along = np.zeros(len(known.ids))
    for id in wired.keys() & known.rows.keys():
        along[known.rows[id]] = wired[id].energy
    features["wired"] = np.sqrt(along)
    gives = {name: ranking().features[name] * values for name, values in features.items()}
    carried = np.maximum(along, _over(len(known.ids), linked.target, np.maximum(linked.about, linked.shared)))
    return Walked(known, seeds, gives, carried, Hops(paths, replace(linked, in_c=None), wired), footpaths, places)


def _placed(before: Placed, known: Slate, linked: Linked, cue: Cue) -> Asking[Placed]:
    """Where the words of the question stand in linked facts and in those that lead to them."""
    at = np.full(len(known.ids), -1, np.int64)
    # A slate only grows at its end.
    at[: len(before.at)] = before.at
    looked_at = np.zeros(len(at), np.bool_)
    looked_at[linked.target] = looked_at[linked.source] = True
    new = np.flatnonzero(looked_at & (at < 0))
    if not len(new):
        return Placed(at, before.table)
    found: Rows = yield Places([known.ids[row] for row in new.tolist()], cue.words.words)
    at[new] = np.arange(len(before.table), len(before.table) + len(new))
    return Placed(at, np.concatenate([before.table, found]))


def seeds_of(known: Slate, scores: Numbers, softness: float, bounds: Bounds) -> dict[str, float]:
    """The best as seeds, with their weights beside the very best, which comes first; those that count too little are none."""
    rows = fusion.best(scores, known.ids, bounds.seeds)
    weights = walking.warmth(scores[rows], softness=softness)
    return {
        known.ids[row]: float(weight) for row, weight in zip(rows, weights, strict=True) if weight >= bounds.least_seed
    }


def widened(known: Slate, ids: Sequence[str], cue: Cue, asked: Question) -> Asking[Slate]:
    """The slate with facts that were not weighed yet."""
    new = list(dict.fromkeys([id for id in ids if id not in known.rows]))
    if not new:
        return known
    evidence: Evidence = yield weigh(new, cue)
    return joined(known, slate(evidence, cue, asked.settings))


def weigh(ids: Sequence[str], cue: Cue) -> Weigh:
    """Ask for what scoring needs of facts, and of the turns around them where those count."""
    if cue.words.context is None:
        return Weigh(ids, cue.words.words)
    return Weigh(ids, cue.words.words, ranking().words.reach, ranking().vectors.reach)


def best_links(paths: NamePaths, known: Slate, seeds: Mapping[str, float], cue: Cue, bounds: Bounds) -> Linked:
    """The best link to each fact, over facts about a name and over shared names, and of those the strongest of either kind."""
    rows = np.fromiter(map(known.rows.__getitem__, paths.ids), np.int64, len(paths.ids))
    starts, names = np.zeros(len(known.ids)), name_weights(paths, cue, bounds.floor)
    starts[[known.rows[id] for id in seeds]] = list(seeds.values())
    if LIBRARY is not None:
        near = walking.nearness(known.standing[rows], softness=ranking().names.nearness)
        read = in_c(paths, names)
        best = compiled.best_links(read, near, starts[rows], paths.loose, bounds.expanded)
        source = rows[paths.holder[paths.step[best.link]]]
        return Linked(best.at, best.link, best.about, best.shared, rows[best.at], source, read)
    about, shared = (
        walking.best_steps(steps, starts[rows], names, facts=len(paths.ids))
        for steps in steps_of(paths, known.standing[rows])
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


def steps_of(paths: NamePaths, standing: Numbers) -> tuple[walking.Steps, walking.Steps]:
    """Steps to facts about a name (or from a fact about it), and steps between facts that merely share one.

    Turns of a session are linked by their neighbours; that they mention the same name says nothing.
    """
    near = walking.nearness(standing, softness=ranking().names.nearness)
    seed = paths.holder[paths.step]
    draws = near[paths.target] * np.where(paths.strength > 0, paths.strength, 1.0)
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


def _judged_in_c(
    paths: compiled.PathsInC, known: Slate, linked: Linked, places: Placed, cue: Cue
) -> dict[str, Numbers]:
    """The same as `judged`, by compiled code."""
    names = ranking().names
    return compiled.judged(
        paths,
        (linked.target, linked.source, linked.link, linked.about, linked.shared),
        (known.holds, known.direct, known.scores["keyword"], known.lengths, places.at),
        shares=cue.word_shares,
        places=places.table,
        rules=(SURE_AS_CAN_BE, names.room, names.short),
    )


def judged(known: Slate, paths: NamePaths, linked: Linked, places: Placed, cue: Cue) -> dict[str, Numbers]:
    """The features of linked facts, as far as the link counts; 0 for all others."""
    if linked.in_c is not None:
        return _judged_in_c(linked.in_c, known, linked, places, cue)
    shares, step = cue.word_shares, paths.step[linked.link]
    there, here = places.of(linked.target), places.of(linked.source)
    theirs = known.holds[linked.source]
    found = {
        "about": np.sqrt(linked.about),
        "shared": np.sqrt(linked.shared),
        "rare": walking.telling(paths.count[step], known.direct[linked.source], most=SURE_AS_CAN_BE),
        "fits": covering.best_sentence(here, paths.sentences[step], np.zeros_like(theirs), shares),
        "adds_there": covering.best_sentence(there, paths.there[linked.link], theirs, shares),
        "adds": covering.share(known.holds[linked.target], theirs, shares),
        "repeats": known.scores["keyword"][linked.target]
        * walking.room_to_add(theirs @ shares, enough=ranking().names.room),
    }
    counts = how_far_counted(known, linked)
    return {name: _over(len(known.ids), linked.target, counts * values) for name, values in found.items()}


def how_far_counted(known: Slate, linked: Linked) -> Numbers:
    """A link to what is about a name counts in full; one between facts that merely mention it, as far as they are short."""
    short = ranking().names.short
    open_ = [openness(known.lengths[end], short=short) for end in (linked.source, linked.target)]
    return np.where(linked.about > 0, 1.0, open_[0] * open_[1])


class Hops(Mapping[str, Hop]):
    """The best hop to each fact, over a name or along a stored edge; spelled out when somebody asks how the walk came there."""

    def __init__(self, paths: NamePaths, linked: Linked, wires: Mapping[str, Hop]) -> None:
        self._paths, self._linked, self._wires = paths, linked, wires

    @cached_property
    def _places(self) -> dict[str, int]:
        return {self._paths.ids[at]: place for place, at in enumerate(self._linked.at.tolist())}

    def __getitem__(self, id: str) -> Hop:
        if id not in self._places:
            return self._wires[id]
        named = self._over_name(self._places[id], id)
        wire = self._wires.get(id)
        return wire if wire is not None and wire.energy > named.energy else named

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._places), **dict.fromkeys(self._wires)})

    def __len__(self) -> int:
        return len({*self._places, *self._wires})

    def _over_name(self, place: int, id: str) -> Hop:
        paths, link = self._paths, int(self._linked.link[place])
        about, shared = float(self._linked.about[place]), float(self._linked.shared[place])
        step = int(paths.step[link])
        weight = max(float(paths.strength[link]), float(paths.own[step]), 0.3) / max(1, int(paths.count[step])) ** 0.5
        kind = "about" if about >= shared else "entity"
        source = paths.ids[int(paths.holder[step])]
        return Hop(source, id, kind, weight, float(paths.sure[step]), paths.name[step], max(about, shared))


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
