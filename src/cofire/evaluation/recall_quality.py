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

# Seeds of the PageRank baseline. With as many seeds as results it could only reorder them. 3, 5 and 8
# seeds were tried at damping .5 and .85 on 60 questions of four tuning halves; 3 was best at both.
BASELINE_SEEDS = 3

Figures = dict[str, Any]

# Variants of the sessions of a set.
SESSION_VARIANTS: Mapping[str, Callable[[EvaluationSet], EvaluationSet]] = {
    "given": lambda chosen: chosen,
    "withheld": datasets.withhold_sessions,
    "whole": datasets.merge_sessions,
}


@dataclass(frozen=True)
class QualityOptions:
    """What to measure, and how."""

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
    options: QualityOptions, progress: ProgressCallback, embedder: Embedder | str | None = FROM_SETTINGS
) -> Figures:
    """All figures with their provenance. The default embedder is that of the settings."""
    arms = select_arms(list(options.arms) or ([DEFAULT_ARM] if options.ablate else None))
    if options.ablate:
        arms = {**select_arms([DEFAULT_ARM]), **arms}
    figures: Figures = {}
    sets: Figures = {}
    for name, grouped_sets in group_sets(options):
        cached_embedder = make_caching_embedder(options, embedder)
        load_options = LoadOptions(options.settings, options.dream, options.keep)
        with open_loaded_memory(
            name, grouped_sets, cached_embedder, load_options, _prefix_progress(name, progress)
        ) as stock:
            figures = figures or {
                **provenance.collect_provenance(stock.memory.settings()),
                **_describe_run(options, arms, cached_embedder),
            }
            for evaluation_set in grouped_sets:
                sets[evaluation_set.name] = measure_set(
                    evaluation_set, stock, arms, options, _prefix_progress(evaluation_set.name, progress)
                )
    return {**figures, "sets": sets, **({"ablations": average_losses(sets)} if options.ablate else {})}


def group_sets(options: QualityOptions) -> Iterator[tuple[str, list[EvaluationSet]]]:
    """The sets that share a store, and its name: each set alone, or all together."""
    sets = list(load_sets(options))
    if options.joined:
        yield JOINED_SET_NAME, datasets.join_sets(sets)
        return
    yield from ((evaluation_set.name, [evaluation_set]) for evaluation_set in sets)


def load_sets(options: QualityOptions) -> Iterator[EvaluationSet]:
    """The named sets, or all in the folders."""
    for folder in find_set_folders(options):
        evaluation_set = datasets.select_half(datasets.load_set(folder, limit=None), options.half)
        titled = evaluation_set if options.titles else datasets.withhold_titles(evaluation_set)
        yield datasets.limit_questions(SESSION_VARIANTS[options.sessions](titled), options.limit)


def find_set_folders(options: QualityOptions) -> list[Path]:
    """The folders of the sets. Their names must be unique."""
    folders: dict[str, Path] = {}
    for folder in datasets.find_sets(options.folders):
        if folders.setdefault(folder.resolve().name, folder).resolve() != folder.resolve():
            raise InvalidInput(f"Two sets are called {folder.name}.", way_out="Rename the folder of one.")
    for name in options.sets:
        if name not in folders:
            raise InvalidInput(f"There is no set {name!r}.", way_out=f"There are {', '.join(folders)}.")
    return [folder for name, folder in folders.items() if not options.sets or name in options.sets]


def make_caching_embedder(options: QualityOptions, embedder: Embedder | str | None) -> CachingEmbedder | None:
    """The embedder with a cache of vectors. None if the settings disable it."""
    chosen = choose_embedder(embedder, load_settings(record=None, call=options.settings))
    return None if chosen is None else CachingEmbedder(chosen, options.cache or default_cache_folder())


def measure_set(
    evaluation_set: EvaluationSet,
    stock: LoadedMemory,
    arms: Mapping[str, Arm],
    options: QualityOptions,
    progress: ProgressCallback,
) -> Figures:
    """The figures of every arm on one set, and the losses of the ablations."""
    runner = QuestionRunner(stock)
    runner.warm_up(evaluation_set.questions)
    fact_of = stock.fact_of[evaluation_set.name]
    arm_figures = {
        name: metrics.summarise_arm(runner.answers(evaluation_set.questions, arm, name, progress), fact_of)
        for name, arm in arms.items()
    }
    figures = {
        "rows": len(evaluation_set.rows),
        "facts": len(set(fact_of.values())),
        "questions": len(evaluation_set.questions),
        "asked": [
            {"id": question.id, "category": question.category, "tuning": question.tuning}
            for question in evaluation_set.questions
        ],
        "arms": arm_figures,
        "shortfalls": metrics.find_shortfalls(arm_figures, arm=DEFAULT_ARM, singles=SINGLE_CHANNEL_ARMS),
        "harm": metrics.find_harm(arm_figures, arm=DEFAULT_ARM, without=GRAPH_OFF_ARM),
    }
    if options.ablate:
        figures["ablations"] = {
            name: compute_loss(
                arm_figures[DEFAULT_ARM],
                metrics.summarise_arm(runner.answers(evaluation_set.questions, arm, name, progress), fact_of),
            )
            for name, arm in make_ablations().items()
        }
    return figures


def compute_loss(whole: Figures, ablated: Figures) -> Figures:
    """The figures of an ablation, and its loss against the default."""
    return {**ablated, "loss": compare_shares(stack_shares(ablated), stack_shares(whole))}


def stack_shares(figures: Figures) -> ShareMatrix:
    return np.array([figures["shares"][metric] for metric in METRICS], np.float64).T


def average_losses(sets: Mapping[str, Any]) -> Figures:
    """The loss of each ablation, averaged over the sets."""
    names = dict.fromkeys(name for figures in sets.values() for name in figures["ablations"])
    return {
        name: {
            metric: round(
                float(np.mean([figures["ablations"][name]["loss"][metric]["points"] for figures in sets.values()])), 2
            )
            for metric in METRICS
        }
        for name in names
    }


def is_passing(figures: Figures) -> bool:
    """Whether the default is never worse than a single channel nor harmed by the graph."""
    return not any(set_figures["shortfalls"] or set_figures["harm"] for set_figures in figures["sets"].values())


class QuestionRunner:
    """Runs questions with any arm on one store. The networks of scopes are read once."""

    def __init__(self, stock: LoadedMemory) -> None:
        self._stock = stock
        self._networks: dict[tuple[str, ...], ScopeGraph] = {}

    def answers(
        self, questions: Sequence[EvaluationQuestion], arm: Arm, name: str, watch: ProgressCallback
    ) -> list[ArmAnswer]:
        """The answer to each question, with the CPU time without embedding."""
        answers = []
        with override_constants(arm.constants) if arm.constants else nullcontext():
            for number, question in enumerate(questions, 1):
                answers.append(self._answer(question, arm))
                watch(name, number, len(questions))
        return answers

    def warm_up(self, questions: Sequence[EvaluationQuestion]) -> None:
        """Recall once, so that no arm pays for loading the index."""
        for question in questions[:1]:
            self._stock.memory.recall(question.text, scope=question.scope)

    def _answer(self, question: EvaluationQuestion, arm: Arm) -> ArmAnswer:
        network = self._network(question) if arm.wanders else None
        begun = self._spent()
        ids = self._recalled(question, arm) if network is None else self._wandered(question, arm, network)
        return ArmAnswer(question, ids, 1000 * (self._spent() - begun))

    def _recalled(self, question: EvaluationQuestion, arm: Arm) -> tuple[str, ...]:
        recall = self._stock.memory.recall
        return recall(question.text, k=metrics.RANK_DEPTH, scope=question.scope, settings=arm.settings).ids

    def _wandered(self, question: EvaluationQuestion, arm: Arm, network: ScopeGraph) -> tuple[str, ...]:
        hits = self._stock.memory.recall(question.text, k=BASELINE_SEEDS, scope=question.scope, settings=arm.settings)
        return tuple(rank_by_pagerank(network, {hit.id: max(hit.score, 0.0) for hit in hits}, metrics.RANK_DEPTH))

    def _network(self, question: EvaluationQuestion) -> ScopeGraph:
        scopes = (question.scope,) if isinstance(question.scope, str) else question.scope
        if scopes not in self._networks:
            self._networks[scopes] = join_networks([self._stock.store.fetch_scope_graph(scope) for scope in scopes])
        return self._networks[scopes]

    def _spent(self) -> float:
        return time.process_time() - (self._stock.embedder.spent if self._stock.embedder else 0.0)


def _describe_run(options: QualityOptions, arms: Mapping[str, Arm], embedder: CachingEmbedder | None) -> Figures:
    return {
        "embedder": embedder.model.name if embedder else None,
        "run": {
            "half": options.half,
            "limit": options.limit,
            "titles": options.titles,
            "sessions": options.sessions,
            "dream": options.dream,
            "joined": options.joined,
            "arms": {name: arm.help for name, arm in arms.items()},
        },
    }


def _prefix_progress(name: str, watch: ProgressCallback) -> ProgressCallback:
    return lambda doing, done, total: watch(f"{name}: {doing}", done, total)
