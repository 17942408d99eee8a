"""Communities of facts by label propagation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms.array_ops import expand_runs, sort_order

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[Any]  # of uint64, which numpy's annotations lose beside a plain int
Word = TypeVar("Word", int, Words)

# Weights are counted in whole parts of one: sums are exact, so that the order of adding decides no vote.
VOTES_PER_UNIT_WEIGHT = 2**20

UINT64_MASK, HALF_BITS, UINT32_MASK = 2**64 - 1, 32, 2**32 - 1
SPLITMIX_INCREMENT = 0x9E3779B97F4A7C15


def detect_communities(source: Ints, target: Ints, weight: Floats, nodes: int, *, seed: int, rounds: int) -> Ints:
    """The community of each node by label propagation (Raghavan 2007; 000, GraphAnalyzer).

    Every node begins with a label of its own. In a round all nodes are visited in one seeded order, and each takes the
    label that weighs most among its neighbours, argmaxₗ Σ w(v, u)·[label(u) = l]. Of equals it keeps its own, or draws
    by a lot that belongs to this node and this label: one order of labels for all lets a few of them flood the graph.
    It ends when nobody moves (each move adds to the weight inside communities, so that comes) or after `rounds`.
    Communities are numbered by falling size, then by smallest node; a node without neighbours is one of its own.
    Edges have no direction here: given once or both ways, those between two nodes count together.

    Nodes that are not neighbours cannot see each other move, so they move at once: a turn is for all nodes whose
    neighbours of an earlier place have had theirs, and the labels are those of going one by one. Two triangles joined
    by an edge, and a loner:

    >>> source, target = np.array([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])
    >>> detect_communities(source, target, np.ones(7), 7, seed=1, rounds=10).tolist()
    [0, 0, 0, 1, 1, 1, 2]
    """
    around = _build_neighbour_votes(source, target, weight, nodes)
    keys = splitmix64(np.arange(nodes, dtype=np.uint64) * SPLITMIX_INCREMENT + (seed & UINT64_MASK))
    turns = list(_schedule_turns(around, _rank_visits(keys)))
    labels, waiting = np.arange(nodes), np.ones(nodes, dtype=np.bool_)
    for _ in range(rounds):
        if not _propagate_labels(labels, waiting, turns, around, keys):
            break
    return number_communities(labels)


def detect_communities_reference(
    source: Ints, target: Ints, weight: Floats, nodes: int, *, seed: int, rounds: int
) -> Ints:
    """The same, node by node: the definition that `detect_communities` must agree with to the last label."""
    votes = _count_votes(source.tolist(), target.tolist(), weight.tolist())
    keys = [splitmix64(node * SPLITMIX_INCREMENT + seed) for node in range(nodes)]
    labels = list(range(nodes))
    for _ in range(rounds):
        before = labels.copy()
        for node in sorted(votes, key=lambda node: (keys[node], node)):
            labels[node] = _choose_label(labels, labels[node], votes[node], keys[node])
        if labels == before:
            break
    return number_communities(np.array(labels, dtype=np.int64))


def number_communities(labels: Ints) -> Ints:
    """Labels as numbers from 0 by falling size of their community, then by its smallest node.

    >>> number_communities(np.array([7, 5, 5, 9])).tolist()
    [1, 0, 0, 2]
    """
    _, smallest, which, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(len(size), dtype=np.int64)
    number[np.lexsort((smallest, -size))] = np.arange(len(size))
    return number[which]


def splitmix64(word: Word) -> Word:
    """A draw out of 64 bits: splitmix64 (Steele, Lea, Flood 2014), so that a seed means the same everywhere and for ever.

    >>> hex(splitmix64(SPLITMIX_INCREMENT))
    '0xe220a8397b1dcdaf'
    """
    word = word & UINT64_MASK
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & UINT64_MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & UINT64_MASK
    return word ^ (word >> 31)


def tie_break_hash(key: Word, label: Word) -> Word:
    """What a node with this key draws for a label when labels weigh the same; the smallest wins.

    >>> tie_break_hash(0, 0) == splitmix64(SPLITMIX_INCREMENT) >> 32
    True
    """
    drawn: Word = splitmix64(key + (label + 1) * SPLITMIX_INCREMENT) >> HALF_BITS
    return drawn


def _count_votes(source: Sequence[int], target: Sequence[int], weight: Sequence[float]) -> Mapping[int, Counter[int]]:
    """What each node's neighbours weigh with it."""
    votes: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for one, other, heavy in zip(source, target, weight, strict=True):
        if one != other and round(heavy * VOTES_PER_UNIT_WEIGHT) > 0:
            votes[one][other] += round(heavy * VOTES_PER_UNIT_WEIGHT)
            votes[other][one] += round(heavy * VOTES_PER_UNIT_WEIGHT)
    return votes


def _choose_label(labels: Sequence[int], own: int, votes: Mapping[int, int], key: int) -> int:
    heard: Counter[int] = Counter()
    for neighbour, weight in votes.items():
        heard[labels[neighbour]] += weight
    most = max(heard.values())
    tied = [label for label in heard if heard[label] == most]
    return own if own in tied else min(tied, key=lambda label: (tie_break_hash(key, label), label))


@dataclass(frozen=True, slots=True)
class _NeighbourVotes:
    """Who hears whom: node v hears `heard[starts[v] : starts[v + 1]]`, each with its votes."""

    starts: Ints
    heard: Ints
    votes: Ints

    def entries(self, nodes: Ints) -> tuple[Ints, Ints]:
        """What these nodes hear, one node after the other, and by which of them each is heard."""
        by, entries = expand_runs(self.starts[nodes], self.starts[nodes + 1] - self.starts[nodes])
        return entries, by


def _build_neighbour_votes(source: Ints, target: Ints, weight: Floats, nodes: int) -> _NeighbourVotes:
    one, other, votes = _merge_neighbour_pairs(source, target, weight, nodes)
    hearing, heard = np.concatenate([one, other]), np.concatenate([other, one])
    order = sort_order(hearing)
    starts = np.concatenate([[0], np.cumsum(np.bincount(hearing, minlength=nodes))])
    return _NeighbourVotes(starts, heard[order], np.tile(votes, 2)[order])


def _merge_neighbour_pairs(source: Ints, target: Ints, weight: Floats, nodes: int) -> tuple[Ints, Ints, Ints]:
    """Each pair of neighbours once, with the votes of all edges between them."""
    votes = np.rint(weight * VOTES_PER_UNIT_WEIGHT).astype(np.int64)
    counts = (votes > 0) & (source != target)
    pairs = (np.minimum(source, target) * nodes + np.maximum(source, target))[counts]
    order = np.argsort(pairs)
    first = _run_starts(pairs[order])
    one, other = np.divmod(pairs[order[first]], nodes)
    return one, other, np.add.reduceat(votes[counts][order], first)


def _rank_visits(keys: Words) -> Ints:
    """The place of each node in the order of visits."""
    places = np.empty(len(keys), dtype=np.int64)
    places[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return places


def _schedule_turns(around: _NeighbourVotes, places: Ints) -> Iterator[Ints]:
    """Nodes that may move at once, turn after turn. Who has no neighbours has no turn."""
    degree = np.diff(around.starts)
    hearing = np.repeat(np.arange(len(places)), degree)
    ahead = np.bincount(hearing[places[around.heard] < places[hearing]], minlength=len(places))
    turn = np.flatnonzero((ahead == 0) & (degree > 0))
    while len(turn):
        yield turn
        entries, by = around.entries(turn)
        heard = around.heard[entries]
        later, times = np.unique(heard[places[heard] > places[turn[by]]], return_counts=True)
        ahead[later] -= times
        turn = later[ahead[later] == 0]


def _propagate_labels(
    labels: Ints, waiting: NDArray[np.bool_], turns: Sequence[Ints], around: _NeighbourVotes, keys: Words
) -> bool:
    """One round, in place; whether anybody moved. Who has heard nothing new since its last visit would stay: it is not waiting."""
    anybody = False
    for turn in turns:
        nodes = turn[waiting[turn]]
        if not len(nodes):
            continue
        chosen = _choose_labels(nodes, labels, around, keys)
        moved = nodes[chosen != labels[nodes]]
        labels[nodes], waiting[nodes] = chosen, False
        waiting[around.heard[around.entries(moved)[0]]] = True
        anybody |= len(moved) > 0
    return anybody


def _choose_labels(nodes: Ints, labels: Ints, around: _NeighbourVotes, keys: Words) -> Ints:
    """The label that each of these nodes takes."""
    entries, by = around.entries(nodes)
    ballots = by * len(labels) + labels[around.heard[entries]]
    order = np.argsort(ballots)
    first = _run_starts(ballots[order])
    weights = np.add.reduceat(around.votes[entries[order]], first)
    voter, label = np.divmod(ballots[order[first]], len(labels))
    tied = weights == np.maximum.reduceat(weights, _run_starts(voter))[voter]
    return _break_ties(voter[tied], label[tied], own=labels[nodes], keys=keys[nodes])


def _break_ties(voter: Ints, label: Ints, *, own: Ints, keys: Words) -> Ints:
    """Of the labels that weigh most with a voter its own, or the one with the smallest lot."""
    lots = tie_break_hash(keys[voter], label.astype(np.uint64))
    lots[label == own[voter]] = 0
    winner = np.minimum.reduceat(lots << HALF_BITS | label.astype(np.uint64), _run_starts(voter))
    return (winner & UINT32_MASK).astype(np.int64)


def _run_starts(ordered: Ints) -> Ints:
    """Where each run of equals begins."""
    return np.flatnonzero(np.diff(ordered, prepend=-1))
