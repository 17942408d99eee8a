"""What is refused is told in words of the caller: the place as it was written, what is wrong, and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.interfaces.http.conftest import Served
from tests.interfaces.http.serving import error

QUERY = {"query": "Tea?"}
AN_ID = "an id has 26 digits and capital letters, as in 01M7GRXZ72ER9HC7SM0EVVJFVW"
BODIES: dict[str, tuple[str, Any, str]] = {
    "blank text": ("/facts", {"text": " "}, "text: it is blank; give some text."),
    "a NUL": ("/facts", {"text": "a\x00"}, "text: it holds a NUL character, which no text has."),
    "a number for text": ("/facts", {"text": 5}, "text: give text."),
    "the second of several": ("/facts", {"facts": [{"text": "a"}, {"text": ""}]}, "facts[1].text: it is blank"),
    "an unknown field beside several": ("/facts", {"facts": [{"text": "a"}], "x": 1}, "x: there is no such field."),
    "a number for a scope": ("/recall", {**QUERY, "scope": 5}, "scope: give text, or a list of texts."),
    "a blank scope": ("/recall", {**QUERY, "scope": ""}, "scope: it is blank; give some text."),
    "a blank scope in a list": ("/recall", {**QUERY, "scope": ["a", ""]}, "scope[1]: it is blank; give some text."),
    "an unknown mode": (
        "/recall",
        {**QUERY, "mode": "bogus"},
        "mode: choose one of 'no_recall', 'minimal', 'full' or 'graph'.",
    ),
    "a time that is none": ("/recall", {**QUERY, "since": "nope"}, "since: give a date or a time in ISO 8601"),
    "too many": ("/recall", {**QUERY, "k": 1_001}, "k: give 1,000 or less."),
    "an id in a list": ("/forget", {"ids": ["nope"]}, f"ids[0]: {AN_ID}."),
    "an unknown way to make an edge": (
        "/edges",
        {"mode": "bogus"},
        "mode: choose one of 'reinforce', 'update', 'skip' or 'error'",
    ),
    "a list for an object": ("/facts", [], "body: give an object."),
}
ADDRESSES = {
    "/shadow?kind=bogus": "kind: choose one of 'recall' or 'assist'.",
    "/facts?before=nope": f"before: {AN_ID}.",
    "/facts?limit=many": "limit: give a whole number.",
    "/edges?ids=nope": f"ids: {AN_ID}.",
    "/graph/around?ids=nope,nor_this": f"ids: {AN_ID}.",
}
UNREADABLE = {
    b"{": "The body is no JSON: Expecting property name enclosed in double quotes, at character 1.",
    b"\xff": "The body is not UTF-8.",
    b"[" * 100_000: "The body is nested too deep.",
    b"9" * 5_000: "The body has a number of too many digits.",
}


@pytest.mark.parametrize("what", BODIES)
def test_a_body_is_refused_at_the_place_that_is_wrong(served: Served, what: str) -> None:
    path, body, told = BODIES[what]
    answer = served.api.post(path, json=body)
    assert answer.status_code == 422
    assert told in error(answer)["problem"]


@pytest.mark.parametrize("path", ADDRESSES)
def test_an_address_is_refused_by_the_name_that_is_wrong(served: Served, path: str) -> None:
    answer = served.api.get(path)
    assert (answer.status_code, error(answer)["problem"]) == (422, ADDRESSES[path])


@pytest.mark.parametrize("body", UNREADABLE, ids=lambda body: str(body[:5]))
def test_a_body_that_cannot_be_read_is_refused_with_the_reason(served: Served, body: bytes) -> None:
    answer = served.api.post("/facts", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, error(answer)["problem"]) == (422, UNREADABLE[body])


def test_half_a_character_in_the_name_of_a_setting_is_told_too(served: Served) -> None:
    body = rb'{"query": "Tea?", "settings": {"\ud800": 1}}'
    answer = served.api.post("/recall", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, r"there is no setting '\ud800'" in error(answer)["problem"]) == (422, True)


def test_a_body_that_is_missing_is_asked_for(served: Served) -> None:
    assert error(served.api.post("/facts"))["problem"] == "A body is needed."


@pytest.mark.parametrize("value", [None, [1], {}])
def test_a_value_of_no_setting_is_refused_once(served: Served, value: object) -> None:
    answer = served.api.put("/settings/recall.k", json={"value": value})
    assert (answer.status_code, error(answer)["problem"]) == (422, "value: give true or false, a number or text.")


@pytest.mark.parametrize("id", ["nope", "%20", "%00", "x" * 2_000])
def test_what_cannot_be_an_id_is_the_id_of_no_fact(served: Served, id: str) -> None:
    answers = [served.api.get(f"/facts/{id}"), served.api.patch(f"/facts/{id}", json={"text": "Tea."})]
    answers += [served.api.post(f"/facts/{id}/{verb}") for verb in ("pin", "unpin", "archive", "restore")]
    for answer in answers:
        assert (answer.status_code, error(answer)["kind"]) == (404, "NotFound")


@pytest.mark.parametrize("path", ["/guide/Dream!", "/guide/" + "x" * 200])
def test_what_cannot_be_a_verb_has_no_page(served: Served, path: str) -> None:
    assert served.api.get(path).status_code == 404


@pytest.mark.parametrize("verb", ["pin", "unpin", "archive", "restore"])
def test_a_field_is_refused_where_there_is_none_to_give(served: Served, verb: str) -> None:
    refused = served.api.post(f"/facts/{served.ids[0]}/{verb}", json={"forever": True})
    assert (refused.status_code, error(refused)["problem"]) == (422, "body: there are no fields to give here.")
    assert served.api.post(f"/facts/{served.ids[0]}/{verb}", json={}).status_code == 200


def test_a_change_that_changes_nothing_is_refused_with_what_may_be_changed(served: Served) -> None:
    answer = served.api.patch(f"/facts/{served.ids[0]}", json={})
    assert answer.status_code == 422
    assert "nothing to change; give some of tags, category, subject" in error(answer)["problem"]


def test_a_method_that_is_not_there_names_those_that_are(served: Served) -> None:
    answer = served.api.delete("/facts")
    assert (answer.status_code, error(answer)["way_out"]) == (405, "This address takes GET, POST.")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/stats"),
        ("GET", "/scopes"),
        ("GET", "/guide/recall"),
        ("GET", "/settings"),
        ("GET", "/health"),
        ("GET", "/review"),
        ("POST", "/recall"),
        ("POST", "/facts"),
        ("PUT", "/settings/recall.k"),
    ],
)
def test_an_unknown_field_in_the_address_is_refused(served: Served, method: str, path: str) -> None:
    body = {"/recall": QUERY, "/facts": {"text": "Tea."}, "/settings/recall.k": {"value": 3}}.get(path)
    refused = served.api.request(method, path, params={"colour": "red"}, json=body)
    assert (refused.status_code, error(refused)["problem"]) == (422, "colour: there is no such field.")
