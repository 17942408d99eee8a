"""Fit the weights of the default ranking on the tuning halves. Prints them; changes the file only with --write.

    python benchmarks/tune.py DATA_FOLDER… [--sets …] [--rounds 3] [--leave-one-out] [--write] [--keep FOLDER] [--cache FOLDER]

Each round recalls the tuning halves with the current weights, with and without titles and sessions, each set alone and all passages
in one scope, and fits the features of the last pass to the gold by listwise logistic regression. Only ratios matter, so the direct
score of a fact has weight 1.
"""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import tomlkit
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.listwise import Example, fit
from cofire.cli.evaluation import progress_bars
from cofire.embedders.base import Embedder
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import datasets, metrics
from cofire.evaluation.baselines import Arm
from cofire.evaluation.datasets import EvaluationQuestion, EvaluationSet
from cofire.evaluation.provenance import PACKAGE_FOLDER
from cofire.evaluation.recall_quality import QuestionRunner
from cofire.evaluation.store_setup import (
    CachingEmbedder,
    LoadedMemory,
    LoadOptions,
    ProgressCallback,
    default_cache_folder,
    open_loaded_memory,
)
from cofire.settings.ranking import LinkBounds, RankingConstants, current_constants, override_constants
from cofire.settings.table import ENTITY_WEIGHT

FILE = PACKAGE_FOLDER / "settings" / "ranking.toml"

# No set has edges from `connect`, so their weight cannot be fitted.
NOT_FITTED = "wired"
NAMED = ENTITY_WEIGHT.name
ITSELF = ("semantic", "keyword", "temporal", "prior")
CANDIDATES = 20
TOO_SMALL = 1e-6
BOUNDLESS = math.inf
UNJUDGED = {"abstention.rule": "off"}

Weights = Mapping[str, float]


@dataclass(frozen=True)
class Sample:
    """A set with its tuning half. Without titles, or joined with others, it has another name and the same source set.
    The other half runs only with weights fitted without the set."""

    name: str
    of: EvaluationSet
    other: EvaluationSet
    stock: LoadedMemory


def main(arguments: Sequence[str] | None = None, make_embedder: Callable[[], Embedder] = BundledEmbedder) -> int:
    given = read_arguments(arguments)
    console = Console(width=160)
    with ExitStack() as stack, progress_bars() as watch:
        stocks = [stack.enter_context(opened(*one, given, make_embedder, watch)) for one in variants(given)]
        samples = [*chain.from_iterable(stocks)]
        weights, examples = searched(samples, given.rounds, watch)
        reached = {
            "shipped": reach(samples, shipped(), watch),
            "found": reach(samples, weights, watch),
            **({"left out, other half": left_out(samples, examples, watch)} if given.leave_one_out else {}),
        }
    console.print(table_of_weights(weights))
    console.print(table_of_reach(reached))
    console.print(in_toml(weights), highlight=False, markup=False)
    if given.write:
        write(weights, given.file)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="Weights of the ranking that serve the tuning halves best.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="DATA_FOLDER", help="A set, or a folder of sets.")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="Only these sets.")
    parser.add_argument("--limit", type=int, metavar="N", help="Only the first N questions of each tuning half.")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="Rounds of recalling and fitting.")
    parser.add_argument(
        "--leave-one-out", action="store_true", help="Measure each set with weights fitted on the others."
    )
    parser.add_argument("--write", action="store_true", help="Write the weights into ranking.toml.")
    parser.add_argument("--file", type=Path, default=FILE, help="The file that --write changes.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the stores there for the next run.")
    parser.add_argument(
        "--cache", type=Path, default=default_cache_folder(), metavar="FOLDER", help="Where vectors are kept."
    )
    return parser.parse_args(arguments)


def variants(given: Namespace) -> Iterator[tuple[str, list[EvaluationSet]]]:
    """The sets that share a store: each set; titled passages without titles; chats without sessions; and all titled
    passages in one scope, with titles and without."""
    folders = datasets.find_sets(given.folders)
    sets = [datasets.load_set(one, limit=None) for one in folders if not given.sets or one.name in given.sets]
    titled = [one for one in sets if any("subject" in fact for fact in one.facts)]
    untitled = [datasets.withhold_titles(one) for one in titled]
    yield from (("", [one]) for one in sets)
    yield from ((", no titles", [one]) for one in untitled)
    talked = [one for one in sets if any("session" in fact for fact in one.facts)]
    yield from ((", no sessions", [datasets.withhold_sessions(one)]) for one in talked)
    if len(titled) > 1:
        yield ", joined", datasets.join_sets(titled)
        yield ", joined, no titles", datasets.join_sets(untitled)


@contextmanager
def opened(
    manner: str,
    sets: Sequence[EvaluationSet],
    given: Namespace,
    make_embedder: Callable[[], Embedder],
    watch: ProgressCallback,
) -> Iterator[list[Sample]]:
    """The sets of one store."""
    embedder, name = CachingEmbedder(make_embedder(), given.cache), "-".join(one.name for one in sets)
    with open_loaded_memory(name, sets, embedder, LoadOptions({}, dream=False, keep=given.keep), watch) as stock:
        yield [Sample(one.name + manner, *halves(one, given.limit), stock) for one in sets]


def halves(of: EvaluationSet, limit: int | None) -> tuple[EvaluationSet, EvaluationSet]:
    """The half to tune on and the other one."""
    tuning, other = (datasets.select_half(of, half) for half in ("tuning", "other"))
    return datasets.limit_questions(tuning, limit), datasets.limit_questions(other, limit)


def shipped() -> dict[str, float]:
    """The current weights."""
    fitted = {name: weight for name, weight in current_constants().features.items() if name != NOT_FITTED}
    return {NAMED: ENTITY_WEIGHT.default, **fitted}


def changed(weights: Weights) -> RankingConstants:
    """The ranking with these weights. No weight is 0, so that the contribution of a feature reveals its value."""
    features = {name: weight for name, weight in weights.items() if name != NAMED}
    kept = {name: weight if abs(weight) > TOO_SMALL else TOO_SMALL for name, weight in features.items()}
    return replace(current_constants(), features={**current_constants().features, **kept})


def unbounded(constants: RankingConstants) -> RankingConstants:
    """The same without bounds on link scores, which hide the values of the features."""
    return replace(constants, links=LinkBounds(most=BOUNDLESS, least=-BOUNDLESS))


def searched(samples: Sequence[Sample], rounds: int, watch: ProgressCallback) -> tuple[dict[str, float], list[Example]]:
    """The weights after the rounds, and the examples of the last one."""
    weights, examples = shipped(), list[Example]()
    for number in range(1, rounds + 1):
        examples = list(gathered(samples, weights, number, watch))
        weights = fitted(examples, list(weights))
    return weights, examples


def fitted(examples: Sequence[Example], names: Sequence[str]) -> dict[str, float]:
    """The weights fitted to examples, in units of the direct score; the shipped weights where the examples carry no information."""
    found = fit(examples)
    if found[0] < TOO_SMALL:
        return shipped()
    return {name: round(float(value / found[0]), 3) for name, value in zip(names, found[1:], strict=True)}


def gathered(samples: Sequence[Sample], weights: Weights, number: int, watch: ProgressCallback) -> Iterator[Example]:
    """The features of the candidates of every question, from the recall pipeline."""
    constants = unbounded(changed(weights))
    with override_constants(constants):
        for sample in samples:
            for at, question in enumerate(sample.of.questions, 1):
                example = example_of(sample, question, weights, constants)
                watch(f"round {number}, {sample.name}", at, len(sample.of.questions))
                if example.gold.any():
                    yield example


def example_of(sample: Sample, question: EvaluationQuestion, weights: Weights, constants: RankingConstants) -> Example:
    """The candidates of a question: the best by direct score, and all that the walk reached."""
    found = sample.stock.memory.recall(
        question.text, scope=question.scope, settings={**UNJUDGED, "fusion.coverage": 0.0, NAMED: weights[NAMED]}
    ).ranking
    assert found is not None
    nothing = np.zeros(len(found.ids))
    itself = np.asarray(sum((found.gives[name] for name in ITSELF if name in found.gives), nothing))
    walked = [found.parts.get(name, nothing) / constants.features[name] for name in weights if name != NAMED]
    features = np.stack([itself, found.scores.get("entity", nothing), *walked], axis=1)
    best = np.argsort(-(itself + weights[NAMED] * features[:, 1]))[:CANDIDATES]
    rows = np.union1d(best, np.flatnonzero(np.abs(features[:, 2:]).sum(axis=1) > 0))
    fact_of = sample.stock.fact_of[sample.of.name]
    gold = {fact_of[row] for row in question.gold}
    return Example(sample.name, question.category, features[rows], np.array([found.ids[row] in gold for row in rows]))


def reach(samples: Sequence[Sample], weights: Weights, watch: ProgressCallback) -> dict[str, Any]:
    """The result of these weights on each sample."""
    return {sample.name: reached_on(sample, sample.of, weights, watch) for sample in samples}


def reached_on(sample: Sample, half: EvaluationSet, weights: Weights, watch: ProgressCallback) -> dict[str, Any]:
    arm = Arm("", {**UNJUDGED, NAMED: weights[NAMED]}, changed(weights))
    answers = QuestionRunner(sample.stock).answers(half.questions, arm, f"measuring {sample.name}", watch)
    return metrics.summarise_answers(answers, sample.stock.fact_of[sample.of.name])


def left_out(samples: Sequence[Sample], examples: Sequence[Example], watch: ProgressCallback) -> dict[str, Any]:
    """The result on the other half of each set with weights fitted on all other sets; without titles or
    joined it is the same set."""
    set_of = {sample.name: sample.of.name for sample in samples}
    found = {}
    for sample in samples:
        others = [one for one in examples if set_of[one.set] != sample.of.name]
        if others:
            found[sample.name] = reached_on(sample, sample.other, fitted(others, list(shipped())), watch)
    return found


def table_of_weights(weights: Weights) -> Table:
    made = Table("weight", "shipped", "found", title="Weights, beside 1 for what a fact is worth for itself")
    for name, before in shipped().items():
        made.add_row(name, f"{before:g}", f"{weights[name]:g}")
    return made


def table_of_reach(reached: Mapping[str, Mapping[str, Any]]) -> Table:
    made = Table("tuning half", *reached, title="R@5 / R@10 in percent", title_justify="left")
    for sample in next(iter(reached.values())):
        made.add_row(sample, *(_shown(found.get(sample)) for found in reached.values()))
    return made


def in_toml(weights: Weights) -> str:
    """The table for ranking.toml; the weight of names is a setting."""
    lines = [f"{name} = {weight:g}" for name, weight in weights.items() if name != NAMED]
    return "\n".join(["[features]", *lines, f"# and in settings.py: {NAMED} = {weights[NAMED]:g}"])


def write(weights: Weights, file: Path) -> None:
    """Change only the weights in the file."""
    document: Any = tomlkit.parse(file.read_text(encoding="utf-8"))
    for name, weight in weights.items():
        if name != NAMED:
            document["features"][name] = weight
    file.write_text(tomlkit.dumps(document), encoding="utf-8")


def _shown(found: Mapping[str, Any] | None) -> str:
    return f"{found['R@5']:.1f} / {found['R@10']:.1f}" if found and found["questions"] else "–"


if __name__ == "__main__":
    sys.exit(main())
