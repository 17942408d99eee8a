"""Facts over HTTP: remembered, listed, found, changed, pinned, forgotten and brought back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cofire import AsyncMemory
from cofire.http.routes import fetch_texts
from cofire.http.server import MAX_BODY_BYTES
from tests.interfaces.http.conftest import TEXTS, Served
from tests.interfaces.http.serving import error


def test_a_fact_is_remembered(served: Served) -> None:
    said = {"text": "Tea is at four.", "tags": ["habit"], "at": "2026-05-08T16:00+02:00", "metadata": {"page": 3}}
    [id] = served.api.post("/facts", json=said).json()["ids"]
    fact = served.api.get(f"/facts/{id}").json()["fact"]
    assert (fact["text"], fact["tags"], fact["at"]) == ("Tea is at four.", ["habit"], "2026-05-08T14:00:00+00:00")
    assert fact["metadata"] == {"page": 3}


def test_a_fact_that_has_expired_already_is_refused(served: Served) -> None:
    refused = served.api.post("/facts", json={"text": "Tea is at four.", "expires": "2020-01-01"})
    assert (refused.status_code, "in the past" in error(refused)["problem"]) == (400, True)


def test_several_facts_are_remembered_in_their_order(served: Served) -> None:
    ids = served.api.post("/facts", json={"facts": [{"text": "Tea."}, {"text": TEXTS[0]}]}).json()["ids"]
    assert ids[1] == served.ids[0]
    assert served.api.get(f"/facts/{ids[0]}").json()["fact"]["text"] == "Tea."


def test_the_longest_text_is_what_the_setting_says(served: Served) -> None:
    long = {"text": "tea " * 37_500}
    refused = served.api.post("/facts", json=long)
    assert (refused.status_code, "remember.max_characters" in error(refused)["way_out"]) == (400, True)
    served.api.put("/settings/remember.max_characters", json={"value": 200_000})
    [id] = served.api.post("/facts", json=long).json()["ids"]
    assert len(served.api.get(f"/facts/{id}").json()["fact"]["text"]) == 150_000
    changed = served.api.patch(f"/facts/{served.ids[0]}", json={"text": "milk " * 30_000})
    assert changed.status_code == 200


def test_no_setting_lets_a_body_grow_beyond_the_walls(served: Served) -> None:
    served.api.put("/settings/remember.max_characters", json={"value": 10_000_000})
    assert served.api.post("/facts", json={"text": "x" * MAX_BODY_BYTES}).status_code == 413


def test_a_fact_that_is_forgotten_while_others_are_shown_has_no_text(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(tmp_path / "memory.db", embedder=None) as memory:
            stays, goes = await memory.remember(["Tea at four.", "Pot on the stove."])
            await memory.forget(goes)
            assert await fetch_texts(memory, [goes, stays]) == {stays: "Tea at four.", goes: ""}

    asyncio.run(story())


def test_a_page_tells_how_to_get_the_next(served: Served) -> None:
    first = served.api.get("/facts", params={"limit": 2}).json()
    assert [fact["id"] for fact in first["facts"]] == [served.ids[2], served.ids[1]]
    second = served.api.get("/facts", params={"limit": 2, "before": first["next"]}).json()
    assert ([fact["id"] for fact in second["facts"]], second["next"]) == ([served.ids[0]], None)


def test_filters_hold(served: Served) -> None:
    served.api.post("/facts", json={"text": "Ben likes tea.", "scope": "home", "speaker": "Ben", "session": "one"})
    for filters in ({"scope": "home"}, {"speaker": "Ben"}, {"session": ["one", "two"]}):
        [fact] = served.api.get("/facts", params=filters).json()["facts"]
        assert fact["text"] == "Ben likes tea."
    assert len(served.api.get("/facts", params={"tag": "db"}).json()["facts"]) == 3
    assert served.api.get("/facts", params={"until": "2020-01-01"}).json()["facts"] == []


@pytest.mark.parametrize("text", ["transaction", "transac", "TRANSACTION mo"])
def test_a_fact_is_found_by_a_word_or_a_piece_of_it(served: Served, text: str) -> None:
    found = served.api.get("/facts", params={"text": text}).json()["facts"]
    assert [fact["id"] for fact in found] == [served.ids[0]]


def test_a_fact_is_found_by_its_id_and_in_every_scope(served: Served) -> None:
    served.api.post("/facts", json={"text": "Ben likes tea.", "scope": "home"})
    [by_id] = served.api.get("/facts", params={"text": served.ids[2].lower()}).json()["facts"]
    [elsewhere] = served.api.get("/facts", params={"text": "tea"}).json()["facts"]
    assert (by_id["id"], elsewhere["scope"]) == (served.ids[2], "home")


def test_searching_for_a_picker_is_no_recall(served: Served) -> None:
    served.api.get("/facts", params={"text": "transaction"})
    answer = served.api.post("/recall", json={"query": "What runs in transaction mode?"}).json()
    assert served.api.get(f"/facts/{answer['hits'][0]['id']}").json()["use"] == {"helped": 0, "hurt": 0, "success": 0.5}


def test_a_fact_comes_with_all_that_hangs_on_it(served: Served) -> None:
    served.api.patch(f"/facts/{served.ids[0]}", json={"category": "ops"})
    whole = served.api.get(f"/facts/{served.ids[0]}").json()
    [link] = [link for link in whole["links"] if link["via"] == "pgbouncer"]
    assert link["text"] == TEXTS[1]
    assert (whole["fact"]["category"], whole["history"][0]["category"]) == ("ops", "knowledge")
    assert (whole["importance"], whole["archived_because"], whole["descriptions"]) == (None, None, [])


def test_null_takes_a_value_away_and_what_is_left_out_stays(served: Served) -> None:
    changed = served.api.patch(f"/facts/{served.ids[0]}", json={"tags": None, "text": "PgBouncer pools."}).json()[
        "fact"
    ]
    assert (changed["id"], changed["text"], changed["tags"]) == (served.ids[0], "PgBouncer pools.", [])
    assert changed["category"] == "knowledge"


def test_a_fact_is_pinned_and_unpinned(served: Served) -> None:
    [pinned] = served.api.post(f"/facts/{served.ids[0]}/pin").json()["facts"]
    again = served.api.post(f"/facts/{served.ids[0]}/pin").json()["facts"]
    [unpinned] = served.api.post(f"/facts/{served.ids[0]}/unpin").json()["facts"]
    assert (pinned["pinned"], again, unpinned["pinned"]) == (True, [], False)


def test_an_archived_fact_is_out_of_recall_until_it_is_restored(served: Served) -> None:
    question = {"query": "Who leads the Berlin office?"}
    served.api.post(f"/facts/{served.ids[2]}/archive")
    without = served.api.post("/recall", json=question).json()
    served.api.post(f"/facts/{served.ids[2]}/restore")
    with_it = served.api.post("/recall", json=question).json()
    assert served.ids[2] not in [hit["id"] for hit in without["hits"]]
    assert with_it["hits"][0]["id"] == served.ids[2]


def test_pinned_and_archived_facts_are_listed_by_themselves(served: Served) -> None:
    served.api.post(f"/facts/{served.ids[0]}/pin")
    served.api.post(f"/facts/{served.ids[1]}/archive")
    found = {
        asked: [fact["id"] for fact in served.api.get("/facts", params={asked: True}).json()["facts"]]
        for asked in ("pinned", "archived")
    }
    assert found == {"pinned": [served.ids[0]], "archived": [served.ids[1]]}


def test_the_first_community_is_a_filter_too(served: Served) -> None:
    """It is number 0, which is nothing left out."""
    assert served.api.get("/facts", params={"community": 0}).json()["facts"] == []


def test_what_words_find_has_no_next_page(served: Served) -> None:
    refused = served.api.get("/facts", params={"text": "Berlin", "before": served.ids[2]})
    assert (refused.status_code, "Leave text out, or before" in refused.text) == (400, True)


def test_words_are_not_looked_for_among_pinned_facts_alone(served: Served) -> None:
    refused = served.api.get("/facts", params={"text": "Berlin", "pinned": True})
    assert (refused.status_code, "Leave text out" in refused.text) == (400, True)


def test_forgetting_can_be_looked_at_done_and_undone(served: Served) -> None:
    would = served.api.post("/forget", json={"ids": served.ids[:1], "dry_run": True}).json()
    assert (would["forgotten"], would["radius"]["facts"], would["receipt"]) == (False, 1, None)
    gone = served.api.post("/forget", json={"ids": served.ids[:1]}).json()
    assert gone["forgotten"]
    assert served.api.get(f"/facts/{served.ids[0]}").status_code == 404
    back = served.api.post("/undo", json={"receipt": gone["receipt"]["id"]}).json()
    assert ([fact["id"] for fact in back["facts"]], back["skipped"]) == (served.ids[:1], [])
    assert served.api.get(f"/facts/{served.ids[0]}").status_code == 200


def test_facts_are_forgotten_by_filter(served: Served) -> None:
    gone = served.api.post("/forget", json={"filter": {"tags": "db"}}).json()
    assert {fact["id"] for fact in gone["facts"]} == set(served.ids)
    assert served.api.get("/facts").json()["facts"] == []


@pytest.mark.parametrize("body", [{}, {"filter": {}}, {"ids": []}, {"dry_run": False}])
def test_nothing_is_forgotten_where_nothing_is_named(served: Served, body: dict[str, object]) -> None:
    assert served.api.post("/forget", json=body).status_code in {400, 422}
    assert len(served.api.get("/facts").json()["facts"]) == 3


def test_an_unknown_fact_is_not_found(served: Served) -> None:
    missing = "01M7GRXZ72ER9HC7SM0EVVJFVW"
    for answer in (served.api.get(f"/facts/{missing}"), served.api.post(f"/facts/{missing}/pin")):
        assert (answer.status_code, error(answer)["kind"]) == (404, "NotFound")


@pytest.mark.parametrize("several", [False, True])
def test_a_fact_replaces_an_older_one(served: Served, several: bool) -> None:
    old = served.ids[0]
    said = {"text": "Node is pinned to 20.11.", "supersedes": [old] if several else old}
    [new] = served.api.post("/facts", json=said).json()["ids"]
    [listed] = served.api.get("/facts", params={"superseded": True}).json()["facts"]
    assert (listed["id"], listed["superseded_by"]) == (old, [new])
    assert served.api.get(f"/facts/{old}").json()["fact"]["superseded_by"] == [new]


def test_an_unknown_id_to_replace_is_refused(served: Served) -> None:
    refused = served.api.post("/facts", json={"text": "Node is pinned to 20.11.", "supersedes": ["0" * 26]})
    assert refused.status_code == 404
    assert len(served.api.get("/facts").json()["facts"]) == len(served.ids)


def test_an_edge_of_the_kind_supersedes_replaces_its_target(served: Served) -> None:
    old, new = served.ids[:2]
    edge = {"source": new, "target": old, "kind": "supersedes"}
    assert served.api.post("/edges", json=edge).status_code == 200
    assert served.api.get(f"/facts/{old}").json()["fact"]["superseded_by"] == [new]


def test_facts_are_filtered_by_metadata(served: Served) -> None:
    notes = [{"text": f"Tea {n}.", "metadata": {"project": "x", "priority": n}} for n in range(3)]
    ids = served.api.post("/facts", json={"facts": notes}).json()["ids"]

    def listed(*where: str) -> list[str]:
        return sorted(fact["id"] for fact in served.api.get("/facts", params={"where": where}).json()["facts"])

    assert listed("project=x") == ids
    assert listed("project=x", "priority>=1", "priority<2") == [ids[1]]
    asked = {"query": "Tea", "where": {"project": "x", "priority": [0, 2]}}
    assert {hit["id"] for hit in served.api.post("/recall", json=asked).json()["hits"]} == {ids[0], ids[2]}
    gone = served.api.post("/forget", json={"filter": {"where": {"priority": {"gt": 1}}}, "dry_run": True}).json()
    assert [fact["id"] for fact in gone["facts"]] == [ids[2]]
    start = {"ids": ids[:1], "where": {"priority": 0}}
    assert [fact["id"] for fact in served.api.post("/explore", json=start).json()["facts"]] == ids[:1]
    drawn = served.api.get("/graph", params={"where": "priority<1"}).json()
    assert [node["id"] for node in drawn["nodes"]] == ids[:1]
    around = served.api.get("/graph/around", params={"ids": ids[0], "where": "priority<1"}).json()
    assert [node["id"] for node in around["nodes"]] == ids[:1]


def test_a_filter_by_metadata_that_cannot_be_applied_is_refused(served: Served) -> None:
    asked = {"query": "Tea", "where": {"priority": {"near": 1}}}
    for refused in (served.api.post("/recall", json=asked), served.api.get("/facts", params={"where": ">3"})):
        assert refused.status_code == 422
    assert "gte" in str(error(served.api.post("/recall", json=asked)))
    assert served.api.post("/recall", json={"query": "Tea", "where": {}}).status_code == 422


def test_facts_of_a_wrong_shape_are_skipped_with_the_others(served: Served) -> None:
    facts = [{"text": "Tea is at four."}, None, {"text": " "}, {"text": 5}, {"text": "Milk.", "expires": "2020-01-01"}]
    answered = served.api.post("/facts", json={"facts": facts, "errors": "skip"}).json()
    assert [id is None for id in answered["ids"]] == [False, True, True, True, True]
    assert [item["index"] for item in answered["skipped"]] == [1, 2, 3, 4]
    assert answered["skipped"][1]["problem"] == "text: it is blank; give some text."
    refused = served.api.post("/facts", json={"facts": [{"text": "Bread."}, None]})
    assert refused.status_code == 422
    assert {fact["text"] for fact in served.api.get("/facts").json()["facts"]}.isdisjoint({"Bread.", "Milk."})


@pytest.mark.parametrize(
    ("path", "body", "meant"),
    [
        ("/recall", {"query": "tea", "top_k": 3}, "top_k: there is no such field; did you mean k?"),
        ("/recall", {"query": "tea", "user_id": "Ana"}, "did you mean scope?"),
        ("/facts", {"content": "Tea."}, "content: there is no such field; did you mean text?"),
        (
            "/facts",
            {"facts": [{"text": "Tea.", "tag": "x"}]},
            "facts[0].tag: there is no such field; did you mean tags?",
        ),
        ("/explore", {"ids": ["01M7GRXZ72ER9HC7SM0EVVJFVW"], "tag": "x"}, "did you mean tags?"),
        ("/edges", {"source": "a", "target": "b", "type": "x"}, "type: there is no such field; did you mean kind?"),
    ],
)
def test_the_near_miss_of_a_field_is_named(served: Served, path: str, body: dict[str, object], meant: str) -> None:
    refused = served.api.post(path, json=body)
    assert refused.status_code == 422
    assert meant in error(refused)["problem"]


def test_the_near_miss_of_a_name_in_an_address_is_named(served: Served) -> None:
    assert "top_k: there is no such field; did you mean limit?" in served.api.get("/facts?top_k=3").text
