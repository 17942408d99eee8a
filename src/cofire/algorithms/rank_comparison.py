"""Compare two rankings: overlap, Kendall's tau and the facts that moved. No numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True)
class RankChange:
    """A fact whose place changed, counted from 1; None where it is not in a list."""

    id: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class RankingComparison:
    """How alike two rankings are, and who moved. Promoted: now higher, or new; demoted: now lower, or gone."""

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
    """The share of the first k that both have: |A ∩ B| / max(|A|, |B|), so that a short list is not blamed for its length
    but for what it lacks; two empty ones are alike.

    >>> (
    ...     overlap_at_k(["a", "b", "c"], ["c", "d", "a"], k=2),
    ...     overlap_at_k(["a", "b"], ["b", "a", "c"], k=10),
    ...     overlap_at_k([], [], k=5),
    ... )
    (0.0, 0.6666666666666666, 1.0)
    """
    one, other = set(before[:k]), set(after[:k])
    longer = max(len(one), len(other))
    return len(one & other) / longer if longer else 1.0


def kendall_tau_b(before: Sequence[str], after: Sequence[str]) -> float:
    """Kendall's τ-b on the union of both lists, where what a list lacks shares its last place (Kendall 1945).

    τ-b = (C − D) / √((C + D + T₁)(C + D + T₂)): C pairs in the same order, D in opposite order, T₁ and T₂ tied in one list
    alone. Not Spearman: τ-b takes the ties of the absent into account, where Spearman's squared distances would make one fact
    that falls out of the list outweigh every exchange above it. One list: 1; its reverse: −1; where a list has
    nothing to order (a single place), equal lists are 1 and others 0.

    >>> (
    ...     kendall_tau_b("abc", "abc"),
    ...     kendall_tau_b("abc", "cba"),
    ...     round(kendall_tau_b("abc", "acb"), 4),
    ...     round(kendall_tau_b("ab", "ac"), 4),
    ... )
    (1.0, -1.0, 0.3333, 0.3333)
    """
    ids = [*dict.fromkeys((*before, *after))]
    one, other = _ranking_positions(before, ids), _ranking_positions(after, ids)
    pairs = [(one[a] - one[b], other[a] - other[b]) for a, b in combinations(range(len(ids)), 2)]
    agreeing = sum((x * y > 0) - (x * y < 0) for x, y in pairs)
    ordered = sum(x != 0 for x, _ in pairs) * sum(y != 0 for _, y in pairs)
    return agreeing / ordered**0.5 if ordered else float(list(before) == list(after))


def list_rank_changes(before: Sequence[str], after: Sequence[str]) -> tuple[RankChange, ...]:
    """Every fact whose place differs, by its new place, then by its old one.

    >>> list_rank_changes("ab", "ca")
    (RankChange(id='c', before=None, after=1), RankChange(id='a', before=1, after=2), RankChange(id='b', before=2, after=None))
    """
    was = {id: place for place, id in enumerate(before, 1)}
    now = {id: place for place, id in enumerate(after, 1)}
    return tuple(RankChange(id, was.get(id), now.get(id)) for id in {**now, **was} if was.get(id) != now.get(id))


def _is_promoted(move: RankChange) -> bool:
    if move.before is None or move.after is None:
        return move.before is None
    return move.after < move.before


def _ranking_positions(ranking: Sequence[str], ids: Sequence[str]) -> list[int]:
    """The place of each id; the absent are all behind the last."""
    place = {id: at for at, id in enumerate(ranking)}
    return [place.get(id, len(ranking)) for id in ids]
