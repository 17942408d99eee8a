"""`cofire forget`: what goes, what stays, and who is asked."""

from __future__ import annotations

import pytest

from tests.interfaces.calling import Store, call, call_at_terminal


@pytest.fixture
def ids(store: Store) -> list[str]:
    return store.holds("Tea is at four.", tags=["a"]) + store.holds("Coffee is at ten.", tags=["b"])


def test_id_is_forgotten_where_nobody_can_be_asked(store: Store, ids: list[str]) -> None:
    ran = call("forget", ids[0])
    assert (ran.code, ran.out.splitlines()[0]) == (0, "Removed 1 fact.")
    assert store.texts == {"Coffee is at ten."}


def test_filter_without_yes_is_refused_where_nobody_can_be_asked(store: Store, ids: list[str]) -> None:
    ran = call("forget", "--tag", "a")
    assert ran.code == 2
    assert "match 1 fact, and there is no terminal" in ran.err
    assert "--yes" in ran.err
    assert len(store.facts()) == 2


def test_filter_with_yes_forgets(store: Store, ids: list[str]) -> None:
    assert call("forget", "--tag", "a", "--yes").code == 0
    assert store.texts == {"Coffee is at ten."}


def test_dry_run_only_shows(store: Store, ids: list[str]) -> None:
    ran = call("forget", "--tag", "a", "--dry-run")
    assert "Tea is at four." in ran.out
    assert ids[0] in ran.out
    assert "Would remove 1 fact." in ran.out
    assert len(store.facts()) == 2


def test_json_tells_what_went(store: Store, ids: list[str]) -> None:
    told = call("forget", *ids, "--json").json
    assert (told["forgotten"], told["dry_run"]) == (True, False)
    assert [fact["id"] for fact in told["facts"]] == ids


def test_unknown_id_forgets_nothing(store: Store, ids: list[str]) -> None:
    assert call("forget", ids[0], "7").code == 3
    assert len(store.facts()) == 2


def test_nothing_to_forget_is_no_error(store: Store, ids: list[str]) -> None:
    ran = call("forget", "--tag", "z")
    assert (ran.code, ran.out) == (0, "Nothing was removed.\n")


@pytest.mark.parametrize(
    ("arguments", "problem"), [((), "Nothing says what to forget"), (("7", "--tag", "a"), "Both ids and filters")]
)
def test_unclear_wish_is_refused(ids: list[str], arguments: tuple[str, ...], problem: str) -> None:
    ran = call("forget", *arguments)
    assert ran.code == 2
    assert problem in ran.err


def test_yes_at_the_terminal_forgets_what_was_shown(store: Store, ids: list[str]) -> None:
    ran = call_at_terminal("forget", "--tag", "a", typed="y\n")
    assert "Tea is at four." in ran.out
    assert "Remove this fact?" in ran.out
    assert ran.code == 0
    assert store.texts == {"Coffee is at ten."}


def test_no_at_the_terminal_forgets_nothing(store: Store, ids: list[str]) -> None:
    ran = call_at_terminal("forget", *ids, typed="n\n")
    assert "Remove these 2 facts?" in ran.out
    assert "Nothing was removed." in ran.out
    assert len(store.facts()) == 2


def test_ctrl_c_at_the_question_forgets_nothing(store: Store, ids: list[str]) -> None:
    ran = call_at_terminal("forget", ids[0], typed="\x04")
    assert ran.code == 130
    assert "Traceback" not in ran.out
    assert len(store.facts()) == 2
