"""Measure the recall quality of every arm on one store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cofire.embedders.base import Embedder
from cofire.errors import InvalidInput
from cofire.evaluation import datasets, metrics, provenance
from cofire.evaluation.baselines import (
    DEFAULT_ARM,
    GRAPH_OFF_ARM,
    SINGLE_CHANNEL_ARMS,
    Arm,
    join_networks,
    make_ablations,
    rank_by_pagerank,
    select_arms,
)
from cofire.evaluation.datasets import EvaluationQuestion, EvaluationSet
from cofire.evaluation.metrics import METRICS, ArmAnswer, ShareMatrix, compare_shares
from cofire.evaluation.store_setup import (
    CachingEmbedder,
    LoadedMemory,
    LoadOptions,
    ProgressCallback,
    default_cache_folder,
    open_loaded_memory,
)
from cofire.runtime.session import FROM_SETTINGS, choose_embedder
from cofire.settings.ranking import override_constants
from cofire.settings.sources import load_settings
from cofire.stores.base import ScopeGraph

JOINED_SET_NAME = "joined"

# Facts from which the PageRank baseline begins: with as many as are looked at, it could only put them in another order. Six pairs
# were tried, 3, 5 and 8 seeds at damping .5 and .85, on 60 questions of four tuning halves; 3 was best, at either damping alike.
BASELINE_SEEDS = 3

Figures = dict[str, Any]

# What becomes of the sessions of a set.
SESSION_VARIANTS: Mapping[str, Callable[[EvaluationSet], EvaluationSet]] = {
    "given": lambda chosen: chosen,
    "withheld": datasets.withhold_sessions,
    "whole": datasets.merge_sessions,
}


@dataclass(frozen=True)
class QualityOptions:
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


def measure_quality(
    wanted: QualityOptions, watch: ProgressCallback, embedder: Embedder | str | None = FROM_SETTINGS
) -> Figures:
    """All figures, with where they come from. `embedder` is the one of the settings unless another is given."""
    arms = select_arms(list(wanted.arms) or ([DEFAULT_ARM] if wanted.ablate else None))
    if wanted.ablate:
        arms = {**select_arms([DEFAULT_ARM]), **arms}
    figures: Figures = {}
    sets: Figures = {}
    for name, together in group_sets(wanted):
        kept = make_caching_embedder(wanted, embedder)
        manner = LoadOptions(wanted.settings, wanted.dream, wanted.keep)
        with open_loaded_memory(name, together, kept, manner, _prefix_progress(name, watch)) as stock:
            figures = figures or {
                **provenance.collect_provenance(stock.memory.settings()),
                **_describe_run(wanted, arms, kept),
            }
            for one in together:
                sets[one.name] = measure_set(one, stock, arms, wanted, _prefix_progress(one.name, watch))
    return {**figures, "sets": sets, **({"ablations": average_losses(sets)} if wanted.ablate else {})}


def group_sets(wanted: QualityOptions) -> Iterator[tuple[str, list[EvaluationSet]]]:
    """The sets that go into one store, with its name: each by itself, or all together."""
    sets = list(load_sets(wanted))
    if wanted.joined:
        yield JOINED_SET_NAME, datasets.join_sets(sets)
        return
    yield from ((one.name, [one]) for one in sets)


def load_sets(wanted: QualityOptions) -> Iterator[EvaluationSet]:
    """The sets that are named, or all in the folders."""
    for folder in find_set_folders(wanted):
        found = datasets.select_half(datasets.load_set(folder, limit=None), wanted.half)
        titled = found if wanted.titles else datasets.withhold_titles(found)
        yield datasets.limit_questions(SESSION_VARIANTS[wanted.sessions](titled), wanted.limit)


def find_set_folders(wanted: QualityOptions) -> list[Path]:
    """Where the sets are; names must tell them apart."""
    folders: dict[str, Path] = {}
    for folder in datasets.find_sets(wanted.folders):
        if folders.setdefault(folder.resolve().name, folder).resolve() != folder.resolve():
            raise InvalidInput(f"Two sets are called {folder.name}.", way_out="Rename the folder of one.")
    for name in wanted.sets:
        if name not in folders:
            raise InvalidInput(f"There is no set {name!r}.", way_out=f"There are {', '.join(folders)}.")
    return [folder for name, folder in folders.items() if not wanted.sets or name in wanted.sets]


def make_caching_embedder(wanted: QualityOptions, embedder: Embedder | str | None) -> CachingEmbedder | None:
    """The embedder, with the vectors of earlier runs; none where the settings want none."""
    found = choose_embedder(embedder, load_settings(record=None, call=wanted.settings))
    return None if found is None else CachingEmbedder(found, wanted.cache or default_cache_folder())


def measure_set(
    one: EvaluationSet, stock: LoadedMemory, arms: Mapping[str, Arm], wanted: QualityOptions, watch: ProgressCallback
) -> Figures:
    """The figures of every arm on one set, and what the ablations lose."""
    asker = QuestionRunner(stock)
    asker.warm_up(one.questions)
    fact_of = stock.fact_of[one.name]
    found = {
        name: metrics.summarise_arm(asker.answers(one.questions, arm, name, watch), fact_of)
        for name, arm in arms.items()
    }
    figures = {
        "rows": len(one.rows),
        "facts": len(set(fact_of.values())),
        "questions": len(one.questions),
        "asked": [{"id": asked.id, "category": asked.category, "tuning": asked.tuning} for asked in one.questions],
        "arms": found,
        "shortfalls": metrics.find_shortfalls(found, arm=DEFAULT_ARM, singles=SINGLE_CHANNEL_ARMS),
        "harm": metrics.find_harm(found, arm=DEFAULT_ARM, without=GRAPH_OFF_ARM),
    }
    if wanted.ablate:
        figures["ablations"] = {
            name: compute_loss(
                found[DEFAULT_ARM], metrics.summarise_arm(asker.answers(one.questions, arm, name, watch), fact_of)
            )
            for name, arm in make_ablations().items()
        }
    return figures


def compute_loss(whole: Figures, ablated: Figures) -> Figures:
    """The figures of an ablation, and what it loses against the default."""
    return {**ablated, "loss": compare_shares(stack_shares(ablated), stack_shares(whole))}


def stack_shares(figures: Figures) -> ShareMatrix:
    return np.array([figures["shares"][metric] for metric in METRICS], np.float64).T


def average_losses(sets: Mapping[str, Any]) -> Figures:
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


def is_passing(figures: Figures) -> bool:
    """Whether the default is nowhere below its better channel, nor harmed by the graph."""
    return not any(one["shortfalls"] or one["harm"] for one in figures["sets"].values())


class QuestionRunner:
    """Asks one store by any arm; the networks of the scopes are read once."""

    def __init__(self, stock: LoadedMemory) -> None:
        self._stock = stock
        self._networks: dict[tuple[str, ...], ScopeGraph] = {}

    def answers(
        self, questions: Sequence[EvaluationQuestion], arm: Arm, name: str, watch: ProgressCallback
    ) -> list[ArmAnswer]:
        """What comes back to each question, and how long the processor took for it without embedding."""
        found = []
        with override_constants(arm.constants) if arm.constants else nullcontext():
            for number, question in enumerate(questions, 1):
                found.append(self._answer(question, arm))
                watch(name, number, len(questions))
        return found

    def warm_up(self, questions: Sequence[EvaluationQuestion]) -> None:
        """Ask once, so that no arm is charged for reading the index."""
        for question in questions[:1]:
            self._stock.memory.recall(question.text, scope=question.scope)

    def _answer(self, question: EvaluationQuestion, arm: Arm) -> ArmAnswer:
        network = self._network(question) if arm.wanders else None
        begun = self._spent()
        ids = self._recalled(question, arm) if network is None else self._wandered(question, arm, network)
        return ArmAnswer(question, ids, 1000 * (self._spent() - begun))

    def _recalled(self, question: EvaluationQuestion, arm: Arm) -> tuple[str, ...]:
        asked = self._stock.memory.recall
        return asked(question.text, k=metrics.RANK_DEPTH, scope=question.scope, settings=arm.settings).ids

    def _wandered(self, question: EvaluationQuestion, arm: Arm, network: ScopeGraph) -> tuple[str, ...]:
        found = self._stock.memory.recall(question.text, k=BASELINE_SEEDS, scope=question.scope, settings=arm.settings)
        return tuple(rank_by_pagerank(network, {hit.id: max(hit.score, 0.0) for hit in found}, metrics.RANK_DEPTH))

    def _network(self, question: EvaluationQuestion) -> ScopeGraph:
        scopes = (question.scope,) if isinstance(question.scope, str) else question.scope
        if scopes not in self._networks:
            self._networks[scopes] = join_networks([self._stock.store.fetch_scope_graph(scope) for scope in scopes])
        return self._networks[scopes]

    def _spent(self) -> float:
        return time.process_time() - (self._stock.embedder.spent if self._stock.embedder else 0.0)


def _describe_run(wanted: QualityOptions, arms: Mapping[str, Arm], embedder: CachingEmbedder | None) -> Figures:
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


def _prefix_progress(name: str, watch: ProgressCallback) -> ProgressCallback:
    return lambda doing, done, total: watch(f"{name}: {doing}", done, total)
