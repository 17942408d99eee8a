"""Lookups in the index by position: scoring features, name links, time and name holders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs
from cofire.algorithms.vector_similarity import VectorRows
from cofire.index.columns import Mask, find_members
from cofire.index.fact_index import FactIndex
from cofire.index.names import NameIndex
from cofire.index.native import gather_rows
from cofire.index.terms import QUESTION_TERM, TIME_TERM, hash_description_term, hash_term
from cofire.index.timestamps import DISTANT_FUTURE, to_microseconds
from cofire.stores import link_rules
from cofire.stores.base import FactFeatures

PositionArray = NDArray[np.int64]


@dataclass(frozen=True)
class NamePathColumns:
    """Names that some facts hold and where they lead, by the keys of names; `target` are rows of `positions`, the seeds first."""

    positions: PositionArray
    holder: PositionArray
    name: PositionArray
    count: PositionArray
    sentences: PositionArray
    own: NDArray[np.float64]
    sure: NDArray[np.float64]
    step: PositionArray
    target: PositionArray
    strength: NDArray[np.float64]
    there: PositionArray


def build_features(
    index: FactIndex,
    positions: PositionArray,
    words: Sequence[str],
    *,
    ids: Sequence[str],
    reach: int,
    near: int,
    stored: Callable[[PositionArray], VectorRows],
) -> FactFeatures:
    """What scoring needs of these facts and of the turns around them. `ids` are those of all that were asked for."""
    rows, first_rows, around, counts, description_counts = gather_rows(
        positions,
        index.postings.runs(tuple(map(hash_term, words))),
        index.hints.runs(tuple(map(hash_description_term, words))),
        turns=index.turns.chains,
        facts=index.columns.size,
        reach=reach,
        near=near,
    )
    first = rows[:first_rows]
    return FactFeatures(
        ids=tuple(ids) if len(ids) == len(positions) else list_ids(index, positions),
        stored=stored(first),
        embedded=index.columns["embedded"][first],
        counts=counts,
        lengths=index.columns["length"][rows].astype(np.float32),
        hints=description_counts,
        around=around,
        times=index.columns["time"][positions] / 1e6,
        asks=index.postings.holds(QUESTION_TERM, positions),
        timed=index.postings.holds(TIME_TERM, positions),
        speakers=index.voices.named(index.columns["speaker"][positions]),
    )


def find_closest_in_time(
    index: FactIndex, spans: Sequence[tuple[datetime, datetime]], admitted: Mask, k: int
) -> PositionArray:
    """Facts inside one of these spans, or closest to it; of equals by content."""
    positions = np.flatnonzero(admitted) if spans else np.zeros(0, np.int64)
    away = np.full(len(positions), DISTANT_FUTURE, np.int64)
    for start, end in spans:
        told = index.columns["time"][positions]
        away = np.minimum(away, np.maximum(0, np.maximum(to_microseconds(start) - told, told - to_microseconds(end))))
    order = np.lexsort((index.columns["hash"][positions], away))[:k]
    return positions[order]


def list_ids(index: FactIndex, positions: PositionArray) -> tuple[str, ...]:
    return tuple(index.columns.ids(positions))


def select_unknown(found: NDArray[Any], known: PositionArray) -> PositionArray:
    """Those found that are not known yet, each once, in their order."""
    found = _sort_distinct(found)
    return found[~find_members(known, found)]


def find_name_paths(index: FactIndex, seeds: PositionArray, admitted: Mask, common: int, most: int) -> NamePathColumns:
    """From facts, none of them twice, over their names to others."""
    holder, name, sentences, own, sure = _find_seed_names(index, seeds)
    names = _sort_distinct(name)
    which = names.searchsorted(name)
    places, positions, strength, count = _find_name_targets(index, names, admitted, common, most)
    starts = places.searchsorted(np.arange(len(names) + 1))
    step, link = expand_runs(starts[which], starts[which + 1] - starts[which])
    away = positions[link] != seeds[holder[step]]
    step, link = step[away], link[away]
    target = positions[link]
    there = index.mentions.sentences(target, name[step])
    positions, rows = _number_targets(seeds, target)
    return NamePathColumns(
        positions, holder, name, count[which], sentences, own, sure, step, rows, strength[link], there
    )


def _number_targets(seeds: PositionArray, target: PositionArray) -> tuple[PositionArray, NDArray[np.int64]]:
    """All facts on paths, the seeds first, and the rows of the targets among them."""
    positions = np.concatenate([seeds, select_unknown(target, seeds)])
    order = np.argsort(positions)
    return positions, order[np.searchsorted(positions[order], target)] if len(target) else target


def _find_seed_names(index: FactIndex, seeds: PositionArray) -> tuple[Any, Any, Any, Any, Any]:
    """The names of each seed: mentioned, or its subject, or both."""
    mentions, subjects = index.mentions.held_by(seeds), index.subjects.held_by(seeds)
    told, meant = mentions.owner << 32 | mentions.name, subjects.owner << 32 | subjects.name
    pairs = _sort_distinct(np.concatenate([told, meant]))
    sentences, own, sure = np.zeros(len(pairs), np.int64), np.zeros(len(pairs)), np.zeros(len(pairs))
    at = np.searchsorted(pairs, told)
    sentences[at], sure[at] = mentions.sentences, mentions.strength
    own[np.searchsorted(pairs, meant)] = subjects.strength
    return pairs >> 32, pairs & 0xFFFFFFFF, sentences, own, np.maximum(sure, own)


def _find_name_targets(
    index: FactIndex, names: NDArray[np.int64], admitted: Mask, common: int, most: int
) -> tuple[Any, Any, Any, Any]:
    """Who may be led to by each name, in the order of names, and how many hold it."""
    about, strengths, many = _find_living_holders(index, index.subjects, names)
    told, _, more = _find_living_holders(index, index.mentions, names)
    pairs = np.concatenate([about, told[~find_members(about, told)]])
    strength = np.zeros(len(pairs))
    strength[: len(about)] = strengths
    places, positions = pairs >> 32, pairs & 0xFFFFFFFF
    count = np.bincount(places, minlength=len(names))
    for at in {*many, *more}:
        count[at] = _count_holders(index, int(names[at]))
    open_ = admitted[positions] & ((strength > 0) | (count[places] <= common))
    return (*_select_strongest(index, places[open_], positions[open_], strength[open_], most), count)


def _find_living_holders(index: FactIndex, kind: NameIndex, names: NDArray[np.int64]) -> tuple[Any, Any, list[int]]:
    """Who holds these names, of those that are there: the place of the name and the position in one number, and the strength; and
    the places of names that too many hold, who are left out."""
    alive, too_many = index.columns["alive"], []
    places, positions, strengths, sizes = kind.all_holders(names, link_rules.MAX_WALK_HOLDERS)
    # Of what postings tell, some may be dead.
    for at in np.flatnonzero(sizes > link_rules.MAX_WALK_HOLDERS).tolist():
        more, by = kind.holders(int(names[at]))
        if np.count_nonzero(alive[more]) > link_rules.MAX_WALK_HOLDERS:
            too_many.append(at)
        else:
            places, positions = np.concatenate([places, np.full(len(more), at)]), np.concatenate([positions, more])
            strengths = np.concatenate([strengths, by])
    living = alive[positions]
    return (places << 32 | positions)[living], strengths[living], too_many


def _count_holders(index: FactIndex, name: int) -> int:
    """How many facts hold a name, one way or the other."""
    held = np.zeros(index.columns.size, np.bool_)
    for kind in (index.mentions, index.subjects):
        held[kind.holders(name)[0]] = True
    return int(np.count_nonzero(held & index.columns["alive"]))


def _sort_distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sorted, each once."""
    numbers = np.sort(numbers)
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers


def _select_strongest(index: FactIndex, places: Any, positions: Any, strength: Any, most: int) -> tuple[Any, Any, Any]:
    """At most so many a name: those most about it, then by content, so that no age is favoured."""
    order = np.lexsort((index.columns["hash"][positions], -strength, places))
    places, positions, strength = places[order], positions[order], strength[order]
    rank = np.arange(len(places)) - np.searchsorted(places, places)
    kept = rank < most
    return places[kept], positions[kept], strength[kept]


def find_facts_with_terms(index: FactIndex, scope: int, terms: Sequence[int], besides: int | None) -> PositionArray:
    """Who in a scope holds all of these terms, except those who mention a name, given by its key."""
    if not terms:
        return np.zeros(0, np.int64)
    rarest, *others = sorted(terms, key=lambda number: len(index.postings.find(number)[0]))
    found, _ = index.postings.find(rarest)
    for number in others:
        found = found[index.postings.holds(number, found)]
    if besides is not None and len(found):
        found = found[~find_members(index.mentions.holders(besides)[0].astype(np.int64), found.astype(np.int64))]
    columns = index.columns
    return np.asarray(found[columns["alive"][found] & (columns["scope"][found] == scope)], np.int64)


def find_name_owners(index: FactIndex, names: Sequence[int], admitted: Mask, most: int) -> list[dict[str, float]]:
    """Who is about each of these names, the strongest first; of equals by content."""
    if not names:
        return []
    found: list[dict[str, float]] = [{} for _ in names]
    places, positions, strengths = _find_owners(index, names, admitted, most)
    for place, id, strength in zip(places.tolist(), list_ids(index, positions), strengths.tolist(), strict=True):
        found[place][id] = strength
    return found


def _find_owners(index: FactIndex, names: Sequence[int], admitted: Mask, most: int) -> tuple[Any, Any, Any]:
    """The place of the name, the position and the strength of each."""
    places, positions, strengths, _ = index.subjects.all_holders(np.array(names, np.int64), index.columns.size)
    kept = admitted[positions]
    return _select_strongest(index, places[kept], positions[kept], strengths[kept], most)
