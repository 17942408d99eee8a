"""Answers of stores in a form that can be compared: ids in place of rows, and no order where none is promised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from cofire.embedders.base import Vectors
from cofire.model import FactFilter
from cofire.stores.base import ExpansionOptions, FactFeatures, NameLinkTable, Store

DECIMALS = 6


class Step(NamedTuple):
    """A name that a fact holds, and where it leads: targets with their strength and the sentences there."""

    count: int
    sentences: int
    own: float
    sure: float
    leads: list[tuple[str, float, int]]


def steps(found: NameLinkTable) -> dict[tuple[str, str], Step]:
    """Paths by holder and name, in the order in which they lead."""
    leads: dict[int, list[tuple[str, float, int]]] = {}
    for step, target, strength, there in zip(found.step, found.target, found.strength, found.there, strict=True):
        leads.setdefault(int(step), []).append((found.ids[target], float(strength), int(there)))
    rows = zip(found.holder, found.name, found.count, found.sentences, found.own, found.sure, strict=True)
    return {
        (found.ids[holder], name): Step(int(count), int(at), float(own), float(sure), leads.get(step, []))
        for step, (holder, name, count, at, own, sure) in enumerate(rows)
    }


def paths(store: Store, ids: Sequence[str], where: FactFilter, common: int, most: int) -> Any:
    found = store.fetch_name_links(ids, where, common, most)
    loose = dict(zip(found.ids, found.loose.tolist(), strict=True))
    return found.ids[: len(ids)], loose, {key: rounded_numbers(step) for key, step in steps(found).items()}


def known(store: Store, names: Sequence[str], where: FactFilter, most: int) -> Any:
    found = store.look_up_names(names, where, most)
    return sorted((one.name, one.mentioned, rounded_numbers(list(one.about.items()))) for one in found)


def expansion(store: Store, ids: Sequence[str], conducting: ExpansionOptions) -> Any:
    found = store.expand_links(ids, conducting)
    ends = [[found.ids[row] for row in rows] for rows in (found.source, found.target)]
    links = zip(*ends, found.kind, found.weight.tolist(), found.confidence.tolist(), found.tags, found.via, strict=True)
    told = sorted((rounded_numbers(link) for link in links), key=str)
    return found.ids[: len(ids)], set(found.ids), told, found.degree.tolist()


def evidence(store: Store, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> Any:
    """Vectors are the stored bytes, so they must be the same to the last bit."""
    found = store.fetch_features(ids, words, reach, near)
    asked = len(found.ids)
    shapes = [array.shape for array in (found.vectors, found.embedded, found.counts, found.lengths, found.hints)]
    rows = [_row(found, row, close=True) for row in range(asked)]
    around = [
        [None if row < 0 else _row(found, row, close=place % reach < near) for place, row in enumerate(turns)]
        for turns in found.around.tolist()
    ]
    told = (found.hints.tolist(), rounded_numbers(found.times.tolist()), found.asks.tolist(), found.speakers)
    return found.ids, shapes, rows, around, told


def _row(found: FactFeatures, row: int, *, close: bool) -> Any:
    words = (found.counts[row].tolist(), float(found.lengths[row]))
    return (*words, bool(found.embedded[row]), found.vectors[row].tolist()) if close else words


def alike(store: Store, vector: Vectors, k: int, where: FactFilter) -> Any:
    """Vectors are the stored bytes here too."""
    found = store.search_similar(vector, k, where, 400, 0.2)
    return [(near.id, set(near.tags), near.vector.tolist()) for near in found]


def statistics(store: Store, scopes: Sequence[str], words: Sequence[str]) -> Any:
    found = store.read_word_statistics(scopes, words)
    times = found.earliest, found.latest
    return found.facts, pytest.approx(found.mean_length), found.holding, found.sample.tolist(), times


def network(store: Store, scope: str) -> Any:
    found = store.fetch_scope_graph(scope)
    triples = zip(found.source.tolist(), found.target.tolist(), found.weight.tolist(), strict=True)
    return found.ids, sorted((found.ids[a], found.ids[b], round(weight, 5)) for a, b, weight in triples)


def kin(store: Store, ids: Sequence[str]) -> Any:
    """All pairs, so that ties at the edge of the nearest decide nothing."""
    found = store.find_neighbours(ids, 1_000, 1_000)
    triples = zip(found.left.tolist(), found.right.tolist(), found.cosines.tolist(), strict=True)
    return sorted((found.ids[a], found.ids[b], round(cosine, 4)) for a, b, cosine in triples)


def links(store: Store, id: str) -> list[Any]:
    return [replace(link, weight=rounded_numbers(link.weight)) for link in store.list_links(id, 20)]


def rounded_numbers(value: Any) -> Any:
    """The same with its numbers rounded, and None for what is not a number."""
    if isinstance(value, list | tuple):
        return [rounded_numbers(one) for one in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, DECIMALS)
    return value
