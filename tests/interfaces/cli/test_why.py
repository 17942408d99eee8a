"""`cofire why`: where a fact is lost, and what brings it back; and who may ask for reasons."""

from __future__ import annotations

import pytest

from cofire.cli.recall import format_remedy
from cofire.results import Counterfactual
from tests.interfaces.calling import Store, call

QUESTION = "Which mode for PgBouncer sessions?"


@pytest.fixture
def ids(store: Store) -> list[str]:
    return store.holds(
        "PgBouncer sessions should be set to transaction mode for serverless.",
        "Sessions of the choir are on Thursdays.",
        "Lunch is at noon.",
    )


def test_why_tells_the_reasons_of_a_fact_that_came_back(ids: list[str]) -> None:
    ran = call("why", QUESTION, ids[0])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("returned: It is at place 1 of ")
    assert f"{ids[0]} PgBouncer sessions should be set" in ran.out


def test_why_tells_the_stage_and_the_remedies_of_a_fact_that_did_not(ids: list[str]) -> None:
    ran = call("why", QUESTION, ids[1], "-k", "1")
    assert ran.out.startswith("beyond_k: It is at place 2 of ")
    assert "remedy: -k 2 (then rank 2)" in ran.out
    assert ids[1] in [hit["id"] for hit in call("recall", QUESTION, "-k", "2", "--json").json["hits"]]


def test_why_takes_the_options_of_recall(ids: list[str]) -> None:
    told = call("why", QUESTION, ids[0], "--tag", "x", "--set", "recall.k=3", "--json").json
    assert (told["stage"], [one["filter"] for one in told["refusals"]]) == ("filtered", ["tags"])


def test_remedies_are_told_as_one_types_them(store: Store) -> None:
    [id] = store.holds("PgBouncer sessions should be set to transaction mode for serverless.", scope="other team")
    told = call("why", QUESTION, id).out
    assert "remedy: --scope default --scope 'other team' (then rank 1)" in told
    assert call("why", QUESTION, id, "--json").json["remedies"][0]["asked"] == {"scope": ["default", "other team"]}


@pytest.mark.parametrize(
    ("remedy", "said"),
    [
        (Counterfactual("", 1, {"as_of": "2026-05-08T00:00:00+00:00"}), "--as-of 2026-05-08T00:00:00+00:00"),
        (Counterfactual("", 1, {"settings": {"graph_assist.enabled": False}}), "--set graph_assist.enabled=false"),
        (Counterfactual("", 1, {"community": None, "session": None}), "without --community, without --session"),
        (Counterfactual("", 1, query="Which pool?"), "ask: Which pool?"),
        (
            Counterfactual("k=3, connect a b --kind x", 1, {"k": 3}, link=("a", "b")),
            "-k 3, cofire connect a b --kind x",
        ),
    ],
)
def test_each_kind_of_change_has_its_option(remedy: Counterfactual, said: str) -> None:
    assert format_remedy(remedy) == said


def test_an_unknown_id_is_code_3(ids: list[str]) -> None:
    ran = call("why", QUESTION, "7")
    assert (ran.code, ran.out) == (3, "")
    assert "No fact has the id 7." in ran.err
    assert call("why", QUESTION, "7", "--json").code == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "nope"),
        ("explore", "01M7GRXZ72ER9HC7SM0EVVJFVW"),
        ("forget", "nope", "--yes"),
        ("connect", "ID", "nope", "--kind", "supports"),
        ("connect", "nope", "ID", "--kind", "supports"),
        ("supersede", "nope", "ID"),
        ("update", "nope", "--tag", "x"),
        ("pin", "nope"),
        ("unpin", "nope"),
        ("archive", "nope"),
        ("unarchive", "nope"),
        ("edges", "--id", "nope"),
        ("remember", "New text.", "--supersedes", "nope"),
        ("undo", "nope"),
        ("feedback", "nope", "--helped", "ID"),
    ],
)
def test_an_unknown_id_is_code_3_in_every_command(ids: list[str], arguments: tuple[str, ...]) -> None:
    assert call(*(ids[0] if word == "ID" else word for word in arguments)).code == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [((), "Missing argument 'QUESTION'"), ((QUESTION,), "Missing argument 'ID'"), (("", "7"), "The question is empty")],
)
def test_what_cannot_be_asked_is_refused(arguments: tuple[str, ...], problem: str) -> None:
    ran = call("why", *arguments)
    assert ran.code == 2
    assert problem in ran.err


@pytest.mark.parametrize("words", [("why", QUESTION, "7"), ("recall", QUESTION, "--xray")])
def test_reasons_may_be_switched_off_at_the_doors(ids: list[str], words: tuple[str, ...]) -> None:
    call("config", "set", "graphRecallExplainToolEnabled", "false")
    ran = call(*words)
    assert ran.code == 2
    assert "The setting graph_recall.explain_doors disables explanations." in ran.err
    assert call("recall", QUESTION).code == 0


def test_xray_shows_plan_judgement_and_arithmetic(ids: list[str]) -> None:
    shown = call("recall", QUESTION, "--xray").out
    assert "plan: mode full (the usual)" in shown
    assert "abstention: no, evidence " in shown
    assert "keyword #1 " in shown
