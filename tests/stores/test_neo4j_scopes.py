"""Scopes on a server: whatever is told, nobody sees, reaches or changes anything of a scope that was not named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

from cofire.errors import InvalidInput
from cofire.model import Change, Edge, EdgeWrite, FactDescription, FactImportance, StoreRecord
from cofire.stores.base import MODEL_RECORD, EdgeFilter, ExpansionOptions, InboxSelection
from cofire.stores.learning_rows import EdgeAdjustment, LoggedRecall, RecallLogOptions
from cofire.stores.neo4j.store import Neo4jStore
from tests.neo4j_server import IN_TURN, empty, empty_store
from tests.stores.making import NOW, Pen, cue, everywhere
from tests.stores.neo4j_content import across, content
from tests.stores.test_congruence import DIRECTIONS, MODELS, NAMES, STEMS, namings, tellings

pytestmark = IN_TURN

MINE, THEIRS = "a", "b"
SEEING = everywhere(scopes=(MINE,), archived=True, whenever=True)
FEW = settings(max_examples=4, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])

scopes = some.sampled_from([MINE, THEIRS])
crowds = some.lists(some.tuples(tellings, namings, scopes), min_size=4, max_size=12)


@pytest.fixture
def store(neo4j_url: str) -> Iterator[Neo4jStore]:
    with closing(empty_store()) as opened:
        yield opened


def tell(store: Neo4jStore, url: str, crowd: list[tuple[dict[str, Any], dict[str, Any], str]]) -> dict[str, set[str]]:
    """Facts in both scopes that share words, names, sessions, speakers and vectors; their ids by scope."""
    empty(url)
    pen = Pen(store)
    news = [replace(pen.new(**{**parts, "scope": scope}), **named) for parts, named, scope in crowd]
    ends = [pen.new(f"the tea of {scope}", DIRECTIONS[0].tobytes(), scope=scope) for scope in (MINE, THEIRS)]
    pen.write(*news, *ends, records=(StoreRecord(MODEL_RECORD, MODELS[0].encode()),), reach=3)
    pen.write(importance=tuple(FactImportance(new.fact.id, 0.5, 1) for new in (*news, *ends)), recount=(MINE, THEIRS))
    told: dict[str, set[str]] = {MINE: set(), THEIRS: set()}
    for fact in pen.all(archived=True, whenever=True):
        told[fact.scope].add(fact.id)
    return told


@FEW
@given(crowd=crowds)
def test_no_question_about_one_scope_is_answered_with_facts_of_another(
    store: Neo4jStore, neo4j_url: str, crowd: Any
) -> None:
    told = tell(store, neo4j_url, crowd)
    mine = sorted(told[MINE])
    seen = [fact.id for fact in store.list_facts(SEEING, 1_000, None)]
    seen += store.search_vectors(DIRECTIONS[0].astype("float32"), 100, SEEING, 400)
    seen += store.search_words(replace(cue(*STEMS), hint_weight=0.5), 100, SEEING)
    seen += store.search_times([(NOW, NOW)], 100, SEEING)
    seen += store.filter_visible([*mine, *told[THEIRS]], SEEING)
    seen += [id for one in store.look_up_names(NAMES, SEEING, 100) for id in one.about]
    seen += store.fetch_name_links(mine, SEEING, 100, 100).ids
    seen += store.expand_links(mine, ExpansionOptions(SEEING, None, 0.0, 100)).ids
    seen += store.fetch_features(mine, STEMS, 3, 3).ids
    seen += [end for id in mine for link in store.list_links(id, 100) for end in (link.source, link.target)]
    seen += [end for edge in store.list_edges(EdgeFilter((MINE,)), 1_000) for end in (edge.source, edge.target)]
    seen += [*store.fetch_scope_graph(MINE).ids, *store.find_neighbours(mine, 100, 100).ids]
    seen += [fact.id for fact in store.list_facts(InboxSelection((MINE,)), 100)]
    seen += [id for group in store.list_communities([MINE], 100, 100) for id in group.ids]
    assert set(seen) == told[MINE]


@FEW
@given(crowd=crowds, more=crowds)
def test_no_change_of_one_scope_touches_another(store: Neo4jStore, neo4j_url: str, crowd: Any, more: Any) -> None:
    told = tell(store, neo4j_url, crowd)
    theirs = content(neo4j_url, scope=THEIRS)
    pen = Pen(store)
    mine = sorted(told[MINE])
    news = [
        replace(pen.new(**{**parts, "scope": MINE, "id": f"new{at}"}), **named)
        for at, (parts, named, _) in enumerate(more)
    ]
    pen.write(*news, reach=3, recount=(MINE,))
    pen.write(
        mentions={mine[0]: news[0].mentions},
        descriptions=tuple(FactDescription(id, "Goes with: tea", {"tea": 1}, {mine[0]: "tea"}) for id in mine),
        importance=(FactImportance(mine[0], 0.9, 2),),
        dreamed={fact.id: fact.drawn_from for fact in store.list_facts(InboxSelection((MINE,)), 100)},
        edges=tuple(EdgeWrite(Edge(mine[0], id, "similar", 0.5)) for id in mine[1:]),
    )
    pen.write(removals=tuple(mine[:2]), archive=dict.fromkeys(mine, True))
    assert content(neo4j_url, scope=THEIRS) == theirs
    assert across(neo4j_url) == 0


@FEW
@given(crowd=crowds)
def test_nothing_comes_to_connect_two_scopes(store: Neo4jStore, neo4j_url: str, crowd: Any) -> None:
    told = tell(store, neo4j_url, crowd)
    mine, theirs = min(told[MINE]), min(told[THEIRS])
    with pytest.raises(InvalidInput):
        store.write(Change(now=NOW, edges=(EdgeWrite(Edge(mine, theirs, "similar", 0.5)),)), {})
    store.write(Change(now=NOW, lessons=(EdgeAdjustment(mine, theirs, "hebbian", 0.05),)), {})
    for session in ("one", "two", "three"):
        shown = LoggedRecall(f"recall {session}", NOW, session, (mine, theirs))
        store.log_recall(shown, RecallLogOptions(most=10, rule="earned", idle_minutes=30.0))
    store.write(Change(now=NOW), {})
    assert store.list_edges(EdgeFilter(ids=frozenset([mine]), kinds=frozenset({"hebbian", "similar"})), 10) == []
    assert across(neo4j_url) == 0
