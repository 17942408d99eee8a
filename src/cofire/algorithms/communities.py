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

# Weights are converted to integers: their sums are exact, so the order of addition decides no vote.
VOTES_PER_UNIT_WEIGHT = 2**20

UINT64_MASK, HALF_BITS, UINT32_MASK = 2**64 - 1, 32, 2**32 - 1
SPLITMIX_INCREMENT = 0x9E3779B97F4A7C15


def detect_communities(source: Ints, target: Ints, weight: Floats, nodes: int, *, seed: int, rounds: int) -> Ints:
    """The community of each node by label propagation (Raghavan 2007; 000, GraphAnalyzer).

    Every node starts with its own label. A round visits all nodes in one seeded order, and each takes the
    label of the highest weight among its neighbours, argmaxₗ Σ w(v, u)·[label(u) = l]. Among equal labels a
    node keeps its own, otherwise a hash of node and label decides: with one order of labels for all nodes, a
    few labels would flood the graph. The iteration ends when no node changes (every change adds to the weight
    inside communities, so it does end) or after `rounds`. Communities are numbered by descending size, then
    by smallest node. A node without neighbours is its own community. Edges are undirected: all edges between
    two nodes add up, in either direction.

    Nodes that are not neighbours do not affect each other and are updated together: a turn has all nodes
    whose neighbours with an earlier place are done. The labels are the same as one by one. Two triangles
    joined by an edge, and a single node:

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
    """Labels renumbered from 0 by descending size of the community, then by its smallest node.

    >>> number_communities(np.array([7, 5, 5, 9])).tolist()
    [1, 0, 0, 2]
    """
    _, smallest, which, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(len(size), dtype=np.int64)
    number[np.lexsort((smallest, -size))] = np.arange(len(size))
    return number[which]


def splitmix64(word: Word) -> Word:
    """A 64-bit hash, splitmix64 (Steele, Lea, Flood 2014): a seed gives the same result on every platform.

    >>> hex(splitmix64(SPLITMIX_INCREMENT))
    '0xe220a8397b1dcdaf'
    """
    word = word & UINT64_MASK
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & UINT64_MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & UINT64_MASK
    return word ^ (word >> 31)


def tie_break_hash(key: Word, label: Word) -> Word:
    """The hash of a node's key and a label. Of labels with equal weight the smallest hash wins.

    >>> tie_break_hash(0, 0) == splitmix64(SPLITMIX_INCREMENT) >> 32
    True
    """
    high_bits: Word = splitmix64(key + (label + 1) * SPLITMIX_INCREMENT) >> HALF_BITS
    return high_bits


def _count_votes(source: Sequence[int], target: Sequence[int], weight: Sequence[float]) -> Mapping[int, Counter[int]]:
    """The votes of each node's neighbours."""
    votes: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for start, end, edge_weight in zip(source, target, weight, strict=True):
        edge_votes = round(edge_weight * VOTES_PER_UNIT_WEIGHT)
        if start != end and edge_votes > 0:
            votes[start][end] += edge_votes
            votes[end][start] += edge_votes
    return votes


def _choose_label(labels: Sequence[int], own: int, votes: Mapping[int, int], key: int) -> int:
    label_votes: Counter[int] = Counter()
    for neighbour, weight in votes.items():
        label_votes[labels[neighbour]] += weight
    most = max(label_votes.values())
    tied = [label for label in label_votes if label_votes[label] == most]
    return own if own in tied else min(tied, key=lambda label: (tie_break_hash(key, label), label))


@dataclass(frozen=True, slots=True)
class _NeighbourVotes:
    """Neighbours of all nodes: those of v are `neighbours[starts[v] : starts[v + 1]]`, each with its votes."""

    starts: Ints
    neighbours: Ints
    votes: Ints

    def entries(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The entries of these nodes, one node after the other, and for each the index of its node."""
        by, entries = expand_runs(self.starts[nodes], self.starts[nodes + 1] - self.starts[nodes])
        return entries, by


def _build_neighbour_votes(source: Ints, target: Ints, weight: Floats, nodes: int) -> _NeighbourVotes:
    smaller, larger, votes = _merge_neighbour_pairs(source, target, weight, nodes)
    owners = np.concatenate([smaller, larger])
    neighbours = np.concatenate([larger, smaller])
    order = sort_order(owners)
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=nodes))])
    return _NeighbourVotes(starts, neighbours[order], np.tile(votes, 2)[order])


def _merge_neighbour_pairs(source: Ints, target: Ints, weight: Floats, nodes: int) -> tuple[Ints, Ints, Ints]:
    """Each pair of neighbours once, with the votes of all edges between them."""
    votes = np.rint(weight * VOTES_PER_UNIT_WEIGHT).astype(np.int64)
    counts = (votes > 0) & (source != target)
    pairs = (np.minimum(source, target) * nodes + np.maximum(source, target))[counts]
    order = np.argsort(pairs)
    first = _run_starts(pairs[order])
    smaller, larger = np.divmod(pairs[order[first]], nodes)
    return smaller, larger, np.add.reduceat(votes[counts][order], first)


def _rank_visits(keys: Words) -> Ints:
    """The place of each node in the order of visits."""
    places = np.empty(len(keys), dtype=np.int64)
    places[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return places


def _schedule_turns(around: _NeighbourVotes, places: Ints) -> Iterator[Ints]:
    """The nodes of each turn, which can be updated together. Nodes without neighbours have no turn."""
    degree = np.diff(around.starts)
    owners = np.repeat(np.arange(len(places)), degree)
    ahead = np.bincount(owners[places[around.neighbours] < places[owners]], minlength=len(places))
    turn = np.flatnonzero((ahead == 0) & (degree > 0))
    while len(turn):
        yield turn
        entries, by = around.entries(turn)
        neighbours = around.neighbours[entries]
        later, times = np.unique(neighbours[places[neighbours] > places[turn[by]]], return_counts=True)
        ahead[later] -= times
        turn = later[ahead[later] == 0]


def _propagate_labels(
    labels: Ints, waiting: NDArray[np.bool_], turns: Sequence[Ints], around: _NeighbourVotes, keys: Words
) -> bool:
    """Run one round in place. Returns whether a label changed.

    Only waiting nodes are visited: a node whose neighbours did not change since its last visit keeps its label.
    """
    changed = False
    for turn in turns:
        nodes = turn[waiting[turn]]
        if not len(nodes):
            continue
        chosen = _choose_labels(nodes, labels, around, keys)
        moved = nodes[chosen != labels[nodes]]
        labels[nodes] = chosen
        waiting[nodes] = False
        moved_entries, _ = around.entries(moved)
        waiting[around.neighbours[moved_entries]] = True
        changed |= len(moved) > 0
    return changed


def _choose_labels(nodes: Ints, labels: Ints, around: _NeighbourVotes, keys: Words) -> Ints:
    """The new label of each of these nodes."""
    entries, by = around.entries(nodes)
    ballots = by * len(labels) + labels[around.neighbours[entries]]
    order = np.argsort(ballots)
    first = _run_starts(ballots[order])
    weights = np.add.reduceat(around.votes[entries[order]], first)
    voter, label = np.divmod(ballots[order[first]], len(labels))
    tied = weights == np.maximum.reduceat(weights, _run_starts(voter))[voter]
    return _break_ties(voter[tied], label[tied], own=labels[nodes], keys=keys[nodes])


def _break_ties(voter: Ints, label: Ints, *, own: Ints, keys: Words) -> Ints:
    """Of the tied labels of a voter its own, otherwise the one with the smallest hash."""
    hashes = tie_break_hash(keys[voter], label.astype(np.uint64))
    hashes[label == own[voter]] = 0
    winner = np.minimum.reduceat(hashes << HALF_BITS | label.astype(np.uint64), _run_starts(voter))
    return (winner & UINT32_MASK).astype(np.int64)


def _run_starts(ordered: Ints) -> Ints:
    """Where each run of equals begins."""
    return np.flatnonzero(np.diff(ordered, prepend=-1))
