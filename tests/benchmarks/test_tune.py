"""Tuning finds the weights of the ranking on the tuning halves alone, and writes only when told."""

import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from benchmarks import listwise, tune
from benchmarks.listwise import Example, Problem, fit
from cofire.evaluation import datasets
from cofire.evaluation.datasets import EvaluationSet
from cofire.settings.ranking import current_constants
from tests.benchmarks.making import ISLES, OF_ISLES, OF_TURNS, TURNS, write_set
from tests.conftest import HashedWords


def examples(count: int, weights: list[float]) -> list[Example]:
    """Questions whose gold is what these weights like best, with some noise."""
    random = np.random.default_rng(1)
    made = []
    for _ in range(count):
        features = random.standard_normal((12, len(weights)))
        liked = features @ np.array(weights) + random.gumbel(size=12)
        made.append(Example("made up", "", features, liked == liked.max()))
    return made


def test_weights_that_made_the_gold_are_found_again() -> None:
    found = fit(examples(3_000, [1.0, 0.5, -2.0]))
    assert (found / found[0]).tolist() == pytest.approx([1.0, 0.5, -2.0], abs=0.12)


def test_the_slope_is_that_of_the_loss() -> None:
    made = examples(20, [1.0, -1.0])
    problem = Problem.of(made, np.concatenate([one.features for one in made]))
    at, little = np.array([0.3, -0.2]), 1e-6
    slopes = [(problem.loss(at + step)[0] - problem.loss(at - step)[0]) / (2 * little) for step in little * np.eye(2)]
    assert problem.loss(at)[1].tolist() == pytest.approx(slopes, rel=1e-4)


def test_descent_ends_where_the_loss_is_flat() -> None:
    made = examples(200, [1.0, 0.2])
    problem = Problem.of(made, np.concatenate([one.features for one in made]))
    ended = listwise.descend(problem, np.zeros(2))
    assert np.abs(problem.loss(ended)[1]).max() < 1e-2


def test_every_set_counts_the_same() -> None:
    one, other = (Example(name, "", np.zeros((1, 1)), np.array([True])) for name in "ab")
    assert listwise.shares_of_sets([one, one, other]).tolist() == [0.5, 0.5, 1.0]


@pytest.fixture
def tuned(tmp_path: Path) -> list[str]:
    """Arguments over two small sets, with a file to write to."""
    write_set(tmp_path / "sets" / "isles", ISLES, OF_ISLES)
    write_set(tmp_path / "sets" / "locomo", TURNS, OF_TURNS)
    shutil.copy(tune.FILE, tmp_path / "ranking.toml")
    return [str(tmp_path / "sets"), "--cache", str(tmp_path / "cache"), "--file", str(tmp_path / "ranking.toml")]


def remembered(arguments: list[str]) -> list[tuple[str, EvaluationSet]]:
    """Every set that is tuned on, by its name, in each way of remembering it."""
    stocks = tune.variants(tune.read_arguments(arguments))
    return [(of.name + manner, of) for manner, sets in stocks for of in sets]


def test_tuning_looks_at_the_tuning_half_alone_with_titles_and_sessions_and_without(tuned: list[str]) -> None:
    halves = {name: tune.halves(of, None) for name, of in remembered(tuned)}
    asked = {name: {one.id for one in tuning.questions} for name, (tuning, _) in halves.items()}
    assert list(asked) == ["isles", "locomo", "isles, no titles", "locomo, no sessions"]
    assert asked["locomo"] == asked["locomo, no sessions"] == {"x"}
    assert asked["isles"] == asked["isles, no titles"] < {"i0", "i1", "i2", "i3", "i4"}
    assert not any(asked[name] & {one.id for one in other.questions} for name, (_, other) in halves.items())


def test_sets_with_titles_are_tuned_on_in_one_scope_as_well(tuned: list[str], tmp_path: Path) -> None:
    write_set(tmp_path / "sets" / "more", ISLES, OF_ISLES)
    joined = {name: of for name, of in remembered(tuned) if ", joined" in name}
    assert set(joined) == {"isles, joined", "more, joined", "isles, joined, no titles", "more, joined, no titles"}
    assert {fact["scope"] for of in joined.values() for fact in of.facts} == {datasets.DOCUMENTS_SCOPE}
    assert [
        any("subject" in fact for fact in joined[name].facts) for name in ("more, joined", "more, joined, no titles")
    ] == [
        True,
        False,
    ]


def test_tuning_prints_weights_and_changes_nothing(
    tuned: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (tmp_path / "ranking.toml").read_bytes()
    assert tune.main([*tuned, "--rounds", "1", "--leave-one-out"], HashedWords) == 0
    said = capsys.readouterr().out
    assert "[features]\nabout = " in said
    assert "left out, other half" in said
    assert (tmp_path / "ranking.toml").read_bytes() == before


def test_weights_are_written_when_told_and_nothing_else_changes(tuned: list[str], tmp_path: Path) -> None:
    file = tmp_path / "ranking.toml"
    before = file.read_text(encoding="utf-8")
    tune.write({"entity.weight": 0.5, "about": 1.25}, file)
    after = file.read_text(encoding="utf-8")
    assert tomllib.loads(after)["features"] == {**current_constants().features, "about": 1.25}
    assert len(before.splitlines()) == len(after.splitlines())
    assert sum(one != other for one, other in zip(before.splitlines(), after.splitlines(), strict=True)) == 1
