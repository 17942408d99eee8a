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
from cofire.model import Fact, FactFilter
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

# Of a hub the strongest links are read: the others would be given next to nothing.
MAX_LINKS_PER_FACT = 1_000


class ExploreOptions(TypedDict, total=False):
    """Everything a caller of `explore` may say besides the ids to start from."""

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
    """How to go: which links, how far, and by which tags."""

    conducting: ExpansionOptions
    rule: EnergyRule
    tags: frozenset[str]
    tag_floor: float


def explore(ids: str | Iterable[str] | None, options: ExploreOptions, settings: Settings) -> Steps[ExploreResult]:
    """Start from facts by id, each with an energy of 1 by default, or from the hits of a question, weighted by their scores."""
    if isinstance(ids, str) and (yield from _is_question(ids, options)):
        ids, options = None, {**options, "query": ids}
    given, now = parse_starts(ids, options), (yield ReadClock())
    manner = _make_limits(options, settings, now, everywhere=given is not None)
    seeds, reason = (given, "") if given is not None else (yield from _find_seeds(options, settings))
    explored: list[SeedExploration] = []
    for seed, energy in seeds.items():
        explored.append((yield from _explore_seed(seed, energy, manner)))
        yield Emit(explored[-1])
    return ExploreResult(tuple(explored), sum_energies(seed.energies for seed in explored), reason)


def _is_question(text: str, options: ExploreOptions) -> Steps[bool]:
    """Whether a text given in place of an id is a question: it has not the form of an id, and no fact has it as its id."""
    if not text.strip() or is_id(text) or options.get("query") is not None or options.get("energies") is not None:
        return False
    (fact,) = yield from store.read_facts([text])
    return fact is None


def parse_starts(ids: str | Iterable[str] | None, options: ExploreOptions) -> dict[str, float] | None:
    """The ids to start from with their energies; None where a question is to find them."""
    query, energies = options.get("query"), options.get("energies")
    if (ids is None) == (query is None):
        raise InvalidQuestion("Explore from ids or from a query.", way_out="Give one of the two.")
    if ids is None:
        if energies is not None:
            raise InvalidQuestion("A query weighs its seeds itself.", way_out="Leave energies out, or give ids.")
        return None
    listed = check_ids(ids)
    if not listed:
        raise InvalidQuestion("There is no id to start from.", way_out="Give one id or several.")
    return dict(zip(listed, _check_energies(listed, energies), strict=True))


def normalise_scores(scores: Sequence[float]) -> list[float]:
    """Scores as energies in (0, 1], the best at 1: in proportion where all are above 0, else by e^(score − best).

    >>> normalise_scores([4.0, 2.0]), [round(energy, 3) for energy in normalise_scores([1.0, -1.0])]
    ([1.0, 0.5], [1.0, 0.135])
    """
    best = max(scores, default=0.0)
    if min(scores, default=0.0) > 0:
        return [score / best for score in scores]
    return [max(math.exp(score - best), 1e-9) for score in scores]


def _find_seeds(options: ExploreOptions, settings: Settings) -> Steps[tuple[dict[str, float], str]]:
    """The facts that a question finds, with their energies; or why there are none."""
    found: Recollection = yield from recall(
        options.get("query"),
        {"k": settings[ENERGY_SEEDS], "scope": options.get("scope"), "where": options.get("where")},
        settings,
    )
    hits = list(found)[: settings[ENERGY_SEEDS]]
    weighed = zip(hits, normalise_scores([hit.score for hit in hits]), strict=True)
    return {hit.id: energy for hit, energy in weighed}, found.reason


def _explore_seed(seed: str, energy: float, manner: ExploreLimits) -> Steps[SeedExploration]:
    try:
        (fact,) = yield from store.read_facts([seed])
        if not _is_visible(fact, manner.conducting.where):
            filtered = fact is not None and bool(manner.conducting.where.metadata)
            reason = f"No fact has the id {seed}{' and passes the filter where' if filtered else ''}."
            return SeedExploration(seed, energy, "seed_not_found", reason=reason)
        (trail,) = yield from follow_paths(
            {seed: energy}, manner.conducting, manner.rule, tags=manner.tags, tag_floor=manner.tag_floor
        )
    except CofireError as error:
        return SeedExploration(seed, energy, "failed", reason=str(error))
    return SeedExploration(seed, energy, "complete", paths=trail.paths, energies=trail.energies, hops=trail.hops)


def _is_visible(fact: Fact | None, allowed: FactFilter) -> bool:
    return fact is not None and allowed.admits(fact)


def _make_limits(options: ExploreOptions, settings: Settings, now: datetime, *, everywhere: bool) -> ExploreLimits:
    """Links of a fact stay in its scope, so that ids need not say theirs."""
    said = {
        knob.name: options[name]  # type: ignore[literal-required]
        for name, knob in (
            ("max_depth", ENERGY_MAX_DEPTH),
            ("min_activation", ENERGY_MIN_ACTIVATION),
            ("branches", ENERGY_BRANCHES),
        )
        if options.get(name) is not None
    }
    held = settings.over(said)
    filters: FilterOptions = {"scope": options.get("scope"), "where": options.get("where")}
    return ExploreLimits(
        ExpansionOptions(
            build_filter(filters, now, everywhere=everywhere), kinds=None, floor=0.0, most=MAX_LINKS_PER_FACT
        ),
        EnergyRule(held[ENERGY_MAX_DEPTH], held[ENERGY_MIN_ACTIVATION], held[ENERGY_BRANCHES]),
        frozenset(validation.parse_tags(options.get("tags"), InvalidQuestion)),
        held[ENERGY_TAG_FLOOR],
    )


def _check_energies(ids: Sequence[str], given: Mapping[str, float] | Sequence[float] | None) -> list[float]:
    if given is None:
        return [1.0 for _ in ids]
    listed = [given.get(id, 1.0) for id in ids] if isinstance(given, Mapping) else list(given)
    if isinstance(given, Mapping) and not given.keys() <= set(ids):
        raise InvalidQuestion("There is energy for an id that is no seed.", way_out="Give it for the ids alone.")
    if len(listed) != len(ids):
        raise InvalidQuestion(
            f"There are {len(ids)} ids and {len(listed)} energies.", way_out="Give an energy for each id, in order."
        )
    return [_check_energy(one) for one in listed]


def _check_energy(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 1:
        raise InvalidQuestion(f"An energy cannot be {given!r}.", way_out="Give a number above 0, up to 1.")
    return float(given)
