"""The walk: compiled code keeps the links that numpy keeps, and judges them alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cofire.index.native_scoring import FEATURE_ROW_COUNT
from cofire.recall import scoring
from cofire.recall.query import AnalysedQuery
from cofire.recall.scoring import CandidateTable
from cofire.recall.walk import (
    BestNameLinks,
    WalkBounds,
    WordSentences,
    choose_best_links,
    prepare_name_links,
    score_links,
)
from cofire.settings.ranking import LinkBounds, default_constants, override_constants
from cofire.stores.base import KeywordQuery, KnownName, NameLinkTable
from tests.native.twins import NEEDS_LIBRARY, both, calls_of, in_numpy

pytestmark = NEEDS_LIBRARY

CLOSE = 1e-9
Features = dict[str, NDArray[np.float64]]
NAMES = ("ana", "ben", "cleo", "dora")


@dataclass(frozen=True)
class Walk:
    """A walk by chance: how many facts, seeds, names of seeds, links and words; `tied` walks have few different numbers."""

    seed: int
    facts: int
    seeds: int
    steps: int
    links: int
    words: int
    tied: bool


walks = st.builds(
    Walk,
    seed=st.integers(0, 2**32 - 1),
    facts=st.integers(1, 30),
    seeds=st.integers(1, 6),
    steps=st.integers(0, 12),
    links=st.integers(0, 60),
    words=st.integers(0, 5),
    tied=st.booleans(),
)


@dataclass(frozen=True)
class Way:
    """All that a walk goes by."""

    paths: NameLinkTable
    known: CandidateTable
    seeds: dict[str, float]
    cue: AnalysedQuery


def way_of(walk: Walk) -> Way:
    chance = np.random.default_rng(walk.seed)
    ids = tuple(f"{fact:026}" for fact in range(walk.facts))
    seeds = min(walk.seeds, walk.facts)
    weights = [1.0] * seeds if walk.tied else chance.random(seeds).tolist()
    # The slate knows more facts than there are on the paths, in another order.
    order = chance.permutation(walk.facts + 3)
    known = tuple(f"{fact:026}" for fact in order.tolist())
    return Way(paths_of(walk, ids, seeds), slate_of(walk, known), dict(zip(ids, weights, strict=False)), cue_of(walk))


def paths_of(walk: Walk, ids: tuple[str, ...], seeds: int) -> NameLinkTable:
    chance = np.random.default_rng(walk.seed + 1)
    steps, links = walk.steps, walk.links if walk.steps else 0
    sure = chance.choice([0.2, 1.0], steps) if walk.tied else chance.random(steps)
    # No step leads to a fact twice.
    pairs = np.unique(chance.integers(0, max(steps, 1) * len(ids), links))
    return NameLinkTable(
        ids=ids,
        loose=chance.random(len(ids)) < 0.7,
        name=tuple(NAMES[at] for at in chance.integers(0, len(NAMES), steps).tolist()),
        holder=chance.integers(0, seeds, steps),
        count=chance.integers(0, 3 if walk.tied else 200, steps),
        sentences=chance.integers(-(2**63), 2**63 - 1, steps),
        own=chance.choice([0.0, 0.5], steps),
        sure=sure,
        step=pairs // len(ids),
        target=pairs % len(ids),
        strength=chance.choice([0.0, 0.0, 0.3, 1.0], len(pairs)),
        there=chance.integers(-(2**63), 2**63 - 1, len(pairs)),
    )


def slate_of(walk: Walk, ids: tuple[str, ...]) -> CandidateTable:
    chance = np.random.default_rng(walk.seed + 2)
    size = len(ids)
    standing = np.zeros(size) if walk.tied else chance.normal(0, 2, size)
    table = np.zeros((FEATURE_ROW_COUNT, size))
    table[scoring.SEMANTIC_ROW], table[scoring.KEYWORD_ROW] = standing, chance.random(size)
    table[scoring.DIRECT_ROW], table[scoring.HAS_VECTOR_ROW] = chance.normal(0, 1, size), chance.random(size) < 0.8
    table[scoring.LENGTH_ROW] = chance.integers(0, 300, size)
    return CandidateTable(ids, table, chance.random((size, walk.words)) < 0.5, {"keyword": 1.0})


def cue_of(walk: Walk) -> AnalysedQuery:
    chance = np.random.default_rng(walk.seed + 3)
    words = tuple(f"word{number}" for number in range(walk.words))
    return AnalysedQuery(
        words=KeywordQuery(words, tuple(chance.random(walk.words).tolist()), 8.0, 0.8, 0.6),
        vector=None,
        model=None,
        sample=np.zeros((0, 4), np.float32),
        facts=int(chance.choice([0, 50, 10_000])),
        names=(KnownName(NAMES[0], 1, {}),),
        speakers=(),
        together=False,
        times=(),
        holding=(1,) * walk.words,
        capitals=frozenset(),
        of_assistant=False,
        reports={},
    )


def linked_by(way: Way, expanded: int, floor: float = 0.0) -> BestNameLinks:
    bounds = WalkBounds(seeds=6, least_seed=0.0, expanded=expanded, floor=floor)
    return choose_best_links(prepare_name_links(way.paths, way.known, way.cue, floor), way.known, way.seeds, bounds)


def places_in(way: Way, linked: BestNameLinks, chance: np.random.Generator) -> WordSentences:
    """In any of 64 sentences, the last one too, of those facts that were looked at."""
    at = np.full(len(way.known.ids), -1, np.int64)
    looked_at = np.unique(np.concatenate([linked.target, linked.source]))
    at[looked_at] = chance.permutation(len(looked_at))
    return WordSentences(at, chance.integers(-(2**63), 2**63 - 1, (len(looked_at), way.known.holds.shape[1])))


def assert_alike(compiled: BestNameLinks, numpy: BestNameLinks) -> None:
    for name in ("at", "link", "target", "source"):
        assert getattr(compiled, name).tolist() == getattr(numpy, name).tolist(), name
    for name in ("about", "shared"):
        np.testing.assert_allclose(getattr(compiled, name), getattr(numpy, name), rtol=CLOSE, err_msg=name)


@given(walk=walks, expanded=st.sampled_from([0, 1, 2, 5, 1_000]), floor=st.sampled_from([0.0, 0.5, 2.0]))
def test_the_best_links_are_the_same(walk: Walk, expanded: int, floor: float) -> None:
    way = way_of(walk)
    assert_alike(*both("best_links", lambda: linked_by(way, expanded, floor)))


def both_judged(way: Way, linked: BestNameLinks, places: WordSentences) -> tuple[Features, Features]:
    """What linked facts are given by compiled code, and by numpy, which knows no paths in C."""
    over = prepare_name_links(way.paths, way.known, way.cue, floor=0.0)
    with calls_of("judge_links") as calls:
        compiled = score_links(way.known, over, linked, places, way.cue)
    assert calls
    with in_numpy():
        return compiled, score_links(way.known, replace(over, in_c=None), linked, places, way.cue)


@given(walk=walks, expanded=st.sampled_from([0, 1, 5, 1_000]))
def test_linked_facts_are_judged_alike(walk: Walk, expanded: int) -> None:
    way = way_of(walk)
    linked = linked_by(way, expanded)
    compiled, numpy = both_judged(way, linked, places_in(way, linked, np.random.default_rng(walk.seed)))
    assert compiled.keys() == numpy.keys()
    for name, values in numpy.items():
        np.testing.assert_allclose(compiled[name], values, rtol=CLOSE, atol=CLOSE, err_msg=name)


def one_link(**changed: Any) -> Way:
    """A seed that leads over one name to one fact."""
    way = way_of(Walk(4, 2, 1, 0, 0, 2, tied=True))
    only = NameLinkTable(
        ids=way.paths.ids,
        loose=np.ones(2, np.bool_),
        name=("ana",),
        holder=np.array([0]),
        count=np.array([2]),
        sentences=np.array([-(2**63)]),
        own=np.array([0.0]),
        sure=np.array([1.0]),
        step=np.array([0]),
        target=np.array([1]),
        strength=np.array([1.0]),
        there=np.array([-(2**63)]),
    )
    return replace(way, paths=replace(only, **changed))


def test_the_last_of_64_sentences_counts() -> None:
    way = one_link()
    way = replace(way, known=replace(way.known, holds=np.zeros_like(way.known.holds)))
    linked = linked_by(way, 5)
    last = np.full((len(way.known.ids), 2), -(2**63))
    weights = default_constants().features
    with override_constants(replace(default_constants(), links=LinkBounds(most=np.inf, least=-np.inf))):
        compiled, numpy = both_judged(worth(way, 0.0), linked, WordSentences(np.arange(len(last)), last))
    for found in (compiled, numpy):
        assert found["fits"][linked.target] == pytest.approx(weights["fits"])
        assert found["adds_there"][linked.target] == pytest.approx(weights["adds_there"])


def worth(way: Way, direct: float, keyword: float = 0.0) -> Way:
    """The same way with facts that are all worth so much for themselves."""
    table = way.known.table.copy()
    table[scoring.DIRECT_ROW], table[scoring.KEYWORD_ROW] = direct, keyword
    return replace(way, known=replace(way.known, table=table))


@pytest.mark.parametrize(
    ("direct", "keyword", "held"),
    [
        (0.5, 0.0, default_constants().links.most * 0.5),
        (0.0, 0.0, 0.0),
        (-1.0, 0.0, 0.0),
        (2.0, 100.0, default_constants().links.least * 2.0),
        (-1.0, 100.0, 0.0),
    ],
    ids=["little", "nothing", "less", "blamed", "blamed for nothing"],
)
def test_a_link_gives_and_takes_no_more_than_shares_of_what_its_ends_are_worth(
    direct: float, keyword: float, held: float
) -> None:
    way = worth(one_link(), direct, keyword)
    way = replace(way, known=replace(way.known, holds=np.zeros_like(way.known.holds)))
    linked = linked_by(way, 5)
    places = WordSentences(np.arange(len(way.known.ids)), np.zeros((len(way.known.ids), 2), np.int64))
    for found in both_judged(way, linked, places):
        assert sum(values[linked.target] for values in found.values()) == pytest.approx(held)


def test_of_links_worth_the_same_the_surer_name_tells_the_way_and_of_those_the_first_by_letter() -> None:
    """Three names of one seed lead to one fact, each alone."""
    way = one_link(
        name=("cleo", "dora", "ben"),
        holder=np.zeros(3, np.int64),
        count=np.full(3, 2),
        sentences=np.zeros(3, np.int64),
        own=np.zeros(3),
        sure=np.array([0.9, 1.0, 1.0]),
        step=np.arange(3),
        target=np.ones(3, np.int64),
        strength=np.ones(3),
        there=np.zeros(3, np.int64),
    )
    compiled, numpy = both("best_links", lambda: linked_by(way, 5))
    assert compiled.link.tolist() == numpy.link.tolist() == [2]


def test_a_link_about_a_name_is_kept_before_one_over_a_shared_name_that_is_worth_as_much() -> None:
    way = one_link(
        name=("ana", "ben"),
        holder=np.zeros(2, np.int64),
        count=np.full(2, 2),
        sentences=np.zeros(2, np.int64),
        own=np.zeros(2),
        sure=np.ones(2),
        step=np.arange(2),
        target=np.ones(2, np.int64),
        strength=np.array([0.0, 1.0]),
        there=np.zeros(2, np.int64),
    )
    compiled, numpy = both("best_links", lambda: linked_by(way, 5))
    assert compiled.about.tolist() == compiled.shared.tolist()
    assert compiled.link.tolist() == numpy.link.tolist() == [1]


def test_of_facts_worth_the_same_the_first_are_kept() -> None:
    way = way_of(Walk(4, 9, 1, 0, 0, 1, tied=True))
    links = np.arange(1, 9)
    paths = replace(
        one_link().paths,
        ids=way.paths.ids,
        loose=np.ones(9, np.bool_),
        step=np.zeros(8, np.int64),
        target=links,
        strength=np.ones(8),
        there=np.zeros(8, np.int64),
    )
    compiled, numpy = both("best_links", lambda: linked_by(replace(way, paths=paths), 3))
    assert compiled.at.tolist() == numpy.at.tolist() == [1, 2, 3]


def test_the_same_paths_are_read_alike_twice() -> None:
    way = way_of(Walk(8, 20, 4, 9, 50, 3, tied=False))
    first, again = (linked_by(way, 5) for _ in range(2))
    assert_alike(first, again)
