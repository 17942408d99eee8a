"""The default dynamics: a query-aware walk over names, and features by which a linked fact is judged: above all what it adds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from cofire.asks import Ask, Asking, Weigh, at_one_moment
from cofire.dynamics import covering, fusion, walking
from cofire.dynamics.context import openness
from cofire.graph_asks import Paths, Places
from cofire.kernels import walk as compiled
from cofire.late import each_once, ids_at, once
from cofire.ranking import ranking
from cofire.spreads import Hop
from cofire.stores.base import Evidence, NamePaths
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue
from cofire.verbs.direct import slate
from cofire.verbs.footpaths import NOWHERE, Footpaths, still_there
from cofire.verbs.slates import Numbers, Slate, joined
from cofire.verbs.ways import Bounds, Linked, Rows, Ways, best_links, ways
from cofire.verbs.wires import Wired, hops_along, wires

SURE_AS_CAN_BE = 6.0


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
    each carries, the hops themselves, and what later passes need not ask or prepare again: where seeds lead, and where the words of
    the question stand in facts."""

    slate: Slate
    seeds: Mapping[str, float]
    gives: Mapping[str, Numbers]
    carried: Numbers
    hops: Mapping[str, Hop]
    footpaths: Footpaths
    over: Ways
    places: Placed

    @property
    def total(self) -> Numbers:
        """What the walk gives each fact."""
        return np.asarray(sum(self.gives.values(), np.zeros(len(self.slate.ids))))


@dataclass(frozen=True, slots=True)
class Start:
    """Where a pass starts: from weighted seeds, with what earlier passes asked and prepared."""

    seeds: Mapping[str, float]
    footpaths: Footpaths
    places: Placed
    over: Ways | None = None


def first_pass(known: Slate, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """From the facts that answer best by themselves."""
    seeds = seeds_of(known, known.direct, ranking().seeds.warmth, bounds)
    nowhere = Placed(np.zeros(0, np.int64), np.zeros((0, len(cue.words.words)), np.int64))
    return (yield from walk(known, Start(seeds, NOWHERE, nowhere), cue, asked, bounds))


def next_pass(walked: Walked, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """From the facts that answer best after a pass."""
    scores = walked.slate.direct + walked.total
    seeds = seeds_of(walked.slate, scores, ranking().seeds.again, bounds)
    start = Start(seeds, walked.footpaths, walked.places, walked.over)
    return (yield from walk(walked.slate, start, cue, asked, bounds))


def walk(known: Slate, start: Start, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Walked]:
    """One pass from weighted seeds."""
    footpaths = yield from _led(start, cue, asked, bounds)
    wired = hops_along(footpaths.edges, start.seeds)
    known = yield from widened(known, [footpaths.paths.ids, wired.energies], cue, asked)
    paths = still_there(footpaths.paths, known.rows)
    before = start.over
    over = before if before is not None and before.paths is paths else ways(paths, known, cue, bounds.floor)
    linked = best_links(over, known, start.seeds, bounds)
    places = yield from _placed(start.places, known, linked, cue)
    gives = judged(known, over, linked, places, cue)
    along = np.zeros(len(known.ids))
    for id, energy in wired.energies.items():
        if id in known.rows:
            along[known.rows[id]] = energy
    gives["wired"] = ranking().features["wired"] * np.sqrt(along)
    carried = np.maximum(along, _over(len(known.ids), linked.target, np.maximum(linked.about, linked.shared)))
    return Walked(known, start.seeds, gives, carried, Hops(paths, linked, wired), footpaths, over, places)


def _led(start: Start, cue: Cue, asked: Question, bounds: Bounds) -> Asking[Footpaths]:
    """Where the seeds lead, over names and along stored edges; those of earlier passes are not asked for again."""
    new, names = [id for id in start.seeds if id not in start.footpaths.seeds], ranking().names
    if not new:
        return start.footpaths
    few = walking.few_enough(cue.facts, fewest=names.few, share=names.share)
    asks: list[Ask] = [wires(new, asked, bounds.floor, bounds.expanded), Paths(new, asked.where, few, names.most)]
    edges, paths = yield from at_one_moment(asks)
    return start.footpaths.with_those_of(new, edges, paths)


def _placed(before: Placed, known: Slate, linked: Linked, cue: Cue) -> Asking[Placed]:
    """Where the words of the question stand in linked facts and in those that lead to them."""
    at = np.empty(len(known.ids), np.int64)
    # A slate only grows at its end.
    at[: len(before.at)], at[len(before.at) :] = before.at, -1
    looked_at = np.zeros(len(at), np.bool_)
    looked_at[linked.target] = looked_at[linked.source] = True
    new = (looked_at & (at < 0)).nonzero()[0]
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


def widened(known: Slate, led_to: Iterable[Collection[str]], cue: Cue, asked: Question) -> Asking[Slate]:
    """The slate with facts that were not weighed yet."""
    new = each_once(led_to, but=known.rows)
    if not new:
        return known
    evidence: Evidence = yield weigh(new, cue)
    return joined(known, slate(evidence, cue, asked.settings))


def weigh(ids: Sequence[str], cue: Cue) -> Weigh:
    """Ask for what scoring needs of facts, and of the turns around them where those count."""
    if cue.words.context is None:
        return Weigh(ids, cue.words.words)
    return Weigh(ids, cue.words.words, ranking().words.reach, ranking().vectors.reach)


def _judged_in_c(
    paths: compiled.PathsInC, known: Slate, linked: Linked, places: Placed, cue: Cue
) -> dict[str, Numbers]:
    """The same as `judged`, by compiled code."""
    names, links, weights = ranking().names, ranking().links, ranking().features
    return compiled.judged(
        paths,
        (linked.target, linked.source, linked.link, linked.about, linked.shared),
        (known.holds, known.direct, known.scores["keyword"], known.lengths, places.at),
        shares=cue.word_shares,
        places=places.table,
        rules=(SURE_AS_CAN_BE, names.room, names.short, links.most, links.least),
        weights=[weights[name] for name in compiled.FEATURES],
    )


def judged(known: Slate, over: Ways, linked: Linked, places: Placed, cue: Cue) -> dict[str, Numbers]:
    """What the features of linked facts give them, as far as the link counts and within its bounds; 0 for all others."""
    if over.in_c is not None:
        return _judged_in_c(over.in_c, known, linked, places, cue)
    paths, shares = over.paths, cue.word_shares
    step = paths.step[linked.link]
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
    given = {name: ranking().features[name] * counts * values for name, values in found.items()}
    links, total = ranking().links, np.asarray(sum(given.values()))
    worth = known.direct[linked.source], known.direct[linked.target]
    share = walking.bounded(total, *worth, most=links.most, least=links.least)
    return {name: _over(len(known.ids), linked.target, share * values) for name, values in given.items()}


def how_far_counted(known: Slate, linked: Linked) -> Numbers:
    """A link to what is about a name counts in full; one between facts that merely mention it, as far as they are short."""
    short = ranking().names.short
    open_ = [openness(known.lengths[end], short=short) for end in (linked.source, linked.target)]
    return np.where(linked.about > 0, 1.0, open_[0] * open_[1])


class Hops(Mapping[str, Hop]):
    """The best hop to each fact, over a name or along a stored edge; spelled out when somebody asks how the walk came there."""

    def __init__(self, paths: NamePaths, linked: Linked, wires: Wired) -> None:
        self._paths, self._linked, self._wires = paths, linked, wires

    @once
    def _places(self) -> dict[str, int]:
        return dict(zip(ids_at(self._paths.ids, self._linked.at), count(), strict=False))

    def __getitem__(self, id: str) -> Hop:
        if id not in self._places:
            return self._wires[id]
        named = self._over_name(self._places[id], id)
        return self._wires[id] if self._wires.energies.get(id, 0.0) > named.energy else named

    def __contains__(self, id: object) -> bool:
        return id in self._places or id in self._wires

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._places), **dict.fromkeys(self._wires)})

    def __len__(self) -> int:
        return len({*self._places, *self._wires})

    def _over_name(self, place: int, id: str) -> Hop:
        paths, link = self._paths, self._linked.link.item(place)
        about, shared = self._linked.about.item(place), self._linked.shared.item(place)
        step = paths.step.item(link)
        weight = max(paths.strength.item(link), paths.own.item(step), 0.3) / max(1, paths.count.item(step)) ** 0.5
        kind = "about" if about >= shared else "entity"
        source = paths.ids[paths.holder.item(step)]
        return Hop(source, id, kind, weight, paths.sure.item(step), paths.name[step], max(about, shared))


def _over(size: int, rows: Rows, values: Numbers) -> Numbers:
    found = np.zeros(size)
    found[rows] = values
    return found
