"""`cofire recall`: hits for people, blocks for prompts, JSON for programs."""

from __future__ import annotations

import re

import pytest

from tests.interfaces.calling import Store, call


@pytest.fixture
def ids(store: Store) -> list[str]:
    return store.holds(
        "We use PostgreSQL 15 for the production database.",
        "PgBouncer sessions should be set to transaction mode for serverless.",
        "Lunch is at noon.",
    )


def test_hit_shows_rank_score_text_channels_and_id(ids: list[str]) -> None:
    first, channels, marks = call("recall", "Which mode for PgBouncer sessions?", "-k", "1").out.splitlines()
    assert first.split()[0] == "1"
    assert float(first.split()[1]) > 0
    assert first.endswith("PgBouncer sessions should be set to transaction mode for serverless.")
    assert channels.strip().startswith("keyword #1 +")
    assert marks.split()[0] == ids[1]


def test_question_needs_no_quotes(ids: list[str]) -> None:
    assert call("recall", "when", "is", "lunch").out == call("recall", "when is lunch").out


def test_json_is_the_recollection(ids: list[str]) -> None:
    found = call("recall", "When is lunch?", "--json").json
    assert found["known"] is True
    assert found["question"] == "When is lunch?"
    assert [hit["id"] for hit in found["hits"]] == [ids[2]]


def test_nothing_known_is_an_answer_with_a_reason(ids: list[str]) -> None:
    ran = call("recall", "zebra")
    assert (ran.code, ran.err) == (0, "")
    assert "Nothing stored passes the filters and is like the question." in ran.out
    assert call("recall", "zebra", "--json").json["known"] is False


def test_block_for_a_prompt_is_fenced(ids: list[str]) -> None:
    block = call("recall", "When is lunch?", "--text").out
    assert block.startswith("<memory ")
    assert re.search(r"^\[1\] \(\d{4}-\d\d-\d\d\) Lunch is at noon\.$", block, re.MULTILINE)
    assert block.endswith("</memory>\n")


def test_empty_block_puts_no_words_into_a_prompt(ids: list[str]) -> None:
    ran = call("recall", "zebra", "--text")
    assert (ran.code, ran.out) == (0, "")


def test_xray_shows_every_channel(ids: list[str]) -> None:
    shown = call("recall", "When is lunch?", "--xray").out
    assert "semantic: no_embedder" in shown
    assert "keyword: ok, 1 candidate" in shown


def test_filters_narrow_what_is_seen(store: Store) -> None:
    store.holds("Tea with Ana.", tags=["a"], speaker="Ana", category="chat", session="s1", at="2026-01-01", scope="x")
    store.holds("Tea with Bo.", tags=["b"], speaker="Bo", category="note", session="s2", at="2026-02-01", scope="x")
    for option in (
        ["--tag", "a"],
        ["--speaker", "Ana"],
        ["--category", "chat"],
        ["--session", "s1"],
        ["--until", "2026-01-15"],
    ):
        hits = call("recall", "tea", "--scope", "x", *option, "--json").json["hits"]
        assert [hit["text"] for hit in hits] == ["Tea with Ana."], option
    assert [
        hit["speaker"] for hit in call("recall", "tea", "--scope", "x", "--since", "2026-01-15", "--json").json["hits"]
    ] == ["Bo"]
    assert call("recall", "tea", "--scope", "x", "--as-of", "2026-01-15", "--json").json["known"] is False


def test_scopes_may_be_several(store: Store) -> None:
    store.holds("Tea at four.", scope="a")
    store.holds("Tea at five.", scope="b")
    assert call("recall", "tea", "--json").json["known"] is False
    assert len(call("recall", "tea", "--scope", "a", "--scope", "b", "--json").json["hits"]) == 2


def test_settings_of_one_question_hold_for_it_alone(ids: list[str]) -> None:
    off = [f"{channel}.enabled=off" for channel in ("keyword", "semantic", "entity", "temporal")]
    assert "Every channel is switched off." in call("recall", "lunch", *(f"--set={one}" for one in off)).out
    assert call("recall", "lunch", "--json").json["known"] is True


def test_mode_can_switch_recall_off(ids: list[str]) -> None:
    assert "no_recall" in call("recall", "lunch", "--mode", "no_recall").out


def test_budget_too_small_says_so(ids: list[str]) -> None:
    ran = call("recall", "lunch", "--budget", "1")
    assert (ran.code, ran.out) == (0, "The budget is too small for even the best fact.\n")


def test_text_of_a_hit_is_shown_whole(store: Store) -> None:
    long = "tea " * 2_000 + "end"
    store.holds(long)
    assert long in call("recall", "tea").out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "Missing argument 'QUESTION'"),
        (("",), "The question is empty"),
        (("a\udcffb",), "is not UTF-8 text"),
        (("tea", "-k", "0"), "k cannot be 0"),
        (("tea", "-k", "many"), "Invalid value for '-k'"),
        (("tea", "--budget", "-5"), "budget cannot be -5"),
        (("tea", "--since", "soon"), "since cannot be 'soon'"),
        (("tea", "--since", "2026-02-01", "--until", "2026-01-01"), "Swap the two"),
        (("tea", "--mode", "slow"), "There is no mode 'slow'"),
        (("tea", "--strategy", "luck"), "There is no strategy 'luck'"),
        (("tea", "--preset", "best"), "preset cannot be 'best'"),
        (("tea", "--set", "keyword.k=1"), "Did you mean keyword.k1?"),
        (("tea", "--set", "keyword.k1=lots"), "keyword.k1 cannot be 'lots'"),
        (("tea", "--set", "keyword.k1"), "--set cannot be 'keyword.k1'"),
        (("tea", "--text", "--json"), "--text cannot be combined"),
        (("tea", "--text", "--xray"), "--text cannot be combined"),
        (("tea", "--nonsense"), "No such option: --nonsense"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: tuple[str, ...], problem: str) -> None:
    ran = call("recall", *arguments)
    assert ran.code == 2
    assert problem in ran.err
