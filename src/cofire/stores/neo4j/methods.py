"""The protocol on Neo4j, a line a method: which reading or writing answers it. Who waits for them, and how, is for `store`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

import neo4j
import numpy as np
from numpy.typing import NDArray

from cofire.carrying import Carried, Household
from cofire.curating import Fade, Fading, Health, Review, Usage
from cofire.embedders.base import Vectors
from cofire.errors import StoreClosed, StoreError
from cofire.learned import Group, Keeping, Occasion, Shown, Use
from cofire.model import Change, Edge, Fact, Importance, Link, Past, Record, Where, Written
from cofire.revising import Taken
from cofire.stores.base import (
    Conducting,
    EdgeFilter,
    Evidence,
    Expansion,
    Kin,
    Known,
    NamePaths,
    Near,
    Network,
    Profile,
    StoreSize,
    WordCue,
    WordStatistics,
)
from cofire.stores.neo4j import (
    assumptions,
    carrying,
    clock,
    counting,
    curating,
    expanding,
    facts,
    graph_reading,
    kinship,
    learning,
    matching,
    recall_log,
    recalling,
    revising,
    searching,
    taking,
    weighing,
    writing,
)
from cofire.stores.neo4j import names as naming
from cofire.stores.neo4j.assumptions import Records
from cofire.stores.neo4j.bringing import Brought
from cofire.stores.neo4j.connecting import Address, Neo4jOptions
from cofire.stores.neo4j.querying import Begun, Query, Querying

T = TypeVar("T")
P = ParamSpec("P")

# While questions are gathered, a method answers with the reading that it would do.
_GATHERING: ContextVar[bool] = ContextVar("gathering", default=False)


class Methods:
    """The protocol, the same for both stores and for their sittings. What `_answer` and `_write` return is awaited by whoever awaits."""

    awaits = False

    def __init__(self, address: Address, options: Neo4jOptions) -> None:
        self.place = address.place
        self._address = address
        self._options = options
        self._counts = counting.Counts()
        self._speakers: recalling.Speakers = {}
        self._seen: Records = {}
        self._unlogged = recall_log.Shelved()
        self._closed = False

    @property
    def _brought(self) -> Brought:
        """Where answers leave what comes along: here nobody keeps it."""
        return Brought()

    def _answer(self, reading: Callable[P, Querying[T]], *args: P.args, **named: P.kwargs) -> T:
        begun = partial(reading, *args, **named)
        self._refuse_closed()
        return cast(T, begun) if _GATHERING.get() else self._read(begun)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreClosed(f"The store {self.place} was closed.", way_out="Open the memory again.")

    def _read(self, begun: Begun[T]) -> T:
        raise NotImplementedError

    def _write(self, writing: Callable[P, Querying[T]], *args: P.args, **named: P.kwargs) -> T:
        raise NotImplementedError

    def together(self, questions: Sequence[Callable[[], Any]], besides: Sequence[Begun[Any]] = ()) -> list[Any]:
        """In one round trip a step, others besides; where that fails each by itself, so that it is known which one does."""
        raise NotImplementedError

    def close(self) -> None:
        """What was shown and not yet logged is logged first, if the server is still there."""
        raise NotImplementedError

    def _note(self, waiting: Sequence[Shown], keeping: Keeping) -> None:
        """Write what was shown. When that fails it is told to the log of the program, and nobody's recall fails with it."""
        raise NotImplementedError

    def write(self, change: Change, expects: Mapping[str, int]) -> Written:
        self._refuse_closed()
        for record in change.records:
            self._seen.pop(record.name, None)
        return self._write(writing.write_after, *self._unlogged.take(), change, expects)

    def taken(self, ids: Sequence[str]) -> Taken:
        return self._answer(taking.taken, ids)

    def carried(self, ids: Sequence[str]) -> Carried:
        return self._answer(carrying.carried, ids)

    def take_in(self, carried: Carried, now: datetime) -> None:
        self._refuse_closed()
        return self._write(carrying.take_in, carried, now)

    def household(self) -> Household:
        return self._answer(carrying.household)

    def furnish(self, household: Household) -> None:
        self._refuse_closed()
        return self._write(carrying.furnish, household)

    def history(self, id: str) -> list[Past]:
        return self._answer(revising.history, id)

    def recognise(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        return self._answer(facts.recognise, hashes)

    def read(self, ids: Sequence[str]) -> list[Fact | None]:
        return self._answer(facts.read, self._brought, ids)

    def scan(self, where: Where, limit: int, before: str | None) -> list[Fact]:
        return self._answer(facts.scan, where, limit, before)

    def nearest(self, vector: Vectors, k: int, where: Where, candidates: int) -> list[str]:
        return self._answer(searching.nearest, vector, k, where, candidates)

    def alike(self, vector: Vectors, k: int, where: Where, candidates: int, least: float) -> list[Near]:
        return self._answer(searching.alike, vector, k, where, candidates, least)

    def matching(self, cue: WordCue, k: int, where: Where) -> list[str]:
        return self._answer(matching.matching, cue, k, where)

    def timely(self, spans: Sequence[tuple[datetime, datetime]], k: int, where: Where) -> list[str]:
        return self._answer(recalling.timely, spans, k, where)

    def admitted(self, ids: Sequence[str], where: Where) -> list[str]:
        return self._answer(recalling.admitted, ids, where)

    def weigh(self, ids: Sequence[str], words: Sequence[str], reach: int, near: int) -> Evidence:
        return self._answer(weighing.weigh, self._brought, ids, words, reach, near)

    def places(self, ids: Sequence[str], words: Sequence[str]) -> NDArray[np.int64]:
        return self._answer(weighing.places, self._brought, ids, words)

    def voices(self, scopes: Sequence[str], words: Sequence[str]) -> frozenset[str]:
        return self._answer(recalling.voices, self._speakers, scopes, words)

    def tags(self, scopes: Sequence[str], names: Sequence[str]) -> frozenset[str]:
        return self._answer(recalling.tags, scopes, names)

    def known(self, names: Sequence[str], where: Where, most: int) -> list[Known]:
        return self._answer(naming.known, names, where, most)

    def speaking(self, scope: str, names: Mapping[str, Sequence[str]], most: int, anew: bool) -> dict[str, list[str]]:
        return self._answer(naming.speaking, scope, names, most, anew)

    def paths(self, ids: Sequence[str], where: Where, common: int, most: int) -> NamePaths:
        return self._answer(naming.paths, self._brought, ids, where, common, most)

    def statistics(self, scopes: Sequence[str], words: Sequence[str]) -> WordStatistics:
        return self._answer(counting.statistics, self._brought, self._counts, scopes, words)

    def record(self, name: str) -> Record | None:
        return self._answer(assumptions.look, self._seen, name)

    def unembedded(self, model: bytes, limit: int) -> list[Fact]:
        return self._answer(facts.unembedded, model, limit)

    def edges(self, wanted: EdgeFilter, limit: int) -> list[Edge]:
        return self._answer(graph_reading.edges, wanted, limit)

    def links(self, id: str, limit: int) -> list[Link]:
        return self._answer(graph_reading.links, id, limit)

    def waiting(self, scopes: Sequence[str] | None, limit: int) -> list[Fact]:
        return self._answer(facts.waiting, scopes, limit)

    def kin(self, ids: Sequence[str], k: int, sharing: int) -> Kin:
        return self._answer(kinship.kin, ids, k, sharing)

    def profiles(self, ids: Sequence[str]) -> list[Profile]:
        return self._answer(graph_reading.profiles, ids)

    def expand(self, ids: Sequence[str], conducting: Conducting, least: NDArray[np.float64] | None = None) -> Expansion:
        return self._answer(expanding.expand, self._brought, ids, conducting)

    def network(self, scope: str) -> Network:
        return self._answer(graph_reading.network, scope)

    def importance(self, ids: Sequence[str]) -> dict[str, Importance]:
        return self._answer(graph_reading.importance, ids)

    def descriptions(self, id: str) -> list[str]:
        return self._answer(graph_reading.descriptions, id)

    def active_hours(self) -> float:
        return self._answer(clock.active_hours)

    def size(self) -> StoreSize:
        return self._answer(facts.size, self.place)

    def check(self) -> list[str]:
        return self._answer(facts.check)

    def fading(self, fade: Fade, now: datetime, examples: int) -> Fading:
        return self._answer(curating.fading, fade, now, examples)

    def weak(self, threshold: float, examples: int) -> Fading:
        return self._answer(curating.weak, threshold, examples)

    def usage(self) -> list[Usage]:
        return self._answer(curating.usage)

    def active_days(self) -> list[int]:
        return self._answer(curating.active_days)

    def health(self) -> Health:
        return self._answer(curating.health)

    def changed_facts(self, since: datetime | None) -> list[str]:
        return self._answer(curating.changed_facts, since)

    def reviews(self, open_only: bool) -> list[Review]:
        return self._answer(curating.reviews, open_only)

    def archived_because(self, ids: Sequence[str]) -> Mapping[str, str]:
        return self._answer(curating.archived_because, ids)

    def log(self, shown: Shown, keeping: Keeping) -> None:
        self._refuse_closed()
        if waiting := self._unlogged.add(shown, keeping):
            return self._note(waiting, keeping)

    def shown(self, id: str) -> Shown | None:
        self._refuse_closed()
        return self._unlogged.find(id) or self._answer(recall_log.find, id)

    def uses(self, ids: Sequence[str]) -> dict[str, Use]:
        return self._answer(learning.uses, ids)

    def occasions(self, ids: Sequence[str], limit: int) -> list[Occasion]:
        return self._answer(learning.occasions, self._brought, ids, limit)

    def groups(self, scopes: Sequence[str] | None, limit: int, most: int) -> list[Group]:
        return self._answer(learning.groups, scopes, limit, most)

    def backup(self, path: str) -> None:
        self._refuse_closed()
        raise StoreError(
            f"A server keeps its own backups; nothing was copied to {path}.",
            way_out="Use neo4j-admin database dump on the server, or: cofire export FILE",
        )

    def _gathered(self, questions: Sequence[Callable[[], Any]]) -> list[Begun[Any] | None]:
        """The reading that each question comes to; None for one that makes something of its answer, and is asked by itself."""
        self._refuse_closed()
        gathering = _GATHERING.set(True)
        try:
            return [_begun(question) for question in questions]
        finally:
            _GATHERING.reset(gathering)

    def _timed(self, query: Query) -> neo4j.Query:
        return neo4j.Query(cast(Any, query.text), timeout=self._options.answer_seconds)


def _begun(question: Callable[[], Any]) -> Begun[Any] | None:
    try:
        found = question()
    except (TypeError, AttributeError):
        return None
    return found if isinstance(found, partial) else None
