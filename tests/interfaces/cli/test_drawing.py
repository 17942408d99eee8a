"""Recalls and reasons at a terminal: bars, chains and stages that can be read in any width, and without colours."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from cofire.cli.layout import assign_letters, make_bar_scale, make_score_bar
from cofire.model import Fact
from cofire.results import ChannelScore, Hit
from tests.interfaces.calling import Store, call, call_at_terminal

QUESTION = "What runs in transaction mode?"
CODES = re.compile(r"\x1b\[[0-9;]*m")
COLOURS = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])[;m]")


@pytest.fixture
def ids(store: Store) -> list[str]:
    """The second is found through the name that it shares with the first."""
    return store.holds(
        "PgBouncer runs in transaction mode.",
        "Serverless functions reach PostgreSQL through PgBouncer.",
        "The choir runs through its programme on Thursdays.",
    )


def hit(**gives: float) -> Hit:
    heard = {name: ChannelScore(1, one, one) for name, one in gives.items()}
    return Hit(Fact("Tea is at four."), sum(gives.values()), heard)


def seen(*words: str, **environment: str) -> str:
    """What somebody sees at a terminal, without the codes for colours."""
    ran = call_at_terminal(*words, **environment)
    assert ran.code == 0, ran.out
    return CODES.sub("", ran.out)


def test_bars_are_as_long_as_their_scores() -> None:
    first, second = hit(semantic=0.4, keyword=0.6), hit(semantic=0.5)
    scale = make_bar_scale([first, second], room=41)
    assert make_score_bar(first.channels, scale).plain == "s" + "━" * 15 + "k" + "━" * 23
    assert make_score_bar(second.channels, scale).plain == "s" + "━" * 19


def test_what_is_taken_away_stands_left_of_the_axis() -> None:
    one = hit(keyword=0.75, prior=-0.25)
    assert make_score_bar(one.channels, make_bar_scale([one], room=41)).plain == "p" + "━" * 9 + "│" + "k" + "━" * 29


def test_two_channels_never_share_a_letter() -> None:
    told = assign_letters(["semantic", "keyword", "entity", "activation", "sales", "keynote"])
    assert len(set(told.values())) == len(told)


def test_hits_that_give_nothing_have_no_bar() -> None:
    assert make_score_bar(hit(keyword=0.0).channels, make_bar_scale([hit(keyword=0.0)], room=40)).plain == ""


def test_a_hit_at_a_terminal_has_its_bar_and_its_channels(ids: list[str]) -> None:
    lines = seen("recall", QUESTION, "-k", "1").splitlines()
    assert "PgBouncer runs in transaction mode." in lines[0]
    assert re.search(r"k━+", lines[1])
    assert re.search(r"keyword #1 \+\d\.\d\d", lines[2])


def test_the_way_through_the_graph_is_drawn_as_a_chain(ids: list[str]) -> None:
    shown = seen("recall", QUESTION)
    assert re.search(
        r"○ PgBouncer runs in transaction mode\.\n +╰─(?:entity|about) via pgbouncer (?:\.\d\d|1\.0)→ ● this fact",
        shown,
    )


def test_ways_are_not_told_where_explanations_are_switched_off(ids: list[str]) -> None:
    call("config", "set", "graph_recall.explain_doors", "false")
    shown = seen("recall", QUESTION)
    assert ids[1] in shown
    assert "╰─" not in shown


@pytest.mark.parametrize("columns", ["60", "100"])
def test_what_is_drawn_fits_the_terminal(ids: list[str], columns: str) -> None:
    drawn = seen("recall", QUESTION, COLUMNS=columns) + seen("why", QUESTION, ids[2], "-k", "1", COLUMNS=columns)
    assert max(cell_len(line) for line in drawn.splitlines()) <= int(columns)


def test_no_colour_is_used_where_none_is_wanted(ids: list[str]) -> None:
    words = ("recall", QUESTION)
    assert COLOURS.search(call_at_terminal(*words).out)
    assert not COLOURS.search(call_at_terminal(*words, NO_COLOR="1").out)


def test_a_pipe_gets_plain_lines(ids: list[str]) -> None:
    piped = call("recall", QUESTION).out + call("why", QUESTION, ids[2], "-k", "1").out
    assert not re.search(r"[\x1b━╰●]", piped)


def test_why_marks_the_stage_where_a_fact_was_lost(ids: list[str]) -> None:
    shown = seen("why", QUESTION, ids[0], "--tag", "x", COLUMNS="100")
    assert shown.startswith("✗ filtered\n")
    assert "● stored ─ ● recall on ─ ✗ filters ─ ○ evidence ─" in shown
    assert "✓ without --tag  → rank 1" in shown


def test_a_narrow_terminal_names_only_the_stage_that_matters(ids: list[str]) -> None:
    lines = seen("why", QUESTION, ids[0], "--tag", "x", COLUMNS="60").splitlines()
    place = lines.index("  ●──●──✗──○──○──○──○──○")
    assert lines[place + 1] == "        filters"


def test_why_puts_a_fact_beside_the_last_that_came_back(ids: list[str]) -> None:
    shown = seen("why", QUESTION, ids[2], "-k", "1", COLUMNS="100")
    bars = dict(re.findall(r"^  (this fact|last result) +(-?\d\.\d\d) ", shown, flags=re.MULTILINE))
    assert float(bars["this fact"]) < float(bars["last result"])
    assert re.search(r"difference:.* keyword -\d\.\d\d", shown)


def test_why_shows_a_fact_that_came_back_at_the_end_of_the_line(ids: list[str]) -> None:
    shown = seen("why", QUESTION, ids[1], COLUMNS="100")
    assert shown.startswith("✓ returned\n")
    assert "● rank ─ ● returned" in shown
    assert "● this fact" in shown


def test_texts_cannot_steer_the_terminal_through_a_chain(store: Store) -> None:
    store.holds("PgBouncer runs in \x1b]0;owned\x07transaction mode.", "Functions reach PostgreSQL through PgBouncer.")
    shown = call_at_terminal("recall", QUESTION).out
    assert "╰─" in shown
    assert "\x1b]" not in shown
    assert "\x07" not in shown
