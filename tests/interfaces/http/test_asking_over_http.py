"""Questions over HTTP: recall with its recording, why, feedback, and exploration as JSON and as a stream."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from cofire.http.schemas import RECALL_PARTS, WHY_PARTS, RecallInclude
from tests.interfaces.http.conftest import TEXTS, Served
from tests.interfaces.http.serving import error, events

QUESTION = {"query": "What runs in transaction mode?"}


def test_a_recall_is_small_unless_more_is_included(served: Served) -> None:
    found = served.api.post("/recall", json=QUESTION).json()
    assert found.keys() == {"id", "question", "known", "reason", "hits"}
    assert [hit.keys() for hit in found["hits"]] == [{"id", "text", "score"}] * len(found["hits"])


@pytest.mark.parametrize("name", RECALL_PARTS)
def test_each_part_of_a_recall_can_be_included_alone(served: Served, name: RecallInclude) -> None:
    found = served.api.post("/recall", json={**QUESTION, "include": [name]}).json()
    part = RECALL_PARTS[name]
    assert found.keys() == {"id", "question", "known", "reason", "hits", *part.response}
    assert found["hits"][0].keys() == {"id", "text", "score", *part.hit}


def test_an_included_ranking_has_every_candidate_best_first(served: Served) -> None:
    found = served.api.post("/recall", json={**QUESTION, "k": 1, "include": ["ranking", "plan"]}).json()
    scores = [candidate["score"] for candidate in found["ranking"]]
    assert found["ranking"][0] == {"id": found["hits"][0]["id"], "score": found["hits"][0]["score"]}
    assert (len(scores), scores) == (found["candidates"], sorted(scores, reverse=True))


def test_an_included_prompt_is_a_fenced_block(served: Served) -> None:
    found = served.api.post("/recall", json={**QUESTION, "include": ["prompt", "xray"]}).json()
    assert TEXTS[0] in found["prompt"]
    assert found["xray"].startswith(f"question: {QUESTION['query']}")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/recall", RECALL_PARTS), ("/why", WHY_PARTS), ("/explore", ["paths"])],
)
def test_an_unknown_part_is_refused_with_those_that_can_be_included(
    served: Served, path: str, allowed: Iterable[str]
) -> None:
    start = (
        {"ids": served.ids[:1]}
        if path == "/explore"
        else {**QUESTION, **({"id": served.ids[0]} if path == "/why" else {})}
    )
    answer = served.api.post(path, json={**start, "include": ["everything"]})
    assert (answer.status_code, error(answer)["problem"].startswith("include[0]: choose one of")) == (422, True)
    assert [name for name in allowed if f"'{name}'" not in error(answer)["problem"]] == []


def test_recall_tells_every_stage(served: Served) -> None:
    found = served.api.post("/recall", json={**QUESTION, "include": ["channels", "paths", "spread"]}).json()
    hits = {hit["id"]: hit for hit in found["hits"]}
    assert found["known"]
    assert set(hits) >= set(served.ids[:2])
    assert hits[served.ids[1]]["path"] == [served.ids[0], served.ids[1]]
    assert {channel["name"] for channel in found["channels"]} >= {"keyword", "entity"}
    assert found["spread"]["rounds"][0]["facts"][0]["id"] == served.ids[0]


def test_recall_takes_filters_limits_and_settings(served: Served) -> None:
    one = served.api.post("/recall", json={**QUESTION, "k": 1}).json()
    none = served.api.post("/recall", json={**QUESTION, "scope": ["elsewhere"]}).json()
    planned = {**QUESTION, "include": ["plan"]}
    spread = served.api.post("/recall", json=planned).json()
    direct = served.api.post("/recall", json={**planned, "settings": {"spreading_activation.enabled": False}}).json()
    assert len(one["hits"]) == 1
    assert (none["known"], none["hits"], bool(none["reason"])) == (False, [], True)
    assert (spread["plan"]["dynamics"], direct["plan"]["dynamics"]) == ("cofire", None)


@pytest.mark.parametrize(
    "settings", [{"recall.kk": 3}, {"recall.k": "3"}, {"snapshots.folder": "elsewhere"}, {"embedder.name": "other"}]
)
def test_settings_of_a_question_are_checked(served: Served, settings: dict[str, object]) -> None:
    answer = served.api.post("/recall", json={**QUESTION, "settings": settings})
    assert (answer.status_code, next(iter(settings)) in error(answer)["problem"]) == (422, True)


def test_why_tells_where_a_fact_is_lost(served: Served) -> None:
    told = served.api.post("/why", json={**QUESTION, "id": served.ids[0], "tags": ["ops"]}).json()
    assert (told["returned"], told["stage"]) == (False, "filtered")
    assert told["remedies"][0]["asked"] == {"tags": None}


def test_why_includes_the_fact_as_a_candidate(served: Served) -> None:
    asked = {**QUESTION, "id": served.ids[0]}
    small = served.api.post("/why", json=asked).json()
    whole = served.api.post("/why", json={**asked, "include": ["fact", "hit", "likeness", "rivals"]}).json()
    assert small.keys() & {"fact", "hit", "texts", "likeness", "rivals", "margin"} == set()
    assert (whole["fact"]["text"], whole["hit"]["score"] > 0) == (TEXTS[0], True)
    assert {name: whole[name] for name in small} == small


def test_why_is_silent_where_explanations_are_switched_off(served: Served) -> None:
    served.api.put("/settings/graph_recall.explain_doors", json={"value": False})
    answer = served.api.post("/why", json={**QUESTION, "id": served.ids[0]})
    assert (answer.status_code, "switched off" in error(answer)["problem"]) == (400, True)


def test_feedback_is_learned_from(served: Served) -> None:
    recalled = served.api.post("/recall", json=QUESTION).json()["id"]
    learned = served.api.post("/feedback", json={"id": recalled, "helped": served.ids[:2]}).json()
    assert (learned["helped"], learned["made"]) == (served.ids[:2], 1)
    assert served.api.get(f"/facts/{served.ids[0]}").json()["use"]["helped"] == 1


def test_exploration_goes_from_ids_or_from_a_question(served: Served) -> None:
    by_id = served.api.post("/explore", json={"ids": served.ids[:1]}).json()
    by_question = served.api.post("/explore", json={"query": "Which mode does PgBouncer run in?"}).json()
    assert {fact["text"] for fact in by_id["facts"]} == set(TEXTS[:2])
    assert by_question["seeds"][0]["status"] == "complete"


def test_the_paths_of_an_exploration_can_be_included(served: Served) -> None:
    start = {"ids": served.ids[:1]}
    [small] = served.api.post("/explore", json=start).json()["seeds"]
    [whole] = served.api.post("/explore", json={**start, "include": ["paths"]}).json()["seeds"]
    assert small.keys() == {"seed", "energy", "status", "reason"}
    assert whole["paths"][0]["ids"] == served.ids[:2]


def test_exploration_is_streamed_seed_by_seed(served: Served) -> None:
    told = events(served.api, "/explore", {"ids": served.ids})
    assert [name for name, _ in told] == ["seed", "seed", "seed", "done"]
    assert [seed["seed"] for _, seed in told[:3]] == served.ids
    assert told[-1][1] == served.api.post("/explore", json={"ids": served.ids}).json()


def test_a_streamed_exploration_that_finds_no_seed_says_why(served: Served) -> None:
    [(name, told)] = events(served.api, "/explore", {"query": "Quetzalcoatl?"})
    assert (name, told["seeds"], bool(told["reason"])) == ("done", [], True)


CONTRADICTIONS = {
    "an edge to itself": ("/edges", {"source": "ID", "target": "ID", "kind": "supports"}),
    "a fact that supersedes itself": ("/supersede", {"old": "ID", "new": "ID"}),
    "an end before the beginning": ("/recall", {**QUESTION, "since": "2026-05-08", "until": "2026-05-01"}),
    "never valid": ("/facts", {"text": "Tea.", "valid_from": "2026-05-08", "valid_until": "2026-05-08"}),
    "neither helped nor hurt": ("/feedback", {"id": "ID"}),
    "both helped and hurt": ("/feedback", {"id": "ID", "helped": ["ID"], "hurt": ["ID"]}),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_what_contradicts_itself_is_refused(served: Served, what: str) -> None:
    path, body = CONTRADICTIONS[what]
    said = {name: served.ids[0] if value == "ID" else value for name, value in body.items()}
    said |= {name: [served.ids[0]] for name, value in body.items() if value == ["ID"]}
    answer = served.api.post(path, json=said)
    assert (answer.status_code, error(answer)["kind"].startswith("Invalid")) == (400, True)
