"""Brute-force search: scoring features, time, names, links and neighbour candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.session_context import borrow_from_context, borrowing_factors
from cofire.algorithms.vector_similarity import VectorRows, centre_vectors
from cofire.embedders.base import StoredModel
from cofire.index.terms import is_question
from cofire.model import Fact, FactFilter, StoreRecord
from cofire.stores import link_rules
from cofire.stores.base import (
    MODEL_RECORD,
    FactFeatures,
    Floats,
    KeywordQuery,
    KnownName,
    NameLinkTable,
    NeighbourCandidates,
)
from cofire.text.dates import has_time_words
from tests.reference_store.graph import ReferenceGraph

Float64Array = NDArray[np.float64]


class RecallSource(Protocol):
    """What is looked at of the reference store."""

    facts: dict[str, Fact]
    vectors: dict[str, bytes]
    web: ReferenceGraph

    def seen(self, where: FactFilter) -> list[Fact]: ...
    def rows(self, vectors: Sequence[bytes]) -> Floats: ...
    def word_counts(self, ids: Sequence[str], words: Sequence[str]) -> Float64Array: ...
    def hint_counts(self, ids: Sequence[str], words: Sequence[str]) -> Float64Array: ...
    def lengths(self, ids: Sequence[str]) -> Float64Array: ...


def gather_features(
    shelf: RecallSource, ids: Sequence[str], words: Sequence[str], reach: int, near: int
) -> FactFeatures:
    """What scoring needs of these facts and of the turns around them."""
    known = [id for id in ids if id in shelf.facts]
    turns = [list_surrounding_turns(shelf, id, reach) for id in known]
    close = _unique_ids(turn for one in turns for turn in (*one[:near], *one[reach : reach + near]))
    first = [*known, *(turn for turn in close if turn not in known)]
    rows = [*first, *(turn for turn in _unique_ids(turn for one in turns for turn in one) if turn not in first)]
    place = {id: row for row, id in enumerate(rows)}
    nothing = bytes(2 * shelf.rows([]).shape[1])
    return FactFeatures(
        ids=tuple(known),
        stored=VectorRows.of(shelf.rows([shelf.vectors.get(id, nothing) for id in first])),
        embedded=np.array([id in shelf.vectors for id in first], np.bool_),
        counts=shelf.word_counts(rows, words).astype(np.float32),
        lengths=shelf.lengths(rows).astype(np.float32),
        hints=shelf.hint_counts(known, words).astype(np.float32),
        around=np.array([[place.get(turn or "", -1) for turn in one] for one in turns], np.int32).reshape(
            len(known), 2 * reach
        ),
        times=np.array([_to_timestamp(shelf.facts[id]) for id in known], np.float64),
        asks=np.array([is_question(shelf.facts[id]) for id in known], np.bool_),
        timed=np.array([has_time_words(shelf.facts[id].text) for id in known], np.bool_),
        speakers=tuple(shelf.facts[id].speaker for id in known),
    )


def rank_by_time(
    shelf: RecallSource, spans: Sequence[tuple[datetime, datetime]], k: int, where: FactFilter
) -> list[str]:
    """Facts inside one of these spans, or closest to it; of equals by content."""
    seen = shelf.seen(where) if spans else []
    away = {fact.id: min(_time_distance(fact, start, end) for start, end in spans) for fact in seen}
    return sorted(away, key=lambda id: (away[id], link_rules.content_order(shelf.facts[id].hash)))[:k]


def _time_distance(fact: Fact, start: datetime, end: datetime) -> timedelta:
    assert fact.time is not None, "a stored fact knows when it was stored"
    return max(timedelta(0), start - fact.time, fact.time - end)


def list_surrounding_turns(shelf: RecallSource, id: str, reach: int) -> list[str | None]:
    """Those before a fact in its session, the nearest first, then those after it; None where there is none."""
    fact = shelf.facts[id]
    mates = [one for one in shelf.facts.values() if (one.scope, one.session) == (fact.scope, fact.session)]
    order = [one.id for one in sorted(mates, key=_turn_sort_key)] if fact.session is not None else [id]
    at = order.index(id)
    before, after = order[max(0, at - reach) : at][::-1], order[at + 1 : at + 1 + reach]
    return [*_pad_turns(before, reach), *_pad_turns(after, reach)]


def count_words_with_context(shelf: RecallSource, ids: Sequence[str], cue: KeywordQuery) -> Float64Array:
    """How much of each word facts hold, with what the turns around lend them."""
    found = shelf.word_counts(ids, cue.words) + cue.hint_weight * shelf.hint_counts(ids, cue.words)
    if cue.context is None or not ids:
        return found
    everyone = list(shelf.facts)
    place = {id: row for row, id in enumerate(everyone)}
    around = np.array(
        [[place.get(turn or "", -1) for turn in list_surrounding_turns(shelf, id, cue.context.reach)] for id in ids],
        np.int32,
    )
    held = shelf.word_counts(everyone, cue.words) + cue.hint_weight * shelf.hint_counts(everyone, cue.words)
    opened = borrowing_factors(shelf.lengths(ids), short=cue.context.short)
    lent = borrow_from_context(held, around, opened, cue.context)
    return np.asarray(found + lent * np.array(cue.lent or [False] * len(cue.words)))


def find_known_names(shelf: RecallSource, names: Sequence[str], where: FactFilter, most: int) -> list[KnownName]:
    """Names that facts of the scopes hold, each scope's by itself."""
    seen = {fact.id for fact in shelf.seen(where)}
    found = []
    for scope in where.scopes or ():
        for name in dict.fromkeys(names):
            holding = _find_scope_holders(shelf, name, scope)
            if holding.about or holding.mentioned:
                owners = _select_strongest(shelf, {id: by for id, by in holding.about.items() if id in seen}, most)
                found.append(KnownName(name, len(holding.mentioned), owners))
    return found


def find_unmarked_mentions(
    shelf: RecallSource, scope: str, names: Mapping[str, Sequence[str]], most: int, *, anew: bool
) -> dict[str, list[str]]:
    """Facts that hold all the words of a name and do not mention it."""
    found = {}
    for name, words in names.items():
        holding = _find_scope_holders(shelf, name, scope)
        others = [id for id, fact in shelf.facts.items() if fact.scope == scope and id not in holding.mentioned]
        together = [id for id in others if shelf.word_counts([id], words).all()]
        if (anew or not holding.about) and 0 < len(together) <= most:
            found[name] = together
    return found


def build_name_link_table(
    shelf: RecallSource, ids: Sequence[str], where: FactFilter, common: int, most: int
) -> NameLinkTable:
    """From facts over their names to others."""
    seeds = [id for id in dict.fromkeys(ids) if id in shelf.facts]
    seen = {fact.id for fact in shelf.seen(where)}
    held = [(row, name) for row, seed in enumerate(seeds) for name in _list_names(shelf, seed)]
    holding = [_find_scope_holders(shelf, name, shelf.facts[seeds[row]].scope) for row, name in held]
    links = [
        (step, target, strength)
        for step, ((row, _), holders) in enumerate(zip(held, holding, strict=True))
        for target, strength in _find_name_targets(shelf, holders, seen, common, most).items()
        if target != seeds[row]
    ]
    everyone = list(dict.fromkeys([*seeds, *(target for _, target, _ in links)]))
    place = {id: row for row, id in enumerate(everyone)}
    return NameLinkTable(
        ids=tuple(everyone),
        loose=np.array([shelf.facts[id].session is None for id in everyone], np.bool_),
        name=tuple(name for _, name in held),
        holder=np.array([row for row, _ in held], np.int64),
        count=np.array([holders.count for holders in holding], np.int64),
        sentences=np.array([_sentence_bits(shelf, seeds[row], name) for row, name in held], np.int64),
        own=np.array([shelf.web.subjects.get(seeds[row], {}).get(name, 0.0) for row, name in held], np.float64),
        sure=np.array([_name_confidence(shelf, seeds[row], name) for row, name in held], np.float64),
        step=np.array([step for step, _, _ in links], np.int64),
        target=np.array([place[target] for _, target, _ in links], np.int64),
        strength=np.array([strength for _, _, strength in links], np.float64),
        there=np.array([_sentence_bits(shelf, target, held[step][1]) for step, target, _ in links], np.int64),
    )


@dataclass(frozen=True, slots=True)
class _ScopeNameHolders:
    """Who holds a name."""

    about: Mapping[str, float]
    mentioned: Mapping[str, None]

    @property
    def count(self) -> int:
        return len({*self.about, *self.mentioned})


def _find_scope_holders(shelf: RecallSource, name: str, scope: str) -> _ScopeNameHolders:
    inside = [id for id, fact in shelf.facts.items() if fact.scope == scope]
    about = {id: shelf.web.subjects[id][name] for id in inside if name in shelf.web.subjects.get(id, {})}
    return _ScopeNameHolders(about, dict.fromkeys(id for id in inside if name in shelf.web.mentions.get(id, {})))


def _find_name_targets(
    shelf: RecallSource, holding: _ScopeNameHolders, seen: set[str], common: int, most: int
) -> dict[str, float]:
    tellers = dict.fromkeys(holding.mentioned, 0.0) if holding.count <= common else {}
    leading = _drop_if_common(tellers) | _drop_if_common(holding.about)
    return _select_strongest(shelf, {id: by for id, by in leading.items() if id in seen}, most)


def _drop_if_common(held: Mapping[str, float]) -> dict[str, float]:
    return dict(held) if len(held) <= link_rules.MAX_WALK_HOLDERS else {}


def _select_strongest(shelf: RecallSource, held: Mapping[str, float], most: int) -> dict[str, float]:
    """Those most about it, then by content, so that no age is favoured."""
    order = sorted(held, key=lambda id: (-held[id], link_rules.content_order(shelf.facts[id].hash)))
    return {id: held[id] for id in order[:most]}


def _list_names(shelf: RecallSource, id: str) -> list[str]:
    return sorted({*shelf.web.mentions.get(id, {}), *shelf.web.subjects.get(id, {})})


def _sentence_bits(shelf: RecallSource, id: str, name: str) -> int:
    mention = shelf.web.mentions.get(id, {}).get(name)
    return link_rules.sentence_bits(mention.sentences) if mention else 0


def _name_confidence(shelf: RecallSource, id: str, name: str) -> float:
    mention = shelf.web.mentions.get(id, {}).get(name)
    return max(mention.confidence if mention else 0.0, shelf.web.subjects.get(id, {}).get(name, 0.0))


def _turn_sort_key(fact: Fact) -> tuple[float, int]:
    return _to_timestamp(fact), fact.position or 0


def _to_timestamp(fact: Fact) -> float:
    return fact.time.timestamp() if fact.time else 0.0


def _unique_ids(turns: Iterable[str | None]) -> list[str]:
    return [turn for turn in dict.fromkeys(turns) if turn is not None]


def _pad_turns(turns: Sequence[str], reach: int) -> list[str | None]:
    return [*turns, *[None] * (reach - len(turns))]


class NeighbourSource(Protocol):
    """What is looked at."""

    facts: dict[str, Fact]
    vectors: dict[str, bytes]
    records: dict[str, StoreRecord]

    def rows(self, vectors: Sequence[bytes]) -> Floats: ...


def find_neighbour_candidates(shelf: NeighbourSource, ids: Sequence[str], k: int, sharing: int) -> NeighbourCandidates:
    """For each fact the k nearest of its scope, and some more with which it shares a rare tag."""
    if MODEL_RECORD not in shelf.records:
        return NeighbourCandidates((), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    held = sorted(id for id, fact in shelf.facts.items() if id in shelf.vectors and not fact.archived)
    seen = centre_vectors(
        shelf.rows([shelf.vectors[id] for id in held]), StoredModel.decode(shelf.records[MODEL_RECORD].value).mean
    )
    row = {id: at for at, id in enumerate(held)}
    pairs = []
    for id in ids:
        if id in row:
            others = [other for other in held if other != id and shelf.facts[other].scope == shelf.facts[id].scope]
            near = sorted(others, key=lambda other: -float(seen[row[id]] @ seen[row[other]]))[:k]
            pairs += [(row[id], row[other]) for other in [*near, *_find_tag_sharers(shelf.facts, id, others, sharing)]]
    table: Any = np.array(pairs, np.int64).reshape(-1, 2)
    cosines = np.einsum("ij,ij->i", seen[table[:, 0]], seen[table[:, 1]]).astype(np.float32)
    return NeighbourCandidates(tuple(held), table[:, 0], table[:, 1], cosines)


def _find_tag_sharers(facts: Mapping[str, Fact], id: str, others: Sequence[str], most: int) -> list[str]:
    """Those with a rare tag in common: first who shares the most, then the newest."""
    often = Counter(tag for fact in facts.values() for tag in fact.tags)
    rare = {tag for tag in facts[id].tags if often[tag] <= link_rules.MAX_RARE_TAG_FACTS}
    shared = {other: len(rare & set(facts[other].tags)) for other in others}
    found = [other for other in others if shared[other]]
    return sorted(sorted(found, reverse=True), key=lambda other: -shared[other])[:most]
