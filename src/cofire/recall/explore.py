"""Explore the graph outward from facts or from the hits of a question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypedDict

from cofire.activation_paths import ExploreResult, SeedExploration
from cofire.algorithms.energy import EnergyRule, sum_energies
from cofire.errors import CofireError, InvalidQuestion
from cofire.ids import is_id
from cofire.recall.recall import recall
from cofire.recall.request import FilterOptions, NamesInput, build_filter
from cofire.recall.spreading import follow_paths
from cofire.results import Recollection
from cofire.runtime.effects import Emit, ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import (
    ENERGY_BRANCHES,
    ENERGY_MAX_DEPTH,
    ENERGY_MIN_ACTIVATION,
    ENERGY_SEEDS,
    ENERGY_TAG_FLOOR,
    Settings,
)
from cofire.stores.base import ExpansionOptions
from cofire.verbs import validation
from cofire.verbs.listing import check_ids

# Only the strongest links of a hub are read: the others would pass on almost no energy.
MAX_LINKS_PER_FACT = 1_000


class ExploreOptions(TypedDict, total=False):
    """All keyword arguments of `explore`."""

    query: Annotated[str | None, "Start from the facts that recall finds for this question, instead of ids."]
    tags: Annotated[NamesInput, "Prefer edges with these tags."]
    energies: Annotated[
        Mapping[str, float] | Sequence[float] | None,
        "Energy of each id, above 0 up to 1: a list in the order of ids, or by id. Default: 1 each.",
    ]
    scope: Annotated[NamesInput, "Stay in these scopes."]
    where: Annotated[Mapping[str, object] | None, "Only start from and reach facts whose metadata match, as in recall."]
    max_depth: Annotated[int | None, "Maximum number of links on a path. Default: the setting energy.max_depth."]
    min_activation: Annotated[
        float | None, "A path ends where its energy is below this. Default: the setting energy.min_activation."
    ]
    branches: Annotated[
        int | None, "Maximum number of neighbours followed from each fact. Default: the setting energy.branches."
    ]


@dataclass(frozen=True)
class ExploreLimits:
    """Which links to follow, how far, and which tags to prefer."""

    links: ExpansionOptions
    rule: EnergyRule
    tags: frozenset[str]
    tag_floor: float


def explore(ids: str | Iterable[str] | None, options: ExploreOptions, settings: Settings) -> Steps[ExploreResult]:
    """Explore from facts by id, each with energy 1 by default, or from the hits of a question by their scores."""
    if isinstance(ids, str) and (yield from _is_question(ids, options)):
        ids, options = None, {**options, "query": ids}
    seeds = parse_starts(ids, options)
    now = yield ReadClock()
    limits = _make_limits(options, settings, now, everywhere=seeds is not None)
    reason = ""
    if seeds is None:
        seeds, reason = yield from _find_seeds(options, settings)
    explorations: list[SeedExploration] = []
    for seed, energy in seeds.items():
        exploration = yield from _explore_seed(seed, energy, limits)
        explorations.append(exploration)
        yield Emit(exploration)
    energies = sum_energies(exploration.energies for exploration in explorations)
    return ExploreResult(tuple(explorations), energies, reason)


def _is_question(text: str, options: ExploreOptions) -> Steps[bool]:
    """Whether a single text is a question: it does not look like an id, and no fact has it as its id."""
    if not text.strip() or is_id(text) or options.get("query") is not None or options.get("energies") is not None:
        return False
    (fact,) = yield from store.read_facts([text])
    return fact is None


def parse_starts(ids: str | Iterable[str] | None, options: ExploreOptions) -> dict[str, float] | None:
    """The ids to start from with their energies; None if a question selects them."""
    query, energies = options.get("query"), options.get("energies")
    if (ids is None) == (query is None):
        raise InvalidQuestion("Explore from ids or from a query.", way_out="Give one of the two.")
    if ids is None:
        if energies is not None:
            raise InvalidQuestion("A query weighs its seeds itself.", way_out="Leave energies out, or give ids.")
        return None
    checked_ids = check_ids(ids)
    if not checked_ids:
        raise InvalidQuestion("There is no id to start from.", way_out="Give one id or several.")
    return dict(zip(checked_ids, _check_energies(checked_ids, energies), strict=True))


def normalise_scores(scores: Sequence[float]) -> list[float]:
    """Scores as energies in (0, 1], the best one 1: score / best if all are above 0, otherwise e^(score − best).

    >>> normalise_scores([4.0, 2.0]), [round(energy, 3) for energy in normalise_scores([1.0, -1.0])]
    ([1.0, 0.5], [1.0, 0.135])
    """
    best = max(scores, default=0.0)
    if min(scores, default=0.0) > 0:
        return [score / best for score in scores]
    return [max(math.exp(score - best), 1e-9) for score in scores]


def _find_seeds(options: ExploreOptions, settings: Settings) -> Steps[tuple[dict[str, float], str]]:
    """The hits of a question with their energies, and the reason if there are none."""
    recollection: Recollection = yield from recall(
        options.get("query"),
        {"k": settings[ENERGY_SEEDS], "scope": options.get("scope"), "where": options.get("where")},
        settings,
    )
    hits = list(recollection)[: settings[ENERGY_SEEDS]]
    energies = normalise_scores([hit.score for hit in hits])
    seeds = {hit.id: energy for hit, energy in zip(hits, energies, strict=True)}
    return seeds, recollection.reason


def _explore_seed(seed: str, energy: float, limits: ExploreLimits) -> Steps[SeedExploration]:
    where = limits.links.where
    try:
        (fact,) = yield from store.read_facts([seed])
        if fact is None or not where.admits(fact):
            filtered = fact is not None and bool(where.metadata)
            reason = f"No fact has the id {seed}{' and passes the filter where' if filtered else ''}."
            return SeedExploration(seed, energy, "seed_not_found", reason=reason)
        (trail,) = yield from follow_paths(
            {seed: energy}, limits.links, limits.rule, tags=limits.tags, tag_floor=limits.tag_floor
        )
    except CofireError as error:
        return SeedExploration(seed, energy, "failed", reason=str(error))
    return SeedExploration(seed, energy, "complete", paths=trail.paths, energies=trail.energies, hops=trail.hops)


def _make_limits(options: ExploreOptions, settings: Settings, now: datetime, *, everywhere: bool) -> ExploreLimits:
    """The limits of a call. Links stay within a scope, so ids need no scope argument (`everywhere`)."""
    limit_values = {
        ENERGY_MAX_DEPTH.name: options.get("max_depth"),
        ENERGY_MIN_ACTIVATION.name: options.get("min_activation"),
        ENERGY_BRANCHES.name: options.get("branches"),
    }
    overrides = {name: value for name, value in limit_values.items() if value is not None}
    settings = settings.over(overrides)
    filters: FilterOptions = {"scope": options.get("scope"), "where": options.get("where")}
    where = build_filter(filters, now, everywhere=everywhere)
    return ExploreLimits(
        links=ExpansionOptions(where, kinds=None, floor=0.0, most=MAX_LINKS_PER_FACT),
        rule=EnergyRule(settings[ENERGY_MAX_DEPTH], settings[ENERGY_MIN_ACTIVATION], settings[ENERGY_BRANCHES]),
        tags=frozenset(validation.parse_tags(options.get("tags"), InvalidQuestion)),
        tag_floor=settings[ENERGY_TAG_FLOOR],
    )


def _check_energies(ids: Sequence[str], energies: Mapping[str, float] | Sequence[float] | None) -> list[float]:
    """The energy of each id, in the order of the ids."""
    if energies is None:
        return [1.0 for _ in ids]
    if isinstance(energies, Mapping):
        if not energies.keys() <= set(ids):
            raise InvalidQuestion(
                "energies names an id that is not among the ids.", way_out="Give energies only for these ids."
            )
        return [_check_energy(energies.get(id, 1.0)) for id in ids]
    values = list(energies)
    if len(values) != len(ids):
        raise InvalidQuestion(
            f"There are {len(ids)} ids and {len(values)} energies.", way_out="Give an energy for each id, in order."
        )
    return [_check_energy(value) for value in values]


def _check_energy(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise InvalidQuestion(f"An energy cannot be {value!r}.", way_out="Give a number above 0, up to 1.")
    return float(value)
