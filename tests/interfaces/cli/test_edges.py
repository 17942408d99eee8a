"""`cofire connect`, `edges` and the links that `show` tells of."""

from __future__ import annotations

import pytest

from tests.interfaces.calling import Store, call

TEA, MEI = "Tea is at four.", "Mei likes tea."


@pytest.fixture
def ids(store: Store) -> list[str]:
    return store.holds(TEA, MEI, tags=["habit"])


def test_connect_shows_the_edge_it_made(ids: list[str]) -> None:
    ran = call("connect", *ids, "--kind", "causes", "--weight", "0.8", "--tag", "why")
    head, row, ends = ran.out.splitlines()
    assert head.split() == ["kind", "weight", "confidence", "origin", "facts"]
    assert row.split(maxsplit=4) == ["causes", "0.80", "–", "user", f"{TEA} → {MEI}"]
    assert ends.strip() == f"{ids[0]} → {ids[1]}"


def test_edge_has_the_tags_given_and_those_both_facts_have(ids: list[str]) -> None:
    assert call("connect", *ids, "--kind", "causes", "--tag", "why", "--json").json["tags"] == ["habit", "why"]


def test_connecting_again_does_as_the_mode_says(ids: list[str]) -> None:
    again = ("connect", *ids, "--kind", "causes", "--json")
    assert call(*again, "--weight", "0.5", "--confidence", "0.5").code == 0
    assert call(*again, "--weight", "0.9", "--mode", "skip").json["weight"] == 0.5
    assert call(*again).json["confidence"] > 0.5
    assert call(*again, "--weight", "0.9", "--mode", "update").json["weight"] == 0.9
    assert call(*again, "--mode", "error").code == 2


def test_connecting_the_other_way_round_is_another_edge(ids: list[str]) -> None:
    call("connect", *ids, "--kind", "causes", "--weight", "0.9")
    back = call("connect", *reversed(ids), "--kind", "causes", "--weight", "0.1", "--json").json
    assert ([back["source"], back["target"]], back["weight"]) == (ids[::-1], 0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--kind", "causes", "--weight", "2"],
        ["--kind", "causes", "--weight", "nan"],
        ["--kind", "causes", "--weight", "much"],
        ["--kind", "causes", "--confidence", "-1"],
        ["--kind", "causes", "--mode", "often"],
        ["--kind", ""],
        [],
    ],
)
def test_what_cannot_be_an_edge_is_code_2(ids: list[str], wrong: list[str]) -> None:
    ran = call("connect", *ids, *wrong)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert call("edges", "--json").json == {"edges": []}


def test_connecting_with_an_unknown_fact_is_code_3(ids: list[str]) -> None:
    assert call("connect", ids[0], "7", "--kind", "causes").code == 3


def test_connecting_facts_of_two_scopes_is_refused(store: Store, ids: list[str]) -> None:
    [other] = store.holds("Coffee is at ten.", scope="work")
    ran = call("connect", ids[0], other, "--kind", "causes")
    assert ran.code == 2
    assert "different scopes" in ran.err


def test_edges_are_listed_strongest_first(store: Store) -> None:
    first, second, third = store.holds("Tea is at four.", "Coffee is at ten.", "Milk is at noon.")
    call("connect", first, second, "--kind", "causes", "--weight", "0.2")
    call("connect", second, third, "--kind", "supports", "--weight", "0.9")
    assert [edge["kind"] for edge in call("edges", "--json").json["edges"]] == ["supports", "causes"]
    rows = call("edges").out.splitlines()[1::2]
    assert [row.split()[0] for row in rows] == ["supports", "causes"]


def test_edges_whose_ends_are_alike_have_no_direction(ids: list[str]) -> None:
    call("connect", *ids, "--kind", "similar")
    assert f"{TEA} ↔ {MEI}" in call("edges").out


def test_edges_shorten_long_texts(store: Store) -> None:
    ids = store.holds("tea " * 100, "milk\n" * 100)
    call("connect", *ids, "--kind", "causes")
    _, row, _ = call("edges").out.splitlines()
    assert "…" in row
    assert len(row) < 200


def test_edges_are_filtered(store: Store) -> None:
    first, second, third = store.holds("Tea is at four.", "Coffee is at ten.", "Milk is at noon.", session="day")
    call("connect", first, third, "--kind", "supports")
    for options, kinds in {
        ("--kind", "supports"): ["supports"],
        ("--kind", "supports", "--kind", "follows"): ["follows", "follows", "follows", "supports"],
        ("--origin", "user"): ["supports"],
        ("--origin", "session", "--id", second): ["follows", "follows"],
        ("--scope", "work"): [],
        ("--limit", "1"): ["follows"],
    }.items():
        found = [edge["kind"] for edge in call("edges", *options, "--json").json["edges"]]
        assert sorted(found) == kinds, options


def test_no_edges_are_no_error(store: Store) -> None:
    assert "has no edges yet. Create them with: cofire dream" in call("edges").out
    store.holds("Tea is at four.")
    assert call("edges", "--kind", "causes").out == "No edge matches these filters.\n"


def test_edges_of_an_unknown_fact_are_code_3(ids: list[str]) -> None:
    ran = call("edges", "--id", ids[0], "--id", "7")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("error: No fact has the id 7.")


def test_an_empty_kind_is_told_how_to_say_one(ids: list[str]) -> None:
    ran = call("connect", *ids, "--kind", " ")
    assert ran.code == 2
    assert "--kind is empty.\nGive the kind of edge, for example --kind supports" in ran.err


def test_show_tells_of_links_and_their_direction(ids: list[str]) -> None:
    call("connect", *ids, "--kind", "causes", "--weight", "0.8")
    for id, arrow, other in ((ids[0], "→", MEI), (ids[1], "←", TEA)):
        shown = call("show", id).out.splitlines()
        link = next(line for line in shown if "causes" in line)
        assert link.split(maxsplit=5) == [arrow, "causes", "0.80", "–", "user", other]


def test_show_tells_the_name_that_a_link_goes_through(store: Store) -> None:
    id, _ = store.holds("Pooling is configured via PgBouncer.", "PgBouncer runs in transaction mode.")
    shown = call("show", id).out
    assert "1 link\n" in shown
    assert "via pgbouncer" in shown


def test_show_tells_how_important_a_fact_is_after_a_dream(ids: list[str]) -> None:
    assert "unknown before a dream" in call("show", ids[0]).out
    call("dream")
    assert ", community " in call("show", ids[0]).out
    [fact] = call("show", ids[0], "--json").json["facts"]
    assert set(fact["importance"]) == {"pagerank", "community"}


def test_show_tells_how_a_fact_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")
    old, _ = call("remember", "PgBouncer pools connections.", "PgBouncer pools connections to us.", "--json").json[
        "ids"
    ]
    [fact] = call("show", old, "--json").json["facts"]
    assert fact["descriptions"]
    assert fact["descriptions"][0] in call("show", old).out


def test_show_limits_links(store: Store) -> None:
    ids = store.holds("Tea is at four.", "Coffee is at ten.", "Milk is at noon.", session="day")
    [fact] = call("show", ids[0], "--limit", "1", "--json").json["facts"]
    assert [link["text"] for link in fact["links"]] == ["Coffee is at ten."]
    assert call("show", ids[0], "--limit", "0").code == 2


def test_show_says_when_there_may_be_more_links(store: Store) -> None:
    ids = store.holds("Tea is at four.", "Coffee is at ten.", "Milk is at noon.", session="day")
    assert "1 link (strongest; more with --limit 10)\n" in call("show", ids[0], "--limit", "1").out
    assert "2 links\n" in call("show", ids[0]).out


def test_texts_of_other_facts_cannot_steer_the_terminal(store: Store) -> None:
    ids = store.holds("tea\x1b[2J", "milk\x07")
    for shown in (
        call("connect", *ids, "--kind", "a\x1bb").out,
        call("edges").out,
        call("show", ids[1]).out,
    ):
        assert "tea␛[2J" in shown
        assert not set(shown) & {"\x1b", "\x07"}
