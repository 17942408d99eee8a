"""The printed parts of a score add up to the printed score, in every view that shows them."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise

import pytest

from cofire import Memory
from cofire.cli import layout
from cofire.cli.layout import format_channels, format_score
from cofire.explain import round_parts
from cofire.recall.reranking import RECENCY_PART
from cofire.results import ChannelScore, Hit
from tests.interfaces.calling import Store, call

TEAM = [
    "We use PostgreSQL 15 for the production database.",
    "PostgreSQL connection pooling is configured via PgBouncer.",
    "PgBouncer sessions should be set to transaction mode for serverless.",
    "Ana Lopez runs the database team in Berlin.",
    "Ana: Did you move the database? Yes, on Tuesday.",
]
VERSIONS = ["The standup meeting is at nine on weekdays.", "The standup meeting is now at ten."]
LETTERS = [f"Letter {number} of Ana Lopez is about the database of team {number % 3}." for number in range(12)]
STORES = {"team": TEAM, "versions": VERSIONS, "letters": LETTERS, "all": [*TEAM, *VERSIONS, *LETTERS]}
QUESTIONS = [
    "Which database does Ana Lopez use?",
    "When is the standup meeting on weekdays?",
    "How is PostgreSQL pooled, and in which mode?",
]
SETTINGS = ["preset=default", "preset=documented-rrf", "bridges.enabled=true", "prior.pagerank=0.3"]
PART_VALUE = re.compile(r" ([+-]\d+\.\d+)(?: ·|$)")
GIVES = re.compile(r"gives ([+-]\d+\.\d+)")


@pytest.fixture(params=STORES)
def questions(request: pytest.FixtureRequest, store: Store) -> list[tuple[str, str]]:
    for text in STORES[request.param]:
        store.holds(text)
    call("dream")
    return [(question, setting) for question in QUESTIONS for setting in SETTINGS]


def test_parts_add_up_in_a_pipe(questions: list[tuple[str, str]]) -> None:
    checked = 0
    for question, setting in questions:
        lines = call("recall", question, "--set", setting, "--set", "abstention.rule=off").out.splitlines()
        for head, parts in pairwise(lines):
            score = re.match(r" *\d+  (-?\d+\.\d\d)  ", head)
            if score:
                assert sum(map(Decimal, PART_VALUE.findall(parts))) == Decimal(score[1]), (head, parts)
                checked += 1
    assert checked >= len(SETTINGS)


def test_parts_add_up_in_the_xray_and_in_why(questions: list[tuple[str, str]], store: Store) -> None:
    checked = 0
    with Memory(store.path, embedder=None) as memory:
        for question, setting in questions:
            name, _, value = setting.partition("=")
            asked = {"settings": {name: value, "abstention.rule": "off"}}
            found = memory.recall(question, **asked)  # type: ignore[arg-type]
            views = [found.xray(), *(memory.why(question, id, **asked).text() for id in found.ids[:2])]  # type: ignore[arg-type]
            for line in (line for view in views for line in view.splitlines() if " gives " in line):
                total = line.rpartition(" = ")[2]
                assert sum(map(Decimal, GIVES.findall(line))) == Decimal(total), line
                checked += 1
            for line in (line for view in views for line in view.splitlines() if " activation: " in line):
                *terms, total = re.findall(r"[+-]\d+\.\d{3}", line)
                assert sum(map(Decimal, terms)) == Decimal(total), line
    assert checked >= 3 * len(SETTINGS)


def test_every_addend_is_shown_and_those_of_nothing_are_left_out() -> None:
    channels = {
        "semantic": ChannelScore(1, 2.0, 0.334),
        "keyword": ChannelScore(2, 0.4, 0.334),
        "prior": ChannelScore(None, -0.1, -0.1),
        "coverage": ChannelScore(None, 0.334, 0.334),
        "importance": ChannelScore(None, 0.0, 0.0),
    }
    hit = Hit(fact=None, score=sum(heard.gives for heard in channels.values()), channels=channels)  # type: ignore[arg-type]
    line = format_channels(hit)
    assert line == "semantic #1 +0.34 · keyword #2 +0.33 · prior -0.10 · coverage +0.33"
    assert format_score(hit.score) == "0.90"
    drawn = layout.format_score_parts(hit, layout.make_bar_scale([hit], 40))
    assert " · ".join(piece.plain for piece in drawn) == line


def test_the_exchange_between_versions_is_shown_and_has_a_colour(store: Store) -> None:
    for text in VERSIONS:
        store.holds(text)
    assert f"{RECENCY_PART} +" in call("recall", QUESTIONS[1]).out
    assert layout._channel_colour(RECENCY_PART) != layout._CUSTOM_CHANNEL_COLOUR


@pytest.mark.parametrize("digits", [2, 3])
def test_rounded_parts_differ_from_the_exact_ones_by_less_than_a_unit(digits: int) -> None:
    for seed in range(1, 60):
        parts = {str(number): ((seed * 7919 * (number + 1)) % 2003 - 700) / 997 for number in range(seed % 8 + 1)}
        total = sum(parts.values())
        shown = round_parts(parts, total, digits)
        assert sum(Decimal(f"{value:.{digits}f}") for value in shown.values()) == Decimal(
            f"{round(total, digits):.{digits}f}"
        )
        assert all(abs(shown[name] - parts[name]) < 10**-digits for name in parts)
