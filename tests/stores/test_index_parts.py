"""Parts of the index that take a short way: they must find what the long way finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from cofire.index import quantised
from cofire.index.fact_index import FactIndex, IndexRow
from cofire.index.names import NameEntries as HeldNames
from cofire.index.postings import MAX_UNSORTED_LOOKUPS, Postings
from cofire.index.quantised import SAMPLING_STEP, TWO_PASS_RATIO, SignBitIndex
from cofire.index.sessions import build_session_turns
from cofire.index.terms import hash_mark, hash_term, pack_terms

DIMENSION, WANTED = 128, 20


def by_counting(vectors: NDArray[np.float32], asked: NDArray[np.float32], among: NDArray[np.bool_]) -> list[int]:
    """All that differ in no more signs than the last one wanted."""
    distances = ((vectors > 0) != (asked > 0)).sum(axis=1)
    last = np.sort(distances[among])[WANTED - 1]
    return np.flatnonzero(among & (distances <= last)).tolist()


@pytest.mark.parametrize("first", [0, 1], ids=["where samples are taken", "where none is taken"])
@pytest.mark.parametrize("allowed", [1.0, 0.8, 0.2])
def test_the_nearest_by_sign_are_found_wherever_they_stand(first: int, allowed: float) -> None:
    chance = np.random.default_rng(5)
    vectors = chance.standard_normal((3_000, DIMENSION)).astype(np.float32)
    asked = chance.standard_normal(DIMENSION).astype(np.float32)
    vectors[first::SAMPLING_STEP] += 2 * asked
    among = chance.random(len(vectors)) < allowed
    signs = SignBitIndex(DIMENSION)
    signs.add(vectors)
    assert signs.candidates(asked, among, WANTED).tolist() == by_counting(vectors, asked, among)


@pytest.mark.parametrize("dimension", [65, 384, 1_024])
def test_of_very_many_those_that_stand_out_are_found_by_half_of_their_signs_first(dimension: int) -> None:
    chance = np.random.default_rng(6)
    vectors = chance.standard_normal((WANTED * TWO_PASS_RATIO + 500, dimension)).astype(np.float32)
    asked = chance.standard_normal(dimension).astype(np.float32)
    alike = chance.choice(len(vectors), WANTED, replace=False)
    vectors[alike] += 3 * asked
    among = chance.random(len(vectors)) < 0.9
    signs = SignBitIndex(dimension)
    signs.add(vectors)
    found = signs.candidates(asked, among, WANTED)
    assert set(alike[among[alike]].tolist()) <= set(found.tolist())
    assert among[found].all()
    assert len(found) < WANTED * TWO_PASS_RATIO / 10


def test_warm_vectors_are_the_same_while_they_are_few_and_when_they_have_become_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quantised, "MAX_SINGLE_PRECISION_VECTORS", 4)
    rows = np.random.default_rng(3).standard_normal((40, 8)).astype(np.float16)
    warm = quantised.VectorCache(rows[:3].copy())
    for first in range(3, 40):
        assert warm.at(np.arange(first)).gathered.tolist() == rows[:first].tolist()
        warm.add(rows[first : first + 1])
    assert warm.at(np.array([39, 0])).gathered.dtype == np.float32


def test_a_term_is_found_alike_by_one_who_looks_once_and_by_one_who_looks_often() -> None:
    postings = Postings()
    for position in range(4):
        held = np.array([7, 100 + position], np.int64)
        postings.add(held, np.full(2, position, np.int32), np.array([position + 1, 1], np.uint16))
    once = [column.tolist() for column in postings.find(7)]
    for other in range(MAX_UNSORTED_LOOKUPS + 1):
        postings.find(1_000 + other)
    postings._found.clear()
    assert once == [column.tolist() for column in postings.find(7)] == [[0, 1, 2, 3], [1, 2, 3, 4]]


def test_a_tail_that_was_listed_and_grew_again_leaves_nothing_out() -> None:
    postings = Postings()
    postings.add(np.array([7], np.int64), np.array([0], np.int32), np.array([1], np.uint16))
    postings.find_all(np.array([7], np.int64), 10)
    postings.add(np.array([7], np.int64), np.array([1], np.int32), np.array([2], np.uint16))
    assert [column.tolist() for column in postings.find(7)] == [[0, 1], [1, 2]]
    assert [column.tolist() for column in postings.find_all(np.array([7], np.int64), 10)[1:3]] == [[0, 1], [1, 2]]


def test_those_most_alike_are_found_among_many_though_only_their_first_bits_are_compared_at_first() -> None:
    chance = np.random.default_rng(6)
    vectors = chance.standard_normal((20_000, DIMENSION * 3)).astype(np.float32)
    asked = chance.standard_normal(DIMENSION * 3).astype(np.float32)
    alike = chance.choice(len(vectors), WANTED, replace=False)
    vectors[alike] += asked
    among = chance.random(len(vectors)) < 0.9
    signs = SignBitIndex(DIMENSION * 3)
    signs.add(vectors)
    found = signs.candidates(asked, among, WANTED)
    assert set(alike[among[alike]].tolist()) <= set(found.tolist())
    assert among[found].all()


def turn(key: int, session: str | None, time: int, scope: int = 1) -> IndexRow:
    """A fact as the index sees it, of which only its place in a session matters."""
    held = pack_terms({}, [hash_mark("session", session)] if session else [])
    return IndexRow(key, f"f{key}", scope, time, time, None, None, 0, False, held, None, bytes(16), session, key, None)


def no_names() -> HeldNames:
    nothing = np.zeros(0, np.int64)
    return HeldNames(nothing, nothing, np.zeros(0), nothing)


@pytest.mark.parametrize("seed", range(8))
def test_turns_that_come_and_go_one_by_one_stand_as_if_all_were_put_in_order_anew(seed: int) -> None:
    chance = np.random.default_rng(seed)
    index, told = FactIndex(None), dict[int, IndexRow]()
    for key in range(1, 120):
        some = [int(one) for one in chance.choice(list(told), min(3, len(told)), replace=False)] if told else []
        gone = some[:1] if chance.random() < 0.2 else []
        moved = [turn(one, chance.choice(["a", "b"]), 7) if chance.random() < 0.2 else told[one] for one in some[1:]]
        late = int(chance.integers(key)) if chance.random() < 0.3 else key
        new = turn(key, [None, "a", "b"][chance.integers(3)], late, int(chance.integers(1, 3)))
        index.change([*moved, new], gone, no_names(), no_names(), {})
        told = {one: row for one, row in told.items() if one not in gone} | {row.key: row for row in [*moved, new]}
        alive, anew = np.flatnonzero(index.columns["alive"]), build_session_turns(index.columns)
        assert index.turns.before[alive].tolist() == anew.before[alive].tolist()
        assert index.turns.after[alive].tolist() == anew.after[alive].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_facts_that_are_wired_in_together_hold_the_same_as_one_by_one(seed: int) -> None:
    chance = np.random.default_rng(seed)
    at_once, later, known = FactIndex(None), FactIndex(None), list[int]()
    for key in range(1, 200):
        rows = [turn(key, [None, "a", "b"][chance.integers(3)], int(chance.integers(1, 50)))]
        if known and chance.random() < 0.05:
            rows.append(turn(int(chance.choice(known)), "a", 7))
        owners, ones = np.arange(len(rows)), np.ones(len(rows), np.int64)
        names = HeldNames(owners, chance.integers(1, 9, len(rows)), chance.random(len(rows)), ones)
        hints = {int(chance.choice(known)): pack_terms({"pot": 2}, [])} if known and chance.random() < 0.3 else {}
        gone = [known.pop(0)] if len(known) > 5 and chance.random() < 0.03 and not hints and len(rows) == 1 else []
        at_once.change(rows, gone, names, no_names(), hints)
        later.change(rows, gone, names, no_names(), hints, wired=False)
        known += [key]
        if chance.random() < 0.1:
            later.wire()
            assert wired(later) == wired(at_once)


def wired(index: FactIndex) -> list[list[int]]:
    """The turns around facts, the names that they hold, and who is described by a word."""
    alive = np.flatnonzero(index.columns["alive"])
    held, hinted = index.mentions.held_by(alive), index.hints.find(hash_term("pot"))[0]
    turns = [chain[alive].tolist() for chain in (index.turns.before, index.turns.after)]
    return [*turns, held.owner.tolist(), held.name.tolist(), sorted(hinted[index.columns["alive"][hinted]].tolist())]


def standing(index: FactIndex, scope: int | None) -> list[bool]:
    """By looking at all of them."""
    columns = index.columns
    inside = columns["scope"] == (columns["scope"] if scope is None else scope)
    return list(columns["alive"] & ~columns["archived"] & inside)


@pytest.mark.parametrize("seed", range(4))
def test_who_stands_in_a_scope_is_known_while_facts_come_and_go(seed: int) -> None:
    chance = np.random.default_rng(seed)
    index = FactIndex(None)
    for key in range(1, 60):
        known = [int(one) for one in chance.integers(1, key + 1, 2)]
        rows = [
            replace(turn(one, None, one, int(chance.integers(1, 4))), archived=bool(chance.random() < 0.3))
            for one in {key, *known[:1]}
        ]
        index.change(rows, [one for one in known[1:] if one != key], no_names(), no_names(), {})
        assert all(index.columns.standing(scope).tolist() == standing(index, scope) for scope in (None, 1, 2))
        assert index.columns.dead == np.count_nonzero(~index.columns["alive"])
