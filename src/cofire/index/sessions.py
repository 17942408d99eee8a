"""Sessions: the order of turns, and the speakers as numbers with their words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cofire.index.columns import Columns
from cofire.index.postings import Postings
from cofire.stores.lazy_ids import IndexedCodedSequence
from cofire.text.words import fold_accents

PositionArray = NDArray[np.int32]

# With more sessions touched at once it is cheaper to put all of them in order anew; so it is with single facts and a session.
MAX_TOUCHED_SESSIONS = MAX_SPLICED_FACTS = 64


class SessionTurns:
    """Neighbours in a session by time, of one moment in the order of telling. Follows the columns; kept in no snapshot."""

    def __init__(self) -> None:
        self.before: PositionArray = np.zeros(0, np.int32)
        self.after: PositionArray = np.zeros(0, np.int32)
        # Whether anybody has ever come before or after another.
        self.known = False
        # The last fact of a session in each scope, where it is known.
        self._last: dict[int, dict[int, int]] = {}

    def follow(
        self, columns: Columns, dying: NDArray[np.integer], added: NDArray[np.integer], postings: Postings
    ) -> None:
        """Take in positions that died and that were added. A session is a mark that its facts bear."""
        self._make_room(columns.size + 1)
        if not len(dying) and not columns["session"][added].any():
            touched = set[int]()
        elif len(dying) + len(added) > MAX_SPLICED_FACTS:
            touched = {*columns["session"][dying].tolist(), *columns["session"][added].tolist()} - {0}
        else:
            touched = self._spliced(columns, dying, added)
        if len(touched) > MAX_TOUCHED_SESSIONS:
            return self.chain_all(columns)
        if touched:
            told = np.concatenate([postings.find(session)[0] for session in touched])
            told = told[columns["alive"][told]]
            self._chain(columns, told)
            self._keep_last(columns, touched, told[self.after[told] < 0])

    def _keep_last(self, columns: Columns, sessions: Set[int], ends: NDArray[np.integer]) -> None:
        self._last |= {session: {} for session in sessions}
        places = zip(columns["scope"][ends].tolist(), columns["session"][ends].tolist(), ends.tolist(), strict=True)
        for scope, session, end in places:
            self._last[session][scope] = end

    def _spliced(self, columns: Columns, dying: NDArray[np.integer], added: NDArray[np.integer]) -> set[int]:
        """Put facts where they belong without looking at all of their session; the sessions where this cannot be done."""
        former = _group_places_by_key(columns, dying) if len(dying) else {}
        left = set[int]()
        for key, new, place in zip(
            columns["key"][added].tolist(), added.tolist(), _read_session_places(columns, added), strict=True
        ):
            old, before = former.pop(key, (None, place))
            if old is not None and before == place:
                self._move(old, new, place)
            elif old is not None or not self._append(columns, new, place):
                left |= {place[1], before[1]}
        return (left | {before[1] for _, before in former.values()}) - {0}

    def _move(self, old: int, new: int, place: tuple[int, ...]) -> None:
        """A fact that was changed stands where it stood."""
        self._stand_between(self.before[old], new, self.after[old])
        last = self._last.get(place[1], {})
        if last.get(place[0]) == old:
            last[place[0]] = new

    def _append(self, columns: Columns, new: int, place: tuple[int, ...]) -> bool:
        """Let a fact stand at the end of its session, or before the few that it is told after, if that is where it belongs."""
        scope, session, *moment = place
        if not session:
            return True
        before, after = self._last.get(session, {}).get(scope, -1), -1
        for _ in range(MAX_SPLICED_FACTS if before >= 0 else 0):
            if before < 0 or [int(columns[name][before]) for name in ("time", "turn")] <= moment:
                self._stand_between(before, new, after)
                if after < 0:
                    self._last[session][scope] = new
                return True
            before, after = int(self.before[before]), before
        return False

    def _stand_between(self, before: int, new: int, after: int) -> None:
        self.before[new], self.after[new] = before, after
        self.known = self.known or before >= 0 or after >= 0
        if before >= 0:
            self.after[before] = new
        if after >= 0:
            self.before[after] = new

    @property
    def chains(self) -> tuple[PositionArray, PositionArray] | None:
        """The turn before and the turn after each fact, -1 where there is none, as at the end; None where there are no turns."""
        return (self.before, self.after) if self.known else None

    def _chain(self, columns: Columns, positions: NDArray[np.integer]) -> None:
        sessions, scopes = columns["session"][positions], columns["scope"][positions]
        order = np.lexsort((columns["turn"][positions], columns["time"][positions], sessions, scopes))
        sorted_, sessions, scopes = positions[order], sessions[order], scopes[order]
        joined = (sessions[1:] == sessions[:-1]) & (scopes[1:] == scopes[:-1])
        self.before[positions] = self.after[positions] = -1
        self.known = self.known or bool(joined.any())
        self.before[sorted_[1:][joined]] = sorted_[:-1][joined]
        self.after[sorted_[:-1][joined]] = sorted_[1:][joined]

    def chain_all(self, columns: Columns) -> None:
        """Put every session in order."""
        self._make_room(columns.size + 1)
        self._last.clear()
        self._chain(columns, np.flatnonzero(columns["alive"] & (columns["session"] != 0)))

    def _make_room(self, size: int) -> None:
        if size > len(self.before):
            more = np.full(max(1_024, 2 * size) - len(self.before), -1, np.int32)
            self.before, self.after = np.concatenate([self.before, more]), np.concatenate([self.after, more])


def _group_places_by_key(columns: Columns, positions: NDArray[np.integer]) -> dict[int, tuple[int, tuple[int, ...]]]:
    """The positions of facts by key, and where in their sessions they stand."""
    stood = zip(positions.tolist(), _read_session_places(columns, positions), strict=True)
    return dict(zip(columns["key"][positions].tolist(), stood, strict=True))


def _read_session_places(columns: Columns, positions: NDArray[np.integer]) -> list[tuple[int, ...]]:
    """Scope and session of facts, and where in it each stands."""
    return list(zip(*(columns[name][positions].tolist() for name in ("scope", "session", "time", "turn")), strict=True))


def build_session_turns(columns: Columns) -> SessionTurns:
    """The turns of all that is there."""
    turns = SessionTurns()
    turns.chain_all(columns)
    return turns


NO_SPEAKER = -1


class SpeakerRow(Protocol):
    """A row with a speaker."""

    @property
    def scope(self) -> int: ...
    @property
    def speaker(self) -> str | None: ...


class SpeakerIndex:
    """The speakers of a store, each under a number, and how many facts of theirs each scope holds."""

    def __init__(self, saved: NDArray[np.uint8] | None = None, columns: Columns | None = None) -> None:
        self._speakers: list[str] = []
        self._spelled: list[str | None] = [None]
        self._numbers: dict[str | None, int] = {}
        self._by_word: dict[str, set[int]] = {}
        self._heard: Counter[tuple[int, int]] = Counter()
        for speaker in json.loads(saved.tobytes()) if saved is not None else ():
            self._number(speaker) if speaker else self._speakers.append("")
        if columns is not None:
            self._heard = _count_facts_by_speaker(columns)

    def add(self, rows: Sequence[SpeakerRow]) -> list[int]:
        """The numbers of these rows' speakers, for the column."""
        numbers = [NO_SPEAKER if row.speaker is None else self._number(row.speaker) for row in rows]
        for row, number in zip(rows, numbers, strict=True):
            self._heard[row.scope, number] += 1
        return numbers

    def leave(self, scopes: NDArray[np.int32], numbers: NDArray[np.int32]) -> None:
        """Facts of these speakers are gone from these scopes."""
        self._heard.subtract(zip(scopes.tolist(), numbers.tolist(), strict=True))

    def named(self, numbers: NDArray[np.int32]) -> IndexedCodedSequence[str | None]:
        """Speakers by number."""
        if len(self._spelled) <= len(self._speakers):
            # Nobody is the last one.
            self._spelled = [*self._speakers, None]
        return IndexedCodedSequence(self._spelled, numbers, self._numbers)

    def asked(self, scopes: Collection[int], words: Iterable[str]) -> frozenset[str]:
        """The speakers of these scopes whose names hold one of these words."""
        found = set().union(*(self._by_word.get(word, ()) for word in words))
        return frozenset(
            self._speakers[number] for number in found if any(self._heard[scope, number] > 0 for scope in scopes)
        )

    def saved(self) -> NDArray[np.uint8]:
        """All speakers as bytes, for a snapshot. One who is heard no more leaves an empty place."""
        heard = {number for (_, number), times in self._heard.items() if times > 0}
        kept = [speaker if number in heard else "" for number, speaker in enumerate(self._speakers)]
        return np.frombuffer(json.dumps(kept).encode("ascii"), np.uint8)

    def _number(self, speaker: str) -> int:
        if speaker not in self._numbers:
            self._numbers[speaker] = len(self._speakers)
            self._speakers.append(speaker)
            for word in split_name(speaker):
                self._by_word.setdefault(word, set()).add(self._numbers[speaker])
        return self._numbers[speaker]


def _count_facts_by_speaker(columns: Columns) -> Counter[tuple[int, int]]:
    """How many living facts each speaker has in each scope."""
    alive = columns["alive"]
    scopes, numbers = columns["scope"][alive].astype(np.int64), columns["speaker"][alive].astype(np.int64)
    pairs, often = np.unique(scopes << 32 | numbers - NO_SPEAKER, return_counts=True)
    both = ((pair >> 32, (pair & 0xFFFFFFFF) + NO_SPEAKER) for pair in pairs.tolist())
    return Counter(dict(zip(both, often.tolist(), strict=True)))


def split_name(speaker: str) -> list[str]:
    """The words of a speaker's name, in small letters and without accents.

    >>> split_name("Søren Hua")
    ['soren', 'hua']
    """
    return fold_accents(speaker).casefold().split()
