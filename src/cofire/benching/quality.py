"""Recall quality: how much of what answers a question comes back first, by every arm on one and the same store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cofire.benching import evaluation_sets, provenance, scoring
from cofire.benching.arms import DEFAULT, GRAPH_OFF, SINGLES, Arm, ablations, chosen
from cofire.benching.comparing import differences
from cofire.benching.evaluation_sets import Asked, EvaluationSet
from cofire.benching.intervals import Shares
from cofire.benching.kept_vectors import KeptVectors, default_folder
from cofire.benching.scoring import METRICS, Answer
from cofire.benching.stocking import Manner, Stock, Watch, stocked
from cofire.benching.wandering import side_by_side, wander
from cofire.configuration import gather
from cofire.embedders.base import Embedder
from cofire.errors import InvalidInput
from cofire.opening import FROM_SETTINGS, choose_embedder
from cofire.ranking import using
from cofire.stores.base import Network

JOINED = "joined"

# Facts from which the PageRank baseline begins: with as many as are looked at, it could only put them in another order. Six pairs
# were tried, 3, 5 and 8 seeds at damping .5 and .85, on 60 questions of four tuning halves; 3 was best, at either damping alike.
SEEDS = 3

Figures = dict[str, Any]

# What becomes of the sessions of a set.
SESSIONS: Mapping[str, Callable[[EvaluationSet], EvaluationSet]] = {
    "given": lambda chosen: chosen,
    "withheld": evaluation_sets.sessionless,
    "whole": evaluation_sets.whole_sessions,
}


@dataclass(frozen=True)
class Wanted:
    """What shall be measured, and how."""

    folders: Sequence[Path]
    sets: Sequence[str] = ()
    arms: Sequence[str] = ()
    half: str = "all"
    limit: int | None = None
    titles: bool = True
    sessions: str = "given"
    dream: bool = False
    joined: bool = False
    ablate: bool = False
    keep: Path | None = None
    cache: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def measure(wanted: Wanted, watch: Watch, embedder: Embedder | str | None = FROM_SETTINGS) -> Figures:
    """All figures, with where they come from. `embedder` is the one of the settings unless another is given."""
    arms = chosen(list(wanted.arms) or ([DEFAULT] if wanted.ablate else None))
    if wanted.ablate:
        arms = {**chosen([DEFAULT]), **arms}
    figures: Figures = {}
    sets: Figures = {}
    for name, together in groups(wanted):
        kept = kept_vectors(wanted, embedder)
        manner = Manner(wanted.settings, wanted.dream, wanted.keep)
        with stocked(name, together, kept, manner, _named(name, watch)) as stock:
            figures = figures or {**provenance.provenance(stock.memory.settings()), **_of_run(wanted, arms, kept)}
            for one in together:
                sets[one.name] = measured(one, stock, arms, wanted, _named(one.name, watch))
    return {**figures, "sets": sets, **({"ablations": mean_losses(sets)} if wanted.ablate else {})}


def groups(wanted: Wanted) -> Iterator[tuple[str, list[EvaluationSet]]]:
    """The sets that go into one store, with its name: each by itself, or all together."""
    sets = list(loaded(wanted))
    if wanted.joined:
        yield JOINED, evaluation_sets.joined(sets)
        return
    yield from ((one.name, [one]) for one in sets)


def loaded(wanted: Wanted) -> Iterator[EvaluationSet]:
    """The sets that are named, or all in the folders."""
    for folder in folders_of(wanted):
        found = evaluation_sets.half_of(evaluation_sets.load(folder, limit=None), wanted.half)
        titled = found if wanted.titles else evaluation_sets.untitled(found)
        yield evaluation_sets.first_questions(SESSIONS[wanted.sessions](titled), wanted.limit)


def folders_of(wanted: Wanted) -> list[Path]:
    """Where the sets are; names must tell them apart."""
    folders: dict[str, Path] = {}
    for folder in evaluation_sets.find_sets(wanted.folders):
        if folders.setdefault(folder.resolve().name, folder).resolve() != folder.resolve():
            raise InvalidInput(f"Two sets are called {folder.name}.", way_out="Rename the folder of one.")
    for name in wanted.sets:
        if name not in folders:
            raise InvalidInput(f"There is no set {name!r}.", way_out=f"There are {', '.join(folders)}.")
    return [folder for name, folder in folders.items() if not wanted.sets or name in wanted.sets]


def kept_vectors(wanted: Wanted, embedder: Embedder | str | None) -> KeptVectors | None:
    """The embedder, with the vectors of earlier runs; none where the settings want none."""
    found = choose_embedder(embedder, gather(record=None, call=wanted.settings))
    return None if found is None else KeptVectors(found, wanted.cache or default_folder())


def measured(one: EvaluationSet, stock: Stock, arms: Mapping[str, Arm], wanted: Wanted, watch: Watch) -> Figures:
    """The figures of every arm on one set, and what the ablations lose."""
    asker = Asker(stock)
    asker.warm_up(one.questions)
    fact_of = stock.fact_of[one.name]
    found = {
        name: scoring.figures(asker.answers(one.questions, arm, name, watch), fact_of) for name, arm in arms.items()
    }
    figures = {
        "rows": len(one.rows),
        "facts": len(set(fact_of.values())),
        "questions": len(one.questions),
        "asked": [{"id": asked.id, "category": asked.category, "tuning": asked.tuning} for asked in one.questions],
        "arms": found,
        "shortfalls": scoring.shortfalls(found, arm=DEFAULT, singles=SINGLES),
        "harm": scoring.harm(found, arm=DEFAULT, without=GRAPH_OFF),
    }
    if wanted.ablate:
        figures["ablations"] = {
            name: lost(found[DEFAULT], scoring.figures(asker.answers(one.questions, arm, name, watch), fact_of))
            for name, arm in ablations().items()
        }
    return figures


def lost(whole: Figures, ablated: Figures) -> Figures:
    """The figures of an ablation, and what it loses against the default."""
    return {**ablated, "loss": differences(shares_array(ablated), shares_array(whole))}


def shares_array(figures: Figures) -> Shares:
    return np.array([figures["shares"][metric] for metric in METRICS], np.float64).T


def mean_losses(sets: Mapping[str, Any]) -> Figures:
    """What each ablation loses on the mean of the sets, each set counting the same."""
    names = dict.fromkeys(name for one in sets.values() for name in one["ablations"])
    return {
        name: {
            metric: round(
                float(np.mean([one["ablations"][name]["loss"][metric]["points"] for one in sets.values()])), 2
            )
            for metric in METRICS
        }
        for name in names
    }


def is_well(figures: Figures) -> bool:
    """Whether the default is nowhere below its better channel, nor harmed by the graph."""
    return not any(one["shortfalls"] or one["harm"] for one in figures["sets"].values())


class Asker:
    """Asks one store by any arm; the networks of the scopes are read once."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self._networks: dict[tuple[str, ...], Network] = {}

    def answers(self, questions: Sequence[Asked], arm: Arm, name: str, watch: Watch) -> list[Answer]:
        """What comes back to each question, and how long the processor took for it without embedding."""
        found = []
        with using(arm.constants) if arm.constants else nullcontext():
            for number, question in enumerate(questions, 1):
                found.append(self._answer(question, arm))
                watch(name, number, len(questions))
        return found

    def warm_up(self, questions: Sequence[Asked]) -> None:
        """Ask once, so that no arm is charged for reading the index."""
        for question in questions[:1]:
            self._stock.memory.recall(question.text, scope=question.scope)

    def _answer(self, question: Asked, arm: Arm) -> Answer:
        network = self._network(question) if arm.wanders else None
        begun = self._spent()
        ids = self._recalled(question, arm) if network is None else self._wandered(question, arm, network)
        return Answer(question, ids, 1000 * (self._spent() - begun))

    def _recalled(self, question: Asked, arm: Arm) -> tuple[str, ...]:
        asked = self._stock.memory.recall
        return asked(question.text, k=scoring.DEPTH, scope=question.scope, settings=arm.settings).ids

    def _wandered(self, question: Asked, arm: Arm, network: Network) -> tuple[str, ...]:
        found = self._stock.memory.recall(question.text, k=SEEDS, scope=question.scope, settings=arm.settings)
        return tuple(wander(network, {hit.id: max(hit.score, 0.0) for hit in found}, scoring.DEPTH))

    def _network(self, question: Asked) -> Network:
        scopes = (question.scope,) if isinstance(question.scope, str) else question.scope
        if scopes not in self._networks:
            self._networks[scopes] = side_by_side([self._stock.store.network(scope) for scope in scopes])
        return self._networks[scopes]

    def _spent(self) -> float:
        return time.process_time() - (self._stock.embedder.spent if self._stock.embedder else 0.0)


def _of_run(wanted: Wanted, arms: Mapping[str, Arm], embedder: KeptVectors | None) -> Figures:
    return {
        "embedder": embedder.model.name if embedder else None,
        "run": {
            "half": wanted.half,
            "limit": wanted.limit,
            "titles": wanted.titles,
            "sessions": wanted.sessions,
            "dream": wanted.dream,
            "joined": wanted.joined,
            "arms": {name: arm.help for name, arm in arms.items()},
        },
    }


def _named(name: str, watch: Watch) -> Watch:
    return lambda doing, done, total: watch(f"{name}: {doing}", done, total)
