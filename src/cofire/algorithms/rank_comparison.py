"""Compare two rankings: overlap, Kendall's tau and the facts that moved. No numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True)
class RankChange:
    """A fact whose place changed. Places count from 1; None if the fact is not in a list."""

    id: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class RankingComparison:
    """The similarity of two rankings and the facts that moved. Promoted: higher or new. Demoted: lower or gone."""

    k: int
    overlap: float
    tau: float
    promoted: tuple[RankChange, ...]
    demoted: tuple[RankChange, ...]


def compare_rankings(before: Sequence[str], after: Sequence[str], *, k: int) -> RankingComparison:
    """Two rankings side by side, each of distinct ids, best first.

    >>> both = compare_rankings(["a", "b", "c"], ["c", "a", "d"], k=3)
    >>> round(both.overlap, 3), round(both.tau, 3)
    (0.667, 0.0)
    >>> both.promoted
    (RankChange(id='c', before=3, after=1), RankChange(id='d', before=None, after=3))
    >>> both.demoted
    (RankChange(id='a', before=1, after=2), RankChange(id='b', before=2, after=None))
    """
    moved = list_rank_changes(before, after)
    return RankingComparison(
        k=k,
        overlap=overlap_at_k(before, after, k=k),
        tau=kendall_tau_b(before, after),
        promoted=tuple(move for move in moved if _is_promoted(move)),
        demoted=tuple(move for move in moved if not _is_promoted(move)),
    )


def overlap_at_k(before: Sequence[str], after: Sequence[str], *, k: int) -> float:
    """The share of the first k that both have: |A ∩ B| / max(|A|, |B|); 1 for two empty lists.

    The longer list is the denominator, so that lists shorter than k lose only what they lack.

    >>> (
    ...     overlap_at_k(["a", "b", "c"], ["c", "d", "a"], k=2),
    ...     overlap_at_k(["a", "b"], ["b", "a", "c"], k=10),
    ...     overlap_at_k([], [], k=5),
    ... )
    (0.0, 0.6666666666666666, 1.0)
    """
    ids_before = set(before[:k])
    ids_after = set(after[:k])
    longer = max(len(ids_before), len(ids_after))
    return len(ids_before & ids_after) / longer if longer else 1.0


def kendall_tau_b(before: Sequence[str], after: Sequence[str]) -> float:
    """Kendall's τ-b on the union of both lists; ids that a list lacks share a place behind its last (Kendall 1945).

    τ-b = (C − D) / √((C + D + T₁)(C + D + T₂)): C pairs in the same order, D in opposite order, T₁ and T₂
    tied in one list only. τ-b handles the ties of missing ids; with Spearman's squared distances, one
    missing fact would outweigh all exchanges above it. Equal lists have 1, reversed ones −1. If a list
    has a single place, equal lists have 1 and others 0.

    >>> (
    ...     kendall_tau_b("abc", "abc"),
    ...     kendall_tau_b("abc", "cba"),
    ...     round(kendall_tau_b("abc", "acb"), 4),
    ...     round(kendall_tau_b("ab", "ac"), 4),
    ... )
    (1.0, -1.0, 0.3333, 0.3333)
    """
    ids = [*dict.fromkeys((*before, *after))]
    positions_before = _ranking_positions(before, ids)
    positions_after = _ranking_positions(after, ids)
    pairs = [
        (positions_before[a] - positions_before[b], positions_after[a] - positions_after[b])
        for a, b in combinations(range(len(ids)), 2)
    ]
    agreeing = sum((x * y > 0) - (x * y < 0) for x, y in pairs)
    ordered = sum(x != 0 for x, _ in pairs) * sum(y != 0 for _, y in pairs)
    return agreeing / ordered**0.5 if ordered else float(list(before) == list(after))


def list_rank_changes(before: Sequence[str], after: Sequence[str]) -> tuple[RankChange, ...]:
    """Every fact whose place differs, by its new place, then by its old one.

    >>> list_rank_changes("ab", "ca")
    (RankChange(id='c', before=None, after=1), RankChange(id='a', before=1, after=2), RankChange(id='b', before=2, after=None))
    """
    old_places = {id: place for place, id in enumerate(before, 1)}
    new_places = {id: place for place, id in enumerate(after, 1)}
    changes = (RankChange(id, old_places.get(id), new_places.get(id)) for id in {**new_places, **old_places})
    return tuple(change for change in changes if change.before != change.after)


def _is_promoted(move: RankChange) -> bool:
    if move.before is None or move.after is None:
        return move.before is None
    return move.after < move.before


def _ranking_positions(ranking: Sequence[str], ids: Sequence[str]) -> list[int]:
    """The position of each id. Missing ids share the position behind the last."""
    position_of = {id: position for position, id in enumerate(ranking)}
    return [position_of.get(id, len(ranking)) for id in ids]
