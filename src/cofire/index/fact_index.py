"""The index of a store: columns, sign bits, postings and names, updated and queried together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import rank_fusion
from cofire.algorithms.array_ops import widen_half_floats
from cofire.algorithms.vector_similarity import normalise_vectors
from cofire.embedders.base import StoredModel, Vectors
from cofire.index.columns import COLUMN_TYPES, Columns, Mask
from cofire.index.names import NameEntries as HeldNames
from cofire.index.names import NameIndex, NameTexts, join_name_entries
from cofire.index.native import score_postings
from cofire.index.postings import DescriptionPostings, Postings, PostingSegment, renumber_segment
from cofire.index.quantised import HnswIndex, SignBitIndex, VectorCache
from cofire.index.sessions import SessionTurns, SpeakerIndex, build_session_turns
from cofire.index.terms import PackedTerms, TermArray, hash_description_term, hash_mark, hash_term, unpack_terms
from cofire.index.timestamps import DISTANT_FUTURE, DISTANT_PAST, to_microseconds
from cofire.model import FactFilter
from cofire.stores.base import KeywordQuery
from cofire.stores.lazy_ids import DecodedIds

# With more dead among the living than this, and than a quarter, it is worth moving the living together.
MAX_DEAD_FACTS = 1_024
# So many new facts wait at most to be wired in.
MAX_PENDING_FACTS = 48
NAME_ARRAYS = ("pairs", "strengths", "sentences", "names", "starts", "positions", "held")
MENTION_ARRAYS = tuple(f"mention_{name}" for name in NAME_ARRAYS)
SUBJECT_ARRAYS = tuple(f"subject_{name}" for name in NAME_ARRAYS)
POSTING_ARRAYS = ("terms", "starts", "positions", "counts")
WORD_ARRAYS = tuple(f"posting_{name}" for name in POSTING_ARRAYS)
DESCRIPTION_ARRAYS = tuple(f"hint_{name}" for name in POSTING_ARRAYS)


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A fact as the index sees it. `vector` is as stored, None without one."""

    key: int
    id: str
    scope: int
    time: int
    stored: int
    starts: int | None
    ends: int | None
    length: int
    archived: bool
    held: PackedTerms
    vector: bytes | None
    hash: bytes
    session: str | None
    turn: int | None
    speaker: str | None


@dataclass(frozen=True, slots=True)
class ScoredPositions:
    """Candidates by position, with the scores they were proposed by."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]

    def at_least(self, score: float) -> ScoredPositions:
        """Those that score no less than this."""
        kept = self.scores >= score
        return ScoredPositions(self.positions[kept], self.scores[kept])


NO_SCORED_POSITIONS = ScoredPositions(np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class PendingChange:
    """Positions that died and that were added, and what these hold: words, names, and words of descriptions by the key of the fact."""

    dying: NDArray[np.int64]
    added: NDArray[np.int32]
    words: Sequence[PackedTerms]
    mentions: HeldNames
    subjects: HeldNames
    hints: Mapping[int, PackedTerms]


class FactIndex:
    """Proposes candidates out of all facts. `model` is the one whose vectors the store holds, None without vectors."""

    def __init__(self, model: StoredModel | None, *, graph: bool = False) -> None:
        self.model = model
        self.columns = Columns()
        self.postings = Postings()
        self.hints = DescriptionPostings()
        self.signs = SignBitIndex(self.dimension)
        self.graph = HnswIndex(self.dimension) if graph and model else None
        self.turns = SessionTurns()
        self.voices = SpeakerIndex()
        self.mentions = NameIndex()
        self.subjects = NameIndex()
        # Who holds common names, as looked up since the last change.
        self.crowds: dict[tuple[bool, int], Any] = {}
        self.spelled = NameTexts()
        # In which sentences facts hold words, by key, as read since the last change.
        self.placed: dict[int, Any] = {}
        self.warm: VectorCache | None = None
        self.asked = 0
        self._forgotten = False
        self._unwired: list[PendingChange] = []
        self._waiting = 0

    @property
    def dimension(self) -> int:
        """Of the vectors; a store without a model has signs of nothing."""
        return self.model.model.dimension if self.model else 64

    def change(
        self,
        rows: Sequence[IndexRow],
        gone: Sequence[int],
        mentions: HeldNames,
        subjects: HeldNames,
        hints: Mapping[int, PackedTerms],
        *,
        wired: bool = True,
    ) -> None:
        """Take in facts that are new or changed, with the names they hold, and let go of those that are gone. `hints` are the words
        of descriptions by the key of the fact, of those that changed and of others that were described anew.

        If not `wired`, all but what filters and vectors are concerned with may wait for `wire`: who tells facts one by one looks at
        nothing else, and for several together it is much less work.
        """
        only_grows = not gone and all(row.key > self.columns.highest for row in rows)
        if not only_grows:
            self.wire()
        self.crowds.clear()
        self.placed.clear()
        dying = np.zeros(0, np.int64) if only_grows else self._let_go(rows, gone)
        added = self._add(rows) if rows else np.zeros(0, np.int32)
        self._unwired.append(PendingChange(dying, added, [row.held for row in rows], mentions, subjects, hints))
        self._waiting += len(added)
        if wired or not only_grows or self._waiting > MAX_PENDING_FACTS:
            self.wire()
        if self.columns.dead > MAX_DEAD_FACTS + self.columns.size // 4:
            self.compact()

    def wire(self) -> None:
        """Take in the words, names, descriptions and turns that wait for it."""
        if not self._unwired:
            return
        self.crowds.clear()
        found, self._unwired, self._waiting = self._unwired, [], 0
        dying, added = (np.concatenate(parts) for parts in zip(*((one.dying, one.added) for one in found), strict=True))
        terms, counts, owners = unpack_terms([held for one in found for held in one.words])
        self.postings.add(terms, added[owners], counts)
        many = [len(one.added) for one in found]
        self.mentions.add(join_name_entries([one.mentions for one in found], many), added)
        self.subjects.add(join_name_entries([one.subjects for one in found], many), added)
        self._describe({key: held for one in found for key, held in one.hints.items()})
        self.turns.follow(self.columns, dying, added, self.postings)

    def _let_go(self, rows: Sequence[IndexRow], gone: Sequence[int]) -> NDArray[np.int64]:
        """The positions that die: of facts that are gone, and of those that are added anew."""
        dying = self.columns.kill(gone)
        self._forgotten |= bool(len(dying))
        dying = np.concatenate([dying, self.columns.kill([row.key for row in rows])])
        if len(dying):
            self.voices.leave(self.columns["scope"][dying], self.columns["speaker"][dying])
        return dying

    def _add(self, rows: Sequence[IndexRow]) -> NDArray[np.int32]:
        positions = self.columns.add(_build_column_values(rows) | {"speaker": self.voices.add(rows)})
        stored = self._stored(rows)
        away = self._away(rows, stored)
        self.signs.add(away)
        if self.warm is not None:
            self.warm.add(stored)
        if self.graph is not None:
            embedded = [at for at, row in enumerate(rows) if row.vector]
            self.graph.add(positions[embedded], normalise_vectors(away[embedded]))
        return positions

    def _describe(self, hints: Mapping[int, PackedTerms]) -> None:
        if not hints:
            return
        terms, counts, owners = unpack_terms(list(hints.values()))
        self.hints.add(terms, self.columns.places()[list(hints)][owners], counts)

    def admitted(self, where: FactFilter, scopes: Sequence[int] | None, members: Sequence[int] | None = None) -> Mask:
        """Which positions pass a filter; `scopes` are the keys of its scopes, `members` those of its community, None for all. Nobody
        may change the mask: where the filter asks for nothing else, it is that of the facts that stand there."""
        columns = self.columns
        only = scopes[0] if scopes is not None and len(scopes) == 1 else None
        mask = columns["alive"] if where.archived else columns.standing(only)
        if members is not None:
            mask = mask & np.isin(columns["key"], members)
        if scopes is not None and (where.archived or only is None):
            mask = mask & np.isin(columns["scope"], scopes)
        marked = (self._marked(kind, values) for kind, values in list_filter_marks(where))
        for besides in chain(self._by_times(where), marked):
            mask = mask & besides
        return mask

    def nearest(self, asked: Vectors, among: Mask, wanted: int) -> NDArray[np.int64]:
        """Positions of the candidates for exact scoring, near a vector as seen from the model's resting point."""
        embedded = among & self.columns["embedded"] if self.columns.bare else among
        found = self.graph.candidates(asked, embedded, wanted) if self.graph else None
        if found is None:
            found = self.signs.candidates(asked, embedded, wanted)
        return found

    def matching(self, cue: KeywordQuery, among: Mask, k: int) -> ScoredPositions:
        """The best by BM25, those as good as the last one included."""
        context = cue.context
        short, total = context.short if context else 1.0, sum(cue.weights) or 1.0
        positions, scores = score_postings(
            self.postings.runs(tuple(map(hash_term, cue.words))),
            self.hints.runs(tuple(map(hash_description_term, cue.words))),
            weights=np.array(cue.weights, np.float64),
            is_lent=np.array(cue.lent or [False] * len(cue.words), np.bool_),
            constants=np.array([cue.hint_weight, cue.k1, cue.b, cue.mean_length, short, total], np.float64),
            lengths=self.columns["length"],
            alive=self.columns["alive"],
            admitted=among,
            turns=self.turns.chains if context else None,
            lends=context.lends() if context else np.zeros(0),
            k=k,
        )
        return ScoredPositions(positions, scores)

    def best(self, proposed: ScoredPositions, k: int) -> DecodedIds:
        """Ids, best first; of equals the newer first. Rounded, so that the last bit of a sum decides nothing."""
        rows, ordered = rank_fusion.top_rows_with_ties(proposed.scores, k)
        positions = proposed.positions[rows]
        ids = self.columns.ids(positions)
        if ordered is not None:
            order = rank_fusion.break_ties(list(range(len(ids))), ordered, ids)[:k]
            ids, positions = [ids[at] for at in order], positions[order]
        return DecodedIds(self.columns.ground, positions[:k], ids[:k])

    def holding(self, scope: int, up_to: int) -> tuple[int, int, TermArray, NDArray[np.int64]]:
        """For one scope, up to a key: how many facts, their words all told, and for every word how many facts hold it."""
        inside = self.columns["alive"] & (self.columns["scope"] == scope) & (self.columns["key"] <= up_to)
        whole = self.postings.whole()
        counted = inside[whole.positions] & (whole.counts > 0)
        holding = (
            np.add.reduceat(counted, whole.starts[:-1], dtype=np.int64) if len(whole.terms) else np.zeros(0, np.int64)
        )
        known = holding > 0
        return int(inside.sum()), int(self.columns["length"][inside].sum()), whole.terms[known], holding[known]

    @property
    def keeps_the_dead(self) -> bool:
        """Whether it holds facts that are gone and cannot let go of them: those in a graph, which knows facts by position."""
        return self.graph is not None and self._forgotten

    def compact(self) -> None:
        """Let the dead go, and move the living together. A graph knows facts by position, so there it is left to a new loading."""
        if self.graph is not None:
            return
        self.wire()
        self.crowds.clear()
        arrays, moved = self.columns.survivors()
        alive = moved >= 0
        self.postings = Postings([renumber_segment(self.postings.whole(), moved)])
        self.hints = DescriptionPostings([renumber_segment(self.hints.whole(), moved)])
        self.signs = SignBitIndex(self.dimension, self.signs.bits[:, alive])
        self.mentions, self.subjects = self.mentions.moved(moved), self.subjects.moved(moved)
        self.warm = None
        self.columns = Columns(arrays)
        self.turns = build_session_turns(self.columns)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays, for a snapshot."""
        self.wire()
        if self.columns.dead:
            self.compact()
        return {
            **{name: self.columns[name] for name in COLUMN_TYPES},
            "signs": self.signs.bits,
            **dict(zip(WORD_ARRAYS, self.postings.whole().arrays(), strict=True)),
            **dict(zip(DESCRIPTION_ARRAYS, self.hints.whole().arrays(), strict=True)),
            "voices": self.voices.saved(),
            **dict(zip(MENTION_ARRAYS, self.mentions.arrays(), strict=True)),
            **dict(zip(SUBJECT_ARRAYS, self.subjects.arrays(), strict=True)),
            "graph": self.graph.saved() if self.graph else np.zeros(0, np.uint8),
        }

    @classmethod
    def from_arrays(
        cls, model: StoredModel | None, arrays: dict[str, NDArray[Any]], *, graph: bool = False
    ) -> FactIndex:
        """The index of a snapshot."""
        made = cls(model)
        made.columns = Columns(arrays)
        made.signs = SignBitIndex(made.dimension, arrays["signs"])
        made.graph = HnswIndex(made.dimension, arrays["graph"]) if graph and model else None
        made.postings = Postings([PostingSegment(*(arrays[name] for name in WORD_ARRAYS))])
        made.hints = DescriptionPostings([PostingSegment(*(arrays[name] for name in DESCRIPTION_ARRAYS))])
        made.voices = SpeakerIndex(arrays["voices"], made.columns)
        made.mentions = NameIndex.from_arrays(tuple(arrays[name] for name in MENTION_ARRAYS))
        made.subjects = NameIndex.from_arrays(tuple(arrays[name] for name in SUBJECT_ARRAYS))
        made.turns = build_session_turns(made.columns)
        return made

    def _stored(self, rows: Sequence[IndexRow]) -> NDArray[np.float16]:
        """The vectors of rows as they are stored, zeros where there is none."""
        nothing = bytes(2 * self.dimension)
        joined = b"".join([(row.vector if self.model else None) or nothing for row in rows])
        return np.frombuffer(joined, np.float16).reshape(len(rows), self.dimension)

    def _away(self, rows: Sequence[IndexRow], stored: NDArray[np.float16]) -> Vectors:
        """Where vectors are from the model's resting point, at their own lengths, which signs do not see; nothing where there is none."""
        if self.model is None:
            return stored.astype(np.float32)
        away = widen_half_floats(stored) - self.model.mean
        if bare := [at for at, row in enumerate(rows) if row.vector is None]:
            away[bare] = 0
        return away

    def _by_times(self, where: FactFilter) -> Iterator[Mask]:
        columns, moment = self.columns, to_microseconds(where.as_of or where.now)
        if columns.limited and not where.whenever:
            yield (columns["starts"] <= moment) & (moment < columns["ends"])
        if where.since is not None:
            yield columns["time"] >= to_microseconds(where.since)
        if where.until is not None:
            yield columns["time"] <= to_microseconds(where.until)
        if where.as_of is not None:
            yield columns["stored"] <= moment

    def _marked(self, kind: str, values: Collection[str]) -> Mask:
        found = np.zeros(self.columns.size, np.bool_)
        for value in values:
            found[self.postings.find(hash_mark(kind, value))[0]] = True
        return found


def list_filter_marks(where: FactFilter) -> list[tuple[str, Collection[str]]]:
    """What a filter looks up among the words of facts: kinds of marks, and of each the values of which a fact bears one."""
    kinds = (("category", where.categories), ("speaker", where.speakers), ("session", where.sessions))
    return [*(("tag", [tag]) for tag in where.tags), *((kind, values) for kind, values in kinds if values)]


def is_complete_index_snapshot(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether a snapshot has all that this version of cofire looks for; one of another version is left alone."""
    return set(arrays) == set(FactIndex(None).arrays()) and all(
        arrays[name].dtype == kind for name, kind in COLUMN_TYPES.items()
    )


def _build_column_values(rows: Sequence[IndexRow]) -> dict[str, list[Any]]:
    return {
        "key": [row.key for row in rows],
        "id": [row.id.encode("ascii") for row in rows],
        "scope": [row.scope for row in rows],
        "time": [row.time for row in rows],
        "stored": [row.stored for row in rows],
        "starts": [DISTANT_PAST if row.starts is None else row.starts for row in rows],
        "ends": [DISTANT_FUTURE if row.ends is None else row.ends for row in rows],
        "length": [row.length for row in rows],
        "hash": [int.from_bytes(row.hash[:8], "little", signed=True) for row in rows],
        "session": [0 if row.session is None else hash_mark("session", row.session) for row in rows],
        "turn": [row.turn or 0 for row in rows],
        "archived": [row.archived for row in rows],
        "embedded": [row.vector is not None for row in rows],
        "alive": [True] * len(rows),
    }
