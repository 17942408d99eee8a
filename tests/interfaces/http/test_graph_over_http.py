"""The graph over HTTP: edges, pictures and clusters, dreams and curation with live progress, and facts that disagree."""

from __future__ import annotations

from pathlib import Path

import pytest

from cofire import Memory
from tests.conftest import HashedWords
from tests.interfaces.http.conftest import Served
from tests.interfaces.http.serving import client, error, events, running


def test_an_edge_is_made_and_listed(served: Served) -> None:
    said = {"source": served.ids[0], "target": served.ids[2], "kind": "supports", "weight": 0.8, "tags": ["team"]}
    made = served.api.post("/edges", json=said).json()
    assert (made["weight"], made["tags"], made["origin"]) == (0.8, ["db", "team"], "user")
    assert served.api.get("/edges", params={"ids": served.ids[2], "kind": "supports"}).json() == {"edges": [made]}
    assert served.api.get("/edges", params={"kind": "causes"}).json() == {"edges": []}


def test_edges_are_listed_by_what_made_them(served: Served) -> None:
    said = {"source": served.ids[0], "target": served.ids[2], "kind": "supports"}
    made = served.api.post("/edges", json=said).json()
    assert served.api.get("/edges", params={"origin": "user"}).json() == {"edges": [made]}
    assert made not in served.api.get("/edges", params={"origin": "dream"}).json()["edges"]


def test_an_edge_that_is_there_can_be_refused(served: Served) -> None:
    said = {"source": served.ids[0], "target": served.ids[2], "kind": "supports", "mode": "error"}
    assert served.api.post("/edges", json=said).status_code == 200
    assert error(served.api.post("/edges", json=said))["way_out"]


def test_the_whole_graph_has_every_fact_and_what_joins_them(served: Served) -> None:
    drawn = served.api.get("/graph").json()
    assert {node["id"] for node in drawn["nodes"]} == set(served.ids)
    [edge] = [edge for edge in drawn["edges"] if edge["kind"] == "about"]
    assert {edge["source"], edge["target"]} == set(served.ids[:2])
    assert (drawn["clusters"], drawn["total"]) == ([], 3)
    assert {node["id"]: node["degree"] for node in drawn["nodes"]}[served.ids[2]] == 0


def test_the_graph_is_narrowed_by_kind_and_scope(served: Served) -> None:
    served.api.post("/edges", json={"source": served.ids[0], "target": served.ids[2], "kind": "supports"})
    supports = served.api.get("/graph", params={"kinds": "supports"}).json()
    nothing = served.api.get("/graph", params={"scope": "elsewhere"}).json()
    assert [edge["kind"] for edge in supports["edges"]] == ["supports"]
    assert (nothing["nodes"], nothing["total"]) == ([], 0)


def test_above_the_limit_communities_stand_for_their_facts(served: Served) -> None:
    served.api.post("/dream")
    drawn = served.api.get("/graph", params={"limit": 2}).json()
    assert (drawn["nodes"], drawn["total"]) == ([], 3)
    assert sum(cluster["size"] for cluster in drawn["clusters"]) == 3
    named = [cluster for cluster in drawn["clusters"] if cluster["community"] is not None]
    assert named[0]["size"] == 2
    assert "pgbouncer" in named[0]["name"]


def test_a_community_is_opened_however_small_the_limit_for_all(served: Served) -> None:
    served.api.post("/dream")
    clusters = served.api.get("/graph", params={"limit": 2}).json()["clusters"]
    [named, *_] = [cluster for cluster in clusters if cluster["community"] is not None]
    asked = {"scope": named["scope"], "community": named["community"], "limit": 2}
    opened = served.api.get("/graph", params=asked).json()
    assert {node["id"] for node in opened["nodes"]} == set(served.ids[:2])
    assert {node["community"] for node in opened["nodes"]} == {named["community"]}
    assert [{edge["source"], edge["target"]} for edge in opened["edges"]] == [set(served.ids[:2])]
    assert (opened["clusters"], opened["total"]) == ([], named["size"])


def test_before_a_dream_all_facts_are_one_cluster_without_a_number(served: Served) -> None:
    [cluster] = served.api.get("/graph", params={"limit": 2}).json()["clusters"]
    assert (cluster["id"], cluster["community"], cluster["size"]) == ("default/", None, 3)


def test_the_surroundings_of_a_fact_are_drawn_step_by_step(served: Served) -> None:
    [other] = served.api.post("/facts", json={"text": "Berlin has a river."}).json()["ids"]
    served.api.post("/edges", json={"source": served.ids[1], "target": other, "kind": "supports"})
    near = served.api.get("/graph/around", params={"ids": served.ids[0]}).json()
    far = served.api.get("/graph/around", params={"ids": served.ids[0], "depth": 2}).json()
    both = served.api.get("/graph/around", params={"ids": ",".join(served.ids[::2])}).json()
    assert {node["id"] for node in near["nodes"]} == set(served.ids[:2])
    assert {node["id"] for node in far["nodes"]} >= {*served.ids[:2], other}
    assert {"about", "supports"} <= {edge["kind"] for edge in far["edges"]}
    assert {node["id"] for node in both["nodes"]} >= set(served.ids)


def test_a_dream_tells_how_far_it_is(served: Served) -> None:
    *steps, (last, told) = events(served.api, "/dream", {})
    assert {name for name, _ in steps} == {"progress"}
    assert steps[-1][1] == {"done": 3, "total": 3, "stage": "dream"}
    assert (last, told["report"]["facts"], told["report"]["waiting"]) == ("done", 3, 0)


def test_a_dream_is_told_at_once_where_no_events_are_wanted(served: Served) -> None:
    assert served.api.post("/dream", json={"scope": "elsewhere"}).json()["facts"] == 0
    assert served.api.post("/dream").json()["facts"] == 3
    [group, *_] = served.api.get("/communities").json()["communities"]
    assert (group["size"], {fact["id"] for fact in group["facts"]}) == (2, set(served.ids[:2]))


def test_curation_tells_its_stages(served: Served) -> None:
    *steps, (last, told) = events(served.api, "/curate", {"dry_run": True})
    places = [step["done"] for _, step in steps]
    assert places == list(range(len(places)))
    assert (last, told["report"]["dry_run"]) == ("done", True)
    assert served.api.post("/curate").json()["dry_run"] is False


def test_a_stream_that_fails_ends_with_the_error(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder=None) as memory:
        memory.remember("Tea is at four.")
    with running(path) as url, client(url) as api:
        assert api.get("/stats").status_code == 200
        path.write_bytes(b"this is no store" * 1000)
        name, told = events(api, "/curate", {})[-1]
        assert (name, told["kind"], bool(told["way_out"])) == ("error", "StoreCorrupt", True)


def test_a_newer_fact_supersedes_an_older(served: Served) -> None:
    edge = served.api.post("/supersede", json={"old": served.ids[0], "new": served.ids[1]}).json()
    assert (edge["source"], edge["target"], edge["kind"]) == (served.ids[1], served.ids[0], "supersedes")


def test_a_supersede_is_taken_back(served: Served) -> None:
    pair = {"old": served.ids[0], "new": served.ids[1]}
    served.api.post("/supersede", json=pair)
    assert served.api.post("/unsupersede", json=pair).json() == {**pair, "state": "undone"}
    assert served.api.get(f"/facts/{served.ids[0]}").json()["fact"]["valid_until"] is None
    assert served.api.post("/unsupersede", json=pair).status_code == 404


@pytest.mark.parametrize("decision", ["accept", "dismiss"])
def test_facts_that_disagree_wait_for_a_decision(tmp_path: Path, decision: str) -> None:
    with Memory(tmp_path / "memory.db", embedder=HashedWords()) as memory:
        old = memory.remember("Ana lives in Porto.", at="2026-03-01")
        new = memory.remember("Ana lives in Lisbon.", at="2026-05-01")
        memory.curate()
    with running(tmp_path / "memory.db", memory={"embedder": HashedWords()}) as url, client(url) as api:
        [pair] = api.get("/review").json()["reviews"]
        assert (pair["old"]["id"], pair["new"]["id"], pair["state"]) == (old, new, "open")
        decided = api.post(f"/review/{decision}", json={"old": old, "new": new}).json()
        assert decided["state"] == {"accept": "accepted", "dismiss": "dismissed"}[decision]
        assert api.get("/review").json()["reviews"] == []
        [kept] = api.get("/review", params={"everything": True}).json()["reviews"]
        assert kept["state"] == decided["state"]
