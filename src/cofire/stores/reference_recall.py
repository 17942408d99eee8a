"""What the reference store tells a recall, plainly: evidence with the turns around facts, and where names lead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.context import borrowed, openness
from cofire.dynamics.likeness import VectorRows
from cofire.model import Fact, Where
from cofire.reading.timewords import speaks_of_time
from cofire.stores import linking
from cofire.stores.base import Evidence, Floats, Known, NamePaths, WordCue
from cofire.stores.index.terms import asks
from cofire.stores.reference_graph import Web

Numbers = NDArray[np.float64]


class Shelf(Protocol):
    """What is looked at of the reference store."""

    facts: dict[str, Fact]
    vectors: dict[str, bytes]
    web: Web

    def seen(self, where: Where) -> list[Fact]: ...
    def rows(self, vectors: Sequence[bytes]) -> Floats: ...
    def word_counts(self, ids: Sequence[str], words: Sequence[str]) -> Numbers: ...
    def hint_counts(self, ids: Sequence[str], words: Sequence[str]) -> Numbers: ...
    def lengths(self, ids: Sequence[str]) -> Numbers: ...


def evidence(shelf: Shelf, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> Evidence:
    """What scoring needs of these facts and of the turns around them."""
    known = [id for id in ids if id in shelf.facts]
    turns = [turns_around(shelf, id, reach) for id in known]
    close = _distinct(turn for one in turns for turn in (*one[:near], *one[reach : reach + near]))
    first = [*known, *(turn for turn in close if turn not in known)]
    rows = [*first, *(turn for turn in _distinct(turn for one in turns for turn in one) if turn not in first)]
    place = {id: row for row, id in enumerate(rows)}
    nothing = bytes(2 * shelf.rows([]).shape[1])
    return Evidence(
        ids=tuple(known),
        stored=VectorRows.of(shelf.rows([shelf.vectors.get(id, nothing) for id in first])),
        embedded=np.array([id in shelf.vectors for id in first], np.bool_),
        counts=shelf.word_counts(rows, words).astype(np.float32),
        lengths=shelf.lengths(rows).astype(np.float32),
        hints=shelf.hint_counts(known, words).astype(np.float32),
        around=np.array([[place.get(turn or "", -1) for turn in one] for one in turns], np.int32).reshape(
            len(known), 2 * reach
        ),
        times=np.array([_seconds(shelf.facts[id]) for id in known], np.float64),
        asks=np.array([asks(shelf.facts[id]) for id in known], np.bool_),
        timed=np.array([speaks_of_time(shelf.facts[id].text) for id in known], np.bool_),
        speakers=tuple(shelf.facts[id].speaker for id in known),
    )


def timely(shelf: Shelf, spans: Sequence[tuple[datetime, datetime]], k: int, where: Where) -> list[str]:
    """Facts inside one of these spans, or closest to it; of equals by content."""
    seen = shelf.seen(where) if spans else []
    away = {fact.id: min(_away(fact, start, end) for start, end in spans) for fact in seen}
    return sorted(away, key=lambda id: (away[id], _content(shelf.facts[id])))[:k]


def _away(fact: Fact, start: datetime, end: datetime) -> timedelta:
    assert fact.time is not None, "a stored fact knows when it was stored"
    return max(timedelta(0), start - fact.time, fact.time - end)


def _content(fact: Fact) -> int:
    return int.from_bytes(fact.hash[:8], "little", signed=True)


def turns_around(shelf: Shelf, id: str, reach: int) -> list[str | None]:
    """Those before a fact in its session, the nearest first, then those after it; None where there is none."""
    fact = shelf.facts[id]
    mates = [one for one in shelf.facts.values() if (one.scope, one.session) == (fact.scope, fact.session)]
    order = [one.id for one in sorted(mates, key=_turn)] if fact.session is not None else [id]
    at = order.index(id)
    before, after = order[max(0, at - reach) : at][::-1], order[at + 1 : at + 1 + reach]
    return [*_filled(before, reach), *_filled(after, reach)]


def counts_with_context(shelf: Shelf, ids: Sequence[str], cue: WordCue) -> Numbers:
    """How much of each word facts hold, with what the turns around lend them."""
    found = shelf.word_counts(ids, cue.words) + cue.hint_weight * shelf.hint_counts(ids, cue.words)
    if cue.context is None or not ids:
        return found
    everyone = list(shelf.facts)
    place = {id: row for row, id in enumerate(everyone)}
    around = np.array(
        [[place.get(turn or "", -1) for turn in turns_around(shelf, id, cue.context.reach)] for id in ids], np.int32
    )
    held = shelf.word_counts(everyone, cue.words) + cue.hint_weight * shelf.hint_counts(everyone, cue.words)
    opened = openness(shelf.lengths(ids), short=cue.context.short)
    lent = borrowed(held, around, opened, cue.context)
    return np.asarray(found + lent * np.array(cue.lent or [False] * len(cue.words)))


def known(shelf: Shelf, names: Sequence[str], where: Where, most: int) -> list[Known]:
    """Names that facts of the scopes hold, each scope's by itself."""
    seen = {fact.id for fact in shelf.seen(where)}
    found = []
    for scope in where.scopes or ():
        for name in dict.fromkeys(names):
            holding = _holding(shelf, name, scope)
            if holding.about or holding.mentioned:
                owners = _strongest(shelf, {id: by for id, by in holding.about.items() if id in seen}, most)
                found.append(Known(name, len(holding.mentioned), owners))
    return found


def speaking(
    shelf: Shelf, scope: str, names: Mapping[str, Sequence[str]], most: int, *, anew: bool
) -> dict[str, list[str]]:
    """Facts that hold all the words of a name and do not mention it."""
    found = {}
    for name, words in names.items():
        holding = _holding(shelf, name, scope)
        others = [id for id, fact in shelf.facts.items() if fact.scope == scope and id not in holding.mentioned]
        together = [id for id in others if shelf.word_counts([id], words).all()]
        if (anew or not holding.about) and 0 < len(together) <= most:
            found[name] = together
    return found


def paths(shelf: Shelf, ids: Sequence[str], where: Where, common: int, most: int) -> NamePaths:
    """From facts over their names to others."""
    seeds = [id for id in dict.fromkeys(ids) if id in shelf.facts]
    seen = {fact.id for fact in shelf.seen(where)}
    held = [(row, name) for row, seed in enumerate(seeds) for name in _names(shelf, seed)]
    holding = [_holding(shelf, name, shelf.facts[seeds[row]].scope) for row, name in held]
    links = [
        (step, target, strength)
        for step, ((row, _), holders) in enumerate(zip(held, holding, strict=True))
        for target, strength in _led_to(shelf, holders, seen, common, most).items()
        if target != seeds[row]
    ]
    everyone = list(dict.fromkeys([*seeds, *(target for _, target, _ in links)]))
    place = {id: row for row, id in enumerate(everyone)}
    return NamePaths(
        ids=tuple(everyone),
        loose=np.array([shelf.facts[id].session is None for id in everyone], np.bool_),
        name=tuple(name for _, name in held),
        holder=np.array([row for row, _ in held], np.int64),
        count=np.array([holders.count for holders in holding], np.int64),
        sentences=np.array([_bits(shelf, seeds[row], name) for row, name in held], np.int64),
        own=np.array([shelf.web.subjects.get(seeds[row], {}).get(name, 0.0) for row, name in held], np.float64),
        sure=np.array([_sure(shelf, seeds[row], name) for row, name in held], np.float64),
        step=np.array([step for step, _, _ in links], np.int64),
        target=np.array([place[target] for _, target, _ in links], np.int64),
        strength=np.array([strength for _, _, strength in links], np.float64),
        there=np.array([_bits(shelf, target, held[step][1]) for step, target, _ in links], np.int64),
    )


@dataclass(frozen=True, slots=True)
class _Holding:
    """Who holds a name."""

    about: Mapping[str, float]
    mentioned: Mapping[str, None]

    @property
    def count(self) -> int:
        return len({*self.about, *self.mentioned})


def _holding(shelf: Shelf, name: str, scope: str) -> _Holding:
    inside = [id for id, fact in shelf.facts.items() if fact.scope == scope]
    about = {id: shelf.web.subjects[id][name] for id in inside if name in shelf.web.subjects.get(id, {})}
    return _Holding(about, dict.fromkeys(id for id in inside if name in shelf.web.mentions.get(id, {})))


def _led_to(shelf: Shelf, holding: _Holding, seen: set[str], common: int, most: int) -> dict[str, float]:
    tellers = dict.fromkeys(holding.mentioned, 0.0) if holding.count <= common else {}
    leading = _unless_many(tellers) | _unless_many(holding.about)
    return _strongest(shelf, {id: by for id, by in leading.items() if id in seen}, most)


def _unless_many(held: Mapping[str, float]) -> dict[str, float]:
    return dict(held) if len(held) <= linking.MOST_LEADING else {}


def _strongest(shelf: Shelf, held: Mapping[str, float], most: int) -> dict[str, float]:
    """Those most about it, then by content, so that no age is favoured."""
    order = sorted(held, key=lambda id: (-held[id], _content(shelf.facts[id])))
    return {id: held[id] for id in order[:most]}


def _names(shelf: Shelf, id: str) -> list[str]:
    return sorted({*shelf.web.mentions.get(id, {}), *shelf.web.subjects.get(id, {})})


def _bits(shelf: Shelf, id: str, name: str) -> int:
    mention = shelf.web.mentions.get(id, {}).get(name)
    return sum({1 << min(at, 31) for at in mention.sentences}) if mention else 0


def _sure(shelf: Shelf, id: str, name: str) -> float:
    mention = shelf.web.mentions.get(id, {}).get(name)
    return max(mention.confidence if mention else 0.0, shelf.web.subjects.get(id, {}).get(name, 0.0))


def _turn(fact: Fact) -> tuple[float, int]:
    return _seconds(fact), fact.position or 0


def _seconds(fact: Fact) -> float:
    return fact.time.timestamp() if fact.time else 0.0


def _distinct(turns: Iterable[str | None]) -> list[str]:
    return [turn for turn in dict.fromkeys(turns) if turn is not None]


def _filled(turns: Sequence[str], reach: int) -> list[str | None]:
    return [*turns, *[None] * (reach - len(turns))]
