"""Two runs are compared question by question, and only what is beyond chance is marked."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cofire.errors import InvalidInput
from cofire.evaluation.metrics import METRICS, compare_runs, compare_shares, confidence_interval, count_draws
from tests.benchmarks.making import NOTES, QUESTIONS, write_set
from tests.benchmarks.measuring import figures_of


def column(values: Any) -> Any:
    return np.repeat(np.asarray(values, np.float64)[:, None], len(METRICS), axis=1)


def test_a_gain_on_most_questions_is_beyond_chance() -> None:
    found = compare_shares(column([0.0] * 50), column([1.0] * 40 + [0.0] * 10))["R@5"]
    assert (found["points"], found["beyond_chance"]) == (80.0, True)
    assert found["interval"][0] > 60


def test_as_many_losses_as_gains_are_chance() -> None:
    found = compare_shares(column([0.0, 1.0] * 25), column([1.0, 0.0] * 25))["R@5"]
    assert (found["points"], found["beyond_chance"]) == (0.0, False)


def test_pairing_sees_what_two_intervals_would_hide() -> None:
    before = column([0.0, 1.0] * 50)
    after = column([0.1, 1.0] * 50)
    low, high = confidence_interval(before)[:, 0]
    assert low < after[:, 0].mean() < high
    assert compare_shares(before, after)["R@5"]["beyond_chance"]


def test_draws_are_the_same_in_every_run() -> None:
    assert count_draws(7).sum(axis=1).tolist() == [7.0] * len(count_draws(7))
    kept = count_draws(7).copy()
    count_draws.cache_clear()
    assert (count_draws(7) == kept).all()


def test_runs_are_paired_by_question(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    before, after = figures_of(tmp_path, arms=["bm25"]), figures_of(tmp_path, arms=["bm25", "dense"])
    other = after["sets"]["notes"]
    other["asked"].reverse()
    for shares in other["arms"]["bm25"]["shares"].values():
        shares.reverse()
    found = compare_runs(before, after)["sets"]["notes"]
    assert found["questions"] == 3
    assert list(found["arms"]) == ["bm25"]
    assert all(one["points"] == 0.0 for one in found["arms"]["bm25"]["all"].values())


def test_runs_over_other_questions_are_not_compared(tmp_path: Path) -> None:
    write_set(tmp_path / "one" / "notes", NOTES, QUESTIONS[:1])
    write_set(tmp_path / "two" / "notes", NOTES, QUESTIONS[1:])
    runs = [figures_of(tmp_path / name, arms=["bm25"]) for name in ("one", "two")]
    with pytest.raises(InvalidInput, match="no question in common"):
        compare_runs(*runs)
