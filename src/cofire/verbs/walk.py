"""The default dynamics: a query-aware walk over names, and a linear ranker that judges a linked fact by what it adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Asking, Weigh
from cofire.dynamics import covering, fusion, walking
from cofire.graph_asks import Paths, Places
from cofire.ranking import ranking
from cofire.settings import Settings
from cofire.stores.base import Evidence, NamePaths
from cofire.verbs.asking import Question
from cofire.verbs.cueing import Cue
from cofire.verbs.direct import Numbers, Slate, chance, joined, slate

Rows = NDArray[np.int64]

SURE_AS_CAN_BE = 6.0


@dataclass(frozen=True, slots=True)
class Step:
    """How the walk came to a fact: from which, over which name, and what that step is worth."""

    source: str
    target: str
    kind: str
    name: str
    held_by: int
    value: float
    confidence: float


@dataclass(frozen=True)
class Walked:
    """What one pass found: the slate with the facts it brought, features a row of the slate, the steps, and the facts ranked."""

    slate: Slate
    seeds: Mapping[str, float]
    features: Mapping[str, Numbers]
    steps: Mapping[str, Step]
    ranked: NDArray[np.bool_]

    @property
    def gives(self) -> Numbers:
        """What the walk gives each fact."""
        weights = ranking().features
        return np.asarray(sum(weights.get(name, 1.0) * values for name, values in self.features.items()))

    @property
    def scores(self) -> Numbers:
        return self.slate.direct + self.gives


def walk(known: Slate, seeds: Mapping[str, float], cue: Cue, asked: Question, floor: float) -> Asking[Walked]:
    """One pass from weighted seeds."""
    constants = ranking().names
    paths: NamePaths = yield Paths(tuple(seeds), asked.where, constants.common, constants.most)
    known = yield from widened(known, paths.ids, cue, asked)
    row = known.rows()
    rows = np.array([row[id] for id in paths.ids], np.int64)
    weights = np.array([seeds.get(id, 0.0) for id in paths.ids], np.float64)
    about, shared = (
        walking.best_steps(steps, weights, name_weights(paths, cue, floor), facts=len(paths.ids))
        for steps in steps_of(paths, known.cosine[rows], cue)
    )
    kept = _kept(about.value) | _kept(shared.value)
    better = np.where(about.value >= shared.value, about.step, shared.step)
    features, steps = yield from _judged(known, paths, rows, np.flatnonzero(kept), about, shared, better, cue)
    ranked = np.zeros(len(known.ids), np.bool_)
    ranked[rows[kept]] = True
    ranked[[row[seed] for seed in seeds]] = True
    ranked[list(fusion.order(known.direct, known.ids)[: constants.kept])] = True
    first = max(seeds, key=lambda id: seeds[id], default=None)
    features["first"] = np.array([id == first for id in known.ids], np.float64)
    return Walked(known, seeds, features, steps, ranked)


def widened(known: Slate, ids: tuple[str, ...], cue: Cue, asked: Question) -> Asking[Slate]:
    """The slate with facts that were not weighed yet."""
    new = [id for id in ids if id not in set(known.ids)]
    if not new:
        return known
    evidence: Evidence = yield weigh(new, cue, asked.settings)
    return joined(known, slate(evidence, cue, asked.settings))


def weigh(ids: list[str], cue: Cue, settings: Settings) -> Weigh:
    """Ask for what scoring needs of facts, and of the turns around them where those count."""
    if cue.words.context is None:
        return Weigh(ids, cue.words.words)
    return Weigh(ids, cue.words.words, ranking().words.reach, ranking().vectors.reach)


def name_weights(paths: NamePaths, cue: Cue, floor: float) -> Numbers:
    """What each name counts: by its rarity and sureness, less if the question holds it; those that are too unsure nothing."""
    asked = {one.name for one in cue.names}
    held = np.array([ranking().names.in_question if name in asked else 1.0 for name in paths.name], np.float64)
    return walking.rarity(max(1, cue.facts), paths.count) * held * (paths.sure >= floor)


def steps_of(paths: NamePaths, cosines: Numbers, cue: Cue) -> tuple[walking.Steps, walking.Steps]:
    """Steps to facts about a name (or from a fact about it), and steps between facts that merely share one.

    Turns of a session are linked by their neighbours; that they mention the same name says nothing.
    """
    by_chance = chance(cue)
    best = float(cosines.max(initial=0.0))
    near = walking.nearness(
        cosines, best=best, least=float(by_chance.min(initial=best - 1.0)), softness=ranking().names.nearness
    )
    seed = paths.holder[paths.step]
    draws = near[paths.target] * np.where(paths.strength > 0, paths.strength, 1.0)
    about = (paths.strength > 0) | (paths.own[paths.step] > 0)
    shared = ~about & paths.loose[seed] & paths.loose[paths.target]
    everything = walking.Steps(seed, paths.step, paths.target, draws, np.arange(len(seed)))
    return _only(everything, about), _only(everything, shared)


def _only(steps: walking.Steps, wanted: NDArray[np.bool_]) -> walking.Steps:
    """The wanted ones; the others draw nothing, so that rows of steps stay what they are."""
    at = np.flatnonzero(wanted)
    return walking.Steps(steps.seed[at], steps.name[at], steps.fact[at], steps.draws[at], at)


def _kept(values: Numbers) -> NDArray[np.bool_]:
    """The strongest of those that a step leads to."""
    order = np.argsort(-values, kind="stable")[: ranking().names.kept]
    kept = np.zeros(len(values), np.bool_)
    kept[order] = values[order] > 0
    return kept


def _judged(
    known: Slate,
    paths: NamePaths,
    rows: Rows,
    kept: Rows,
    about: walking.Best,
    shared: walking.Best,
    better: Rows,
    cue: Cue,
) -> Asking[tuple[dict[str, Numbers], dict[str, Step]]]:
    """The features of linked facts, 0 for all others, and the step to each."""
    link = better[kept]
    step = paths.step[link]
    source = paths.holder[step]
    shares = cue.word_shares
    features = {name: np.zeros(len(known.ids)) for name in ranking().features if name not in ("named", "first")}
    if len(kept):
        asked = [*(paths.ids[at] for at in kept), *(paths.ids[at] for at in source)]
        places: NDArray[np.int64] = yield Places(asked, cue.words.words)
        nothing = np.zeros((len(kept), len(shares)), np.bool_)
        own, theirs = known.holds[rows[kept]], known.holds[rows[source]]
        found = {
            "about": np.sqrt(about.value[kept]),
            "shared": np.sqrt(shared.value[kept]),
            "rare": SURE_AS_CAN_BE - np.log(np.maximum(1, paths.count[step])),
            "fits": covering.best_sentence(places[len(kept) :], paths.sentences[step], nothing, shares),
            "adds_there": covering.best_sentence(places[: len(kept)], paths.there[link], theirs, shares),
            "adds": covering.share(own, theirs, shares),
            "repeats": known.scores["keyword"][rows[kept]],
        }
        for name, values in found.items():
            features[name][rows[kept]] = values
    steps = {
        paths.ids[at]: Step(
            paths.ids[paths.holder[paths.step[better[at]]]],
            paths.ids[at],
            "about" if about.value[at] >= shared.value[at] else "entity",
            paths.name[paths.step[better[at]]],
            int(paths.count[paths.step[better[at]]]),
            float(max(about.value[at], shared.value[at])),
            float(paths.sure[paths.step[better[at]]]),
        )
        for at in kept.tolist()
    }
    return features, steps


def again(walked: Walked, *, count: int, softness: float, least: float) -> dict[str, float]:
    """The best of a ranking as seeds of the next pass."""
    scores = np.where(walked.ranked, walked.scores, -np.inf)
    best = fusion.order(scores, walked.slate.ids)[:count]
    return seeds_of(walked.slate, scores, best, softness=softness, least=least)


def seeds_of(
    known: Slate, scores: Numbers, rows: tuple[int, ...], *, softness: float, least: float
) -> dict[str, float]:
    """Seeds with their weights beside the best of them; those below the least are none."""
    chosen = [row for row in rows if np.isfinite(scores[row])]
    weights = walking.warmth(scores[chosen], softness=softness)
    return {known.ids[row]: float(weight) for row, weight in zip(chosen, weights, strict=True) if weight >= least}


def covered(walked: Walked, cue: Cue, *, count: int) -> Walked:
    """The pass with a last pick among the best that rewards facts for words that none before them holds."""
    scores = np.where(walked.ranked, walked.scores, -np.inf)
    best = [row for row in fusion.order(scores, walked.slate.ids)[: ranking().names.kept] if np.isfinite(scores[row])]
    bonus = np.zeros(len(scores))
    ids = [walked.slate.ids[row] for row in best]
    bonus[best] = covering.picked(
        scores[best],
        walked.slate.holds[best],
        cue.word_shares,
        ids,
        count=min(count, len(best)),
        reward=ranking().coverage,
    )
    return replace(walked, features={**walked.features, "covers": bonus})
