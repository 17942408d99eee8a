"""Congruence: the same operations on the reference and on SQLite, in any order, leave stores that answer alike.

SQLite is looked at through a second opening of its file as well, as another process would see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cofire.algorithms.session_context import SessionContext
from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import Model, StoredModel
from cofire.errors import CofireError, Conflict
from cofire.index import fact_index, postings, sessions
from cofire.model import (
    Change,
    Edge,
    EdgeWrite,
    Fact,
    FactDescription,
    FactFilter,
    FactImportance,
    FactWrite,
    NameMention,
    RemovedCascade,
    StoreRecord,
    SubjectName,
    WriteResult,
)
from cofire.stores import link_rules
from cofire.stores.base import (
    INCOMING_RECORD,
    MODEL_RECORD,
    EdgeFilter,
    ExpansionOptions,
    InboxSelection,
    Store,
    UnembeddedSelection,
)
from cofire.stores.learning_rows import EdgeAdjustment, FeedbackCounts, LoggedRecall, PathEdge, RecallLogOptions
from cofire.stores.sqlite import live_index
from cofire.text.descriptions import extend_description
from cofire.text.words import extract_words
from cofire.verbs.fact_analysis import count_fact_words
from tests.conftest import sqlite_store
from tests.reference_store.store import ReferenceStore
from tests.stores import answers
from tests.stores.making import DAY, NOW, Pen, cue, everywhere, holding

VOCABULARY = ("tea", "pot", "green", "max_connections", "東京", "Zürich", "runs", "C++", "the")
SCOPES = ("a", "b", "c")
DIMENSION = 16
RANDOM = np.random.default_rng(11)
DIRECTIONS = normalise_vectors(RANDOM.standard_normal((12, DIMENSION))).astype(np.float16)
MODELS = [
    StoredModel(Model(name, DIMENSION), RANDOM.normal(0, 0.1, DIMENSION).astype(np.float32), (0.0, 0.25))
    for name in ("first", "second")
]

STEMS = (*dict.fromkeys(extract_words(" ".join(VOCABULARY))), "never")
NAMES = ("ana lopez", "porto", "kettle", "tea")
CONTEXT = SessionContext(before=0.5, after=0.3, decay=0.5, reach=2, short=3)

said = some.lists(some.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join)
texts = some.builds(str.__add__, said, some.sampled_from(["", "?"]))
moments = some.none() | some.integers(-3, 3).map(lambda days: NOW + days * DAY)
vectors = some.none() | some.sampled_from([row.tobytes() for row in DIRECTIONS])
tellings = some.fixed_dictionaries(
    {"text": texts, "scope": some.sampled_from(SCOPES)},
    optional={
        "vector": vectors,
        "session": some.sampled_from(["one", "two"]),
        "speaker": some.sampled_from(["Ana", "Ben", "Ana Lopez"]),
        "category": some.sampled_from(["note", "log"]),
        "subject": some.sampled_from(["Kettle", "Tea"]),
        "tags": some.sets(some.sampled_from(["db", "hot tea", "x"])).map(lambda tags: tuple(sorted(tags))),
        "at": moments,
        "valid_from": moments,
        "valid_until": moments,
        "expires": moments,
        "stored_at": some.integers(-3, 0).map(lambda days: NOW + days * DAY),
        "archived": some.booleans(),
        "metadata": some.dictionaries(
            some.sampled_from(["k", "ü"]), some.integers() | some.text(max_size=3), max_size=2
        ),
    },
)
names = some.sampled_from(NAMES)
shares = some.sampled_from([0.25, 0.5, 0.667, 1.0])
sentences = some.lists(some.integers(0, 40), max_size=3).map(tuple)
namings = some.fixed_dictionaries(
    {},
    optional={
        "mentions": some.lists(some.builds(NameMention, names, sentences, shares), max_size=3).map(tuple),
        "subjects": some.lists(some.builds(SubjectName, names, shares), max_size=2).map(tuple),
        "perhaps": some.dictionaries(names, sentences, max_size=3),
        "places": some.dictionaries(some.sampled_from(STEMS), some.integers(1, 2**32 - 1), max_size=4),
    },
)
kinds = some.sampled_from(["similar", "causes", "supports", "contradicts", "auto_link", "hebbian", "my own"])
filters = some.fixed_dictionaries(
    {"now": some.integers(-2, 2).map(lambda days: NOW + days * DAY)},
    optional={
        "scopes": some.none()
        | some.sets(some.sampled_from([*SCOPES, "nowhere"])).map(lambda names: tuple(sorted(names))),
        "tags": some.frozensets(some.sampled_from(["db", "hot tea", "none"]), max_size=2),
        "categories": some.frozensets(some.sampled_from(["note", "log"])),
        "speakers": some.frozensets(some.sampled_from(["Ana", "Cleo"])),
        "sessions": some.frozensets(some.sampled_from(["one", "two"])),
        "since": moments,
        "until": moments,
        "as_of": moments,
        "archived": some.booleans(),
        "community": some.integers(0, 2),
    },
).map(lambda conditions: FactFilter(**{"scopes": None, **conditions}))


def assert_same_facts(one: Store, other: Store, ids: list[str]) -> None:
    known = one.read_facts(ids)
    assert other.read_facts(ids) == known
    hashes = [fact.hash for fact in known if fact] + [Fact("never told").hash]
    assert other.find_ids_by_hash(hashes) == one.find_ids_by_hash(hashes)
    for asked, reach, near in (([*ids, "unknown"], 0, 0), (ids, 2, 2), (ids[::3], 3, 1)):
        weighed = [answers.evidence(store, asked, STEMS, reach, near) for store in (one, other)]
        assert weighed[1] == weighed[0]
    assert other.locate_words([*ids, "unknown"], STEMS).tolist() == one.locate_words([*ids, "unknown"], STEMS).tolist()


def assert_same_search(one: Store, other: Store, where: FactFilter, k: int) -> None:
    before = f"{k:026}"
    assert other.list_facts(where, k, None) == one.list_facts(where, k, None)
    assert other.list_facts(where, 1_000, before) == one.list_facts(where, 1_000, before)
    stems = STEMS[:4]
    question = cue(*stems, weights=[1.0 + place / 3 for place in range(len(stems))])
    lent = tuple(place % 2 == 0 for place in range(len(stems)))
    hinted = replace(question, hint_weight=0.5)
    for asked in (question, hinted, replace(hinted, context=CONTEXT, lent=lent)):
        assert other.search_words(asked, k, where) == one.search_words(asked, k, where)
    vector = DIRECTIONS[k % len(DIRECTIONS)].astype(np.float32)
    assert other.search_vectors(vector, k, where, 400) == one.search_vectors(vector, k, where, 400)
    assert answers.alike(other, vector, k, where) == answers.alike(one, vector, k, where)


def assert_same_recall(one: Store, other: Store, where: FactFilter, k: int, ids: list[str]) -> None:
    """What a recall asks besides: times, voices, names and paths."""
    spans = [(NOW - DAY, NOW), (NOW + k * DAY, NOW + k * DAY)]
    assert other.search_times(spans, k, where) == one.search_times(spans, k, where)
    assert other.filter_visible(ids, where) == one.filter_visible(ids, where)
    for scopes in (["a"], [*SCOPES, "nowhere"]):
        for asked in (["ana"], ["ben", "lopez"]):
            assert other.match_speakers(scopes, asked) == one.match_speakers(scopes, asked)
        assert other.match_tags(scopes, ["db", "x", "none"]) == one.match_tags(scopes, ["db", "x", "none"])
    for most in (1, 100):
        assert answers.known(other, NAMES, where, most) == answers.known(one, NAMES, where, most)
    seeds = [fact.id for fact in one.read_facts(ids[-9:]) if fact]
    for common, most in ((k, k), (3, 2), (100, 100)):
        assert answers.paths(other, seeds, where, common, most) == answers.paths(one, seeds, where, common, most)


def assert_same_counts(one: Store, other: Store) -> None:
    counts = ("facts", "archived", "embedded", "edges", "mentions", "waiting", "scopes")
    sizes = [{count: getattr(size, count) for count in counts} for size in (one.read_size(), other.read_size())]
    assert sizes[1] == sizes[0]
    for scopes in (["a"], ["a", "b"], [*SCOPES, "nowhere"]):
        assert answers.statistics(other, scopes, STEMS) == answers.statistics(one, scopes, STEMS)


def assert_same_graph(one: Store, other: Store, ids: list[str]) -> None:
    known = [fact.id for fact in one.read_facts(ids) if fact]
    for wanted in (EdgeFilter(), EdgeFilter(("a",)), EdgeFilter(kinds=frozenset({"similar"}), origin="test")):
        assert other.list_edges(wanted, 50) == one.list_edges(wanted, 50)
    for id in known[-3:]:
        assert answers.links(other, id) == answers.links(one, id)
        assert other.read_history(id).descriptions == one.read_history(id).descriptions
    assert other.list_facts(InboxSelection(), 100) == one.list_facts(InboxSelection(), 100)
    assert other.list_facts(InboxSelection(("a", "nowhere")), 2) == one.list_facts(InboxSelection(("a", "nowhere")), 2)
    assert other.fetch_profiles([*known, "unknown"]).profiles == one.fetch_profiles([*known, "unknown"]).profiles
    assert other.fetch_importance(ids) == one.fetch_importance(ids)
    assert other.fetch_profiles([]).active_hours == pytest.approx(one.fetch_profiles([]).active_hours)
    for scope in SCOPES:
        assert answers.network(other, scope) == answers.network(one, scope)
    assert answers.kin(other, known) == answers.kin(one, known)


def assert_same_learning(one: Store, other: Store, ids: list[str], recalls: list[str]) -> None:
    assert other.fetch_feedback_counts([*ids, "unknown"]) == one.fetch_feedback_counts([*ids, "unknown"])
    assert [other.read_recall(recall) for recall in recalls] == [one.read_recall(recall) for recall in recalls]
    for scopes in (None, ["a", "nowhere"]):
        assert other.list_communities(scopes, 3, 2) == one.list_communities(scopes, 3, 2)


def assert_same_expansion(one: Store, other: Store, where: FactFilter, k: int, ids: list[str]) -> None:
    asked = [*ids[-3:], "unknown"]
    every = ExpansionOptions(where, None, 0.0, 100)
    for how in (every, replace(every, kinds=frozenset({"similar", "causes", "entity"}), floor=0.4, most=k)):
        assert answers.expansion(other, asked, how) == answers.expansion(one, asked, how)


class TwoStores(RuleBasedStateMachine):
    """Does everything twice, and looks for a difference after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.exit = ExitStack()
        self.folder = Path(self.exit.enter_context(TemporaryDirectory()))
        self.exit.enter_context(patch.object(live_index, "MIN_SNAPSHOT_FACTS", 4))
        self.exit.enter_context(patch.object(postings, "TAIL_SIZE", 16))
        self.exit.enter_context(patch.object(fact_index, "MAX_DEAD_FACTS", 6))
        self.exit.enter_context(patch.object(sessions, "MAX_TOUCHED_SESSIONS", 1))
        self.exit.enter_context(patch.object(link_rules, "MAX_WALK_HOLDERS", 5))
        self.reference: Store = ReferenceStore()
        self.sqlite: Store = sqlite_store(self.folder)
        self.onlooker: Store = sqlite_store(self.folder, "exact")
        self.pen = Pen(self.reference)
        self.ids: list[str] = []
        self.recalls: list[str] = []
        self.taken: list[list[RemovedCascade]] = []
        self.model = MODELS[0]
        self.where, self.k = everywhere(), 5

    @property
    def others(self) -> list[Store]:
        """Those who must do as the reference does."""
        return [self.sqlite]

    @property
    def stores(self) -> list[Store]:
        return [self.reference, *self.others]

    def write(self, *facts: FactWrite, expects: dict[str, int] | None = None, **parts: Any) -> WriteResult:
        change = Change(now=parts.pop("now", NOW), facts=facts, **parts)
        written, *same = [store.write(change, expects or {}) for store in self.stores]
        assert same == [written] * len(same)
        return written

    def known(self, choice: int) -> Fact:
        """One of the facts that are there."""
        facts = [fact for fact in self.reference.read_facts(self.ids) if fact]
        return facts[choice % len(facts)]

    @initialize()
    def settle_model(self) -> None:
        self.write(records=(StoreRecord(MODEL_RECORD, self.model.encode()),))

    @rule(
        told=some.lists(some.tuples(tellings, namings), min_size=1, max_size=8),
        reach=some.integers(0, 3),
        minutes=some.integers(0, 90),
    )
    def remember(self, told: list[tuple[dict[str, Any], dict[str, Any]]], reach: int, minutes: int) -> None:
        news = [replace(self.pen.new(**parts), **named) for parts, named in told]
        self.write(*news, reach=reach, now=NOW + timedelta(minutes=minutes), idle_minutes=30.0 if minutes else None)
        self.ids += [new.fact.id for new in news]

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(choice=some.integers(0, 1_000), tags=some.sampled_from([(), ("db",), ("new",)]), days=some.integers(0, 3))
    def tell_again(self, choice: int, tags: tuple[str, ...], days: int) -> None:
        fact = self.known(choice)
        again = self.pen.new(fact.text, **{name: getattr(fact, name) for name in IDENTITY}, tags=tags, category="again")
        assert not self.write(again, now=NOW + days * DAY).facts[0].fresh

    @precondition(lambda self: self.ids)
    @rule(choices=some.sets(some.integers(0, 1_000), max_size=4))
    def forget(self, choices: set[int]) -> None:
        change = Change(now=NOW, removals=("unknown", *(self.ids[one % len(self.ids)] for one in sorted(choices))))
        radius = self.reference.collect_cascade(change.removals).radius
        assert [store.collect_cascade(change.removals).radius for store in self.others] == [radius] * len(self.others)
        gone = [store.write(change, {}) for store in self.stores]
        assert gone == [gone[0]] * len(gone)
        taken = [one.taken for one in gone if one.taken is not None]
        assert [one.radius for one in taken] == [radius] * len(gone)
        self.taken.append(taken)

    @precondition(lambda self: self.taken)
    @rule(choice=some.integers(0, 1_000))
    def undo(self, choice: int) -> None:
        """What was taken comes back as far as it can, be it for the second time."""
        taken = self.taken[choice % len(self.taken)]
        back = [store.write(Change(now=NOW, put_back=one), {}) for store, one in zip(self.stores, taken, strict=True)]
        assert back == [back[0]] * len(back)

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(choice=some.integers(0, 1_000), told=tellings, named=namings, same=some.booleans())
    def update(self, choice: int, told: dict[str, Any], named: dict[str, Any], same: bool) -> None:
        """A fact says something else, or the same with other marks; what another fact says already is refused by both."""
        fact = self.known(choice)
        said = {label: told[label] for label in ("text", "subject", "at") if label in told and not same}
        marks = {label: told[label] for label in ("tags", "category", "expires", "valid_until") if label in told}
        changed = replace(fact, **said, **marks)
        new = FactWrite(changed, count_fact_words(changed), told.get("vector"), **named)
        change = Change(now=NOW, revisions=(new,))
        self.assert_same_outcome(change)
        told_before = [store.read_history(fact.id) for store in self.stores]
        assert told_before == [told_before[0]] * len(told_before)

    def assert_same_outcome(self, change: Change) -> None:
        outcomes = [outcome(store, change) for store in self.stores]
        assert outcomes == [outcomes[0]] * len(outcomes)

    @precondition(lambda self: self.ids)
    @rule(choice=some.integers(0, 1_000), pinned=some.booleans())
    def pin(self, choice: int, pinned: bool) -> None:
        self.write(pins={self.ids[choice % len(self.ids)]: pinned, "unknown": True})

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(
        choices=some.lists(
            some.tuples(some.integers(0, 1_000), some.integers(0, 1_000), kinds), min_size=1, max_size=4
        ),
        weight=some.none() | shares,
        confidence=some.none() | shares,
        mode=some.sampled_from(["reinforce", "update", "skip", "error"]),
        ended=some.booleans(),
    )
    def connect(
        self, choices: list[tuple[int, int, str]], weight: Any, confidence: Any, mode: str, ended: bool
    ) -> None:
        """Edges of all kinds; those across scopes, or there already, may be refused, and then by both stores."""
        drawn = [
            Edge(self.known(a).id, self.known(b).id, kind, weight, confidence, ("t",), "test") for a, b, kind in choices
        ]
        change = Change(
            now=NOW, edges=tuple(EdgeWrite(edge, mode) for edge in drawn), ended=tuple(drawn) if ended else ()
        )
        self.assert_same_outcome(change)

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(choice=some.integers(0, 1_000), text=texts, named=namings)
    def dream(self, choice: int, text: str, named: dict[str, Any]) -> None:
        """What a dream writes of a fact: names found later, a description, its importance, and that it was dreamed."""
        id = self.known(choice).id
        self.describe(id, self.known(choice // 7).id, text)
        self.write(
            mentions={id: named.get("mentions", ()), "unknown": named.get("mentions", ())},
            descriptions=(
                FactDescription(id, text, count_fact_words(Fact(text))),
                FactDescription("unknown", text, {}),
            ),
            importance=(FactImportance(id, 0.5, choice % 3), FactImportance("unknown", 0.1, 1)),
            dreamed={id: self.known(choice).drawn_from, "unknown": self.known(choice).drawn_from},
        )

    def describe(self, id: str, other: str, gist: str) -> None:
        """As dreams do: by the gist of another fact, added to what was said."""
        told = self.reference.read_history(id).descriptions
        text = extend_description(told[-1] if told else "", [gist])
        self.write(
            descriptions=(FactDescription(id, text, count_fact_words(Fact(text)), {other: gist, "unknown": gist}),)
        )

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(
        taught=some.lists(
            some.tuples(some.integers(0, 1_000), some.integers(0, 1_000), kinds, some.sampled_from([0.05, -0.05])),
            max_size=4,
        ),
        helped=some.integers(0, 2),
    )
    def learn(self, taught: list[tuple[int, int, str, float]], helped: int) -> None:
        """Feedback: edges grow and shrink, and facts are counted."""
        ends = [(self.known(a).id, self.known(b).id, kind, step) for a, b, kind, step in taught]
        lessons = tuple(EdgeAdjustment(a, b, kind, step) for a, b, kind, step in ends if a != b)
        self.write(
            lessons=lessons, uses={id: FeedbackCounts(helped, 1) for id in (*(one[0] for one in ends), "unknown")}
        )

    @precondition(lambda self: self.reference.read_size().facts)
    @rule(
        choices=some.lists(some.integers(0, 1_000), max_size=4, unique=True),
        session=some.sampled_from([None, "one", "two", "three"]),
        rule=some.sampled_from(["earned", "documented", "off"]),
    )
    def show(self, choices: list[int], session: str | None, rule: str) -> None:
        """A recall is logged; the next writing takes the log along."""
        ids = tuple(dict.fromkeys(self.known(choice).id for choice in choices))
        ways = {ids[-1]: (PathEdge(ids[0], ids[-1], "hebbian"),)} if len(ids) > 1 else {}
        shown = LoggedRecall(
            f"recall {len(self.recalls)}", NOW + len(self.recalls) * timedelta(minutes=20), session, ids, ways
        )
        for store in self.stores:
            store.log_recall(shown, RecallLogOptions(most=5, rule=rule, idle_minutes=30.0))
        self.recalls.append(shown.id)
        self.write()

    @rule(scopes=some.sets(some.sampled_from([*SCOPES, "empty"]), min_size=1), sample=some.integers(0, 5))
    def recount(self, scopes: set[str], sample: int) -> None:
        self.write(recount=tuple(sorted(scopes)), sample=sample)

    @rule(value=some.binary(max_size=4), surprise=some.booleans())
    def write_record(self, value: bytes, surprise: bool) -> None:
        record = self.reference.read_record("note")
        expects = {"note": (record.version if record else 0) + surprise}
        news = [self.pen.new("the tea of this record", scope="a")]
        if not surprise:
            self.write(*news, records=(StoreRecord("note", value),), expects=expects)
            self.ids += [new.fact.id for new in news]
            return
        for store in self.stores:
            with pytest.raises(Conflict):
                store.write(Change(now=NOW, facts=tuple(news), records=(StoreRecord("note", value),)), expects)

    @rule(limit=some.integers(1, 6), same=some.booleans(), finish=some.booleans(), recount=some.booleans())
    def reembed(self, limit: int, same: bool, finish: bool, recount: bool) -> None:
        """As the verb does, with the model that is there or the other one; given up after a batch, or finished."""
        target = self.model if same else next(model for model in MODELS if model.model != self.model.model)
        while batch := self.list_unembedded(target, limit):
            moved = {fact.id: DIRECTIONS[int(fact.id) * 7 % len(DIRECTIONS)].tobytes() for fact in batch}
            self.write(vectors=moved, records=(StoreRecord(INCOMING_RECORD, target.encode()),))
            if not finish:
                return
        adopted = (StoreRecord(MODEL_RECORD, target.encode()),)
        self.write(records=adopted, adopt_vectors=True, recount=SCOPES if recount else (), sample=4)
        self.model = target

    def list_unembedded(self, target: StoredModel, limit: int) -> list[Fact]:
        wanting = self.reference.list_facts(UnembeddedSelection(target.encode()), limit)
        assert [store.list_facts(UnembeddedSelection(target.encode()), limit) for store in self.others] == [
            wanting
        ] * len(self.others)
        return wanting

    @rule()
    def reopen(self) -> None:
        self.sqlite.close()
        self.sqlite = sqlite_store(self.folder)

    @rule(where=filters, k=some.integers(1, 12))
    def look_elsewhere(self, where: FactFilter, k: int) -> None:
        self.where, self.k = where, k

    @invariant()
    def answers_are_the_same(self) -> None:
        for store in (*self.others, self.onlooker):
            assert_same_facts(self.reference, store, self.ids)
            assert_same_search(self.reference, store, self.where, self.k)
            assert_same_recall(self.reference, store, self.where, self.k, self.ids)
            assert_same_expansion(self.reference, store, self.where, self.k, self.ids)
            assert_same_counts(self.reference, store)
            assert_same_graph(self.reference, store, self.ids)
            assert_same_learning(self.reference, store, self.ids, self.recalls)
            assert [store.read_record(name) for name in RECORDS] == [
                self.reference.read_record(name) for name in RECORDS
            ]

    def teardown(self) -> None:
        assert [store.check() for store in self.others] == [[]] * len(self.others)
        for store in (*self.stores, self.onlooker):
            store.close()
        self.exit.close()


def outcome(store: Store, change: Change) -> object:
    try:
        return store.write(change, {})
    except CofireError as error:
        return type(error)


IDENTITY = ("scope", "subject", "speaker", "session", "at")
RECORDS = ("note", MODEL_RECORD, INCOMING_RECORD)

TwoStores.TestCase.settings = settings(max_examples=20, stateful_step_count=25)
test_any_history_leaves_stores_that_answer_alike = pytest.mark.slow(TwoStores.TestCase)


def crowd(pen: Pen, facts: int) -> Iterator[FactWrite]:
    for number in range(facts):
        chosen = [VOCABULARY[place] for place in RANDOM.integers(0, len(VOCABULARY), 4)]
        row = DIRECTIONS[number % len(DIRECTIONS)].tobytes()
        parts = {"scope": SCOPES[number % 3], "session": f"s{number % 10}", "at": NOW - number * 7 % 40 * DAY}
        plain = pen.new(f"{' '.join(chosen)} {number}", row, speaker=("Ana", "Ben", None)[number % 7 % 3], **parts)
        yield holding(plain, {NAMES[number % 4]: (number % 9,)}, {NAMES[number % 3]: 0.5} if number % 20 == 0 else {})


@pytest.mark.slow
def test_a_large_store_answers_like_the_reference_after_most_of_it_is_gone(tmp_path: Path) -> None:
    """Large enough that the index is kept as a snapshot, merged and compacted on the way."""
    reference, sqlite = ReferenceStore(), sqlite_store(tmp_path)
    pen = Pen(reference)
    news = list(crowd(pen, 3_000))
    first = Change(
        now=NOW, facts=tuple(news), records=(StoreRecord(MODEL_RECORD, MODELS[0].encode()),), recount=SCOPES, sample=9
    )
    gone = Change(now=NOW, removals=tuple(new.fact.id for new in news if int(new.fact.id) % 5 < 4))
    for change in (first, gone):
        assert sqlite.write(change, {}) == reference.write(change, {})
    reopened = sqlite_store(tmp_path)
    for store in (sqlite, reopened):
        for where in (everywhere(), everywhere(scopes=("a",)), everywhere(sessions=frozenset({"s5"}))):
            assert_same_search(reference, store, where, 50)
            assert_same_recall(reference, store, where, 50, [new.fact.id for new in news])
        assert_same_facts(reference, store, [new.fact.id for new in news[::20]])
        assert_same_counts(reference, store)
        store.close()
