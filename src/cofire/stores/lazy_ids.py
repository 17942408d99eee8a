"""Ids and labels decoded on first access."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

PlaceArray = NDArray[np.int64]


class LazySequence(Sequence[T]):
    """A sequence that is equal to any other with the same members."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class CodedSequence(LazySequence[T]):
    """Words by their numbers; the last word has -1, too.

    >>> tuple(CodedSequence(["pool", None], np.array([0, -1])))
    ('pool', None)
    """

    __slots__ = ("_numbers", "_words")

    def __init__(self, words: Sequence[T], numbers: NDArray[np.integer]) -> None:
        self._words, self._numbers = words, numbers

    def __getitem__(self, at: Any) -> Any:
        return (
            CodedSequence(self._words, self._numbers[at])
            if isinstance(at, slice)
            else self._words[self._numbers.item(at)]
        )

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[T]:
        return map(self._words.__getitem__, self._numbers.tolist())


class IndexedCodedSequence(CodedSequence[T]):
    """The same of words whose numbers are known, so that nobody need spell all of them to find one."""

    __slots__ = ("_number_of",)

    def __init__(self, words: Sequence[T], numbers: NDArray[np.integer], number_of: Mapping[T, int]) -> None:
        super().__init__(words, numbers)
        self._number_of = number_of

    def among(self, wanted: Iterable[T]) -> NDArray[np.bool_] | None:
        """Which of them are wanted; None where none of these words was ever told."""
        known = [self._number_of[one] for one in wanted if one in self._number_of]
        return np.isin(self._numbers, known) if known else None


def mask_members(words: Sequence[T], wanted: Collection[T]) -> NDArray[np.bool_] | None:
    """Which of these words are wanted, None if surely none is.

    >>> mask_members(["Ana", None, "Ben"], {"Ben"}).tolist(), mask_members(["Ana", None], {"Ben"})
    ([False, False, True], None)
    """
    if isinstance(words, IndexedCodedSequence):
        return words.among(wanted)
    return None if set(wanted).isdisjoint(words) else np.array([one in wanted for one in words], np.bool_)


class IdSource(Protocol):
    """Where ids are kept as text, by place."""

    def ids(self, places: NDArray[np.integer]) -> list[str]: ...


class IdTable:
    """Where facts stand, as long as none of them moves: a place is one fact, and a fact has one place. `table` has their ids as bytes.

    It does not keep their home, which is a whole index, from going away.
    """

    __slots__ = ("_home", "table")

    def __init__(self, home: IdSource, table: NDArray[np.bytes_]) -> None:
        self._home, self.table = ref(home), table

    def ids(self, places: PlaceArray) -> list[str]:
        """The ids at these places."""
        home = self._home()
        return decode_ids(self.table[places]) if home is None else home.ids(places)


class LazyIds(LazySequence[str]):
    """The ids of facts that are known by their places. Compiled code that compares them keeps how it reads them `in_c`."""

    __slots__ = ("ground", "in_c", "places")

    def __init__(self, ground: IdTable, places: PlaceArray) -> None:
        self.ground, self.places = ground, places
        self.in_c: Any = None

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return LazyIds(self.ground, self.places[at])
        return self.ground.table[self.places[at]].decode("ascii")

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ground.ids(self.places))

    def __reduce__(self) -> tuple[type[tuple[str, ...]], tuple[tuple[str, ...]]]:
        # A copy has the ids alone: their ground is that of a whole index, which cannot go along.
        return tuple, (tuple(self),)

    @property
    def table(self) -> NDArray[np.bytes_]:
        """The ids of all, as bytes by place."""
        return self.ground.table


class DecodedIds(LazyIds):
    """The same of facts whose ids are spelled already; a store that is asked for them need not look for their places."""

    __slots__ = ("_spelled",)

    def __init__(self, ground: IdTable, places: PlaceArray, spelled: list[str]) -> None:
        super().__init__(ground, places)
        self._spelled = spelled

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return DecodedIds(self.ground, self.places[at], self._spelled[at])
        return self._spelled[at]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spelled)


def merge_ids(parts: Iterable[Collection[str]], *, but: Collection[str] = ()) -> Sequence[str]:
    """The ids of several, each once, in their order, without those that are left out. Spelled ones of one ground keep their places.

    >>> merge_ids([["a", "b"], ["b", "c"]], but={"a"})
    ('b', 'c')
    """
    some = [part for part in parts if part]
    spelled = [part for part in some if isinstance(part, DecodedIds)]
    if len(spelled) < len(some) or len({part.ground for part in spelled}) != 1:
        return tuple(dict.fromkeys([id for part in some for id in part if id not in but]))
    told = zip(chain.from_iterable(spelled), chain.from_iterable(part.places.tolist() for part in spelled), strict=True)
    found = {id: place for id, place in told if id not in but} if but else dict(told)
    return DecodedIds(spelled[0].ground, np.fromiter(found.values(), np.int64, len(found)), list(found))


def decode_ids(ids: NDArray[np.bytes_]) -> list[str]:
    """Ids as text. Cutting one text is faster than decoding many; an id that is shorter than others is filled up.

    >>> decode_ids(np.array([b"a", b"bc"]))
    ['a', 'bc']
    """
    text, width = ids.tobytes().decode("ascii"), ids.itemsize
    found = [text[at : at + width] for at in range(0, len(text), width)]
    return [id.rstrip("\0") for id in found] if "\0" in text else found
