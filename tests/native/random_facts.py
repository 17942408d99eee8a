"""Random facts: indexes in which facts come in batches, change, die, are archived, described, named and told in sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from cofire.embedders.base import Model, StoredModel
from cofire.index import postings, snapshot
from cofire.index.fact_index import FactIndex, IndexRow
from cofire.index.names import NO_NAME_ENTRIES
from cofire.index.names import NameEntries as HeldNames
from cofire.index.terms import QUESTION_TERM, TIME_TERM, PackedTerms, add_description_terms, hash_mark, pack_terms
from tests.stores.making import everywhere

WORDS = tuple(f"word{number}" for number in range(12))
UNKNOWN = "unheard-of"
SESSIONS = (None, "morning", "noon", "night")
DIMENSION = 70
MODEL = StoredModel(Model("chance", DIMENSION), np.full(DIMENSION, 0.03, np.float32), (0.0, 0.2))
NAMES = 9
NOBODY_DESCRIBED = PackedTerms(b"", b"")
MOST_COUNTED = 65_535


@dataclass(frozen=True)
class Story:
    """How an index comes to be: by what chance, in how many batches of how many facts, in how many scopes, with how short a tail of
    postings, whether there are sessions, descriptions and vectors, and what it goes through in the midst of it."""

    seed: int
    batches: int
    facts: int
    scopes: int
    tail: int
    sessions: bool
    described: bool
    embedded: bool
    midway: str = "nothing"


def stories(*, facts: int = 12) -> st.SearchStrategy[Story]:
    return st.builds(
        Story,
        seed=st.integers(0, 2**32 - 1),
        batches=st.integers(0, 6),
        facts=st.integers(1, facts),
        scopes=st.integers(1, 3),
        tail=st.sampled_from([8, 64, postings.TAIL_SIZE]),
        sessions=st.booleans(),
        described=st.booleans(),
        embedded=st.booleans(),
        midway=st.sampled_from(["nothing", "compacted", "from a snapshot"]),
    )


@contextmanager
def tail_of(size: int) -> Iterator[None]:
    """With a shorter tail a few postings make several segments."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "TAIL_SIZE", size)
        yield


def told(story: Story) -> FactIndex:
    """The index of a story at its end."""
    *_, index = telling(story)
    return index


def telling(story: Story) -> Iterator[FactIndex]:
    """The index of a story at its beginning and after each batch. Of the facts that are known, some change with each and some die."""
    chance = np.random.default_rng(story.seed)
    index = FactIndex(MODEL if story.embedded else None)
    known: set[int] = set()
    # A tail made while it is short must not be added to when it may be long.
    with tail_of(story.tail):
        yield index
        for batch in range(story.batches):
            index.change(*_news(chance, story, known, 1 + batch * story.facts))
            if batch == story.batches // 2:
                index = MIDWAY[story.midway](index)
            yield index


def _compacted(index: FactIndex) -> FactIndex:
    index.compact()
    return index


def _from_snapshot(index: FactIndex) -> FactIndex:
    """Its arrays lie at any address then, and nobody may write to them."""
    return FactIndex.from_arrays(index.model, snapshot.join_arrays(snapshot.split_arrays(index.arrays())))


MIDWAY = {"nothing": lambda index: index, "compacted": _compacted, "from a snapshot": _from_snapshot}


def _news(
    chance: Generator, story: Story, known: set[int], first: int
) -> tuple[list[IndexRow], list[int], HeldNames, HeldNames, dict[int, PackedTerms]]:
    new = range(first, first + story.facts)
    some = [int(key) for key in chance.permutation(sorted(known))[: chance.integers(4)]]
    gone, changed = some[:1], some[1:]
    rows = [row(chance, story, key) for key in (*changed, *new)]
    known.difference_update(gone)
    known.update(new)
    hints = {key: hinted(chance) for key in sorted(known) if story.described and chance.random() < 0.3}
    return rows, gone, names(chance, len(rows), 0.4), names(chance, len(rows), 0.2), hints


def row(chance: Generator, story: Story, key: int) -> IndexRow:
    """A fact as the index sees it."""
    counts = _counts(chance)
    session = SESSIONS[chance.integers(len(SESSIONS))] if story.sessions else None
    marks = [number for number in (QUESTION_TERM, TIME_TERM) if chance.random() < 0.3] + (
        [hash_mark("session", session)] if session else []
    )
    vector = chance.standard_normal(DIMENSION).astype(np.float16).tobytes() if chance.random() < 0.8 else None
    return IndexRow(
        key=key,
        id=f"{key:026}",
        scope=int(chance.integers(1, story.scopes + 1)),
        time=int(chance.integers(1_000)),
        stored=key,
        starts=None,
        ends=None,
        length=int(chance.integers(60)),
        archived=bool(chance.random() < 0.1),
        held=pack_terms(counts, marks),
        vector=vector if story.embedded else None,
        hash=chance.bytes(16),
        session=session,
        turn=key,
        speaker=[None, "ana", "ben"][chance.integers(3)],
    )


def _counts(chance: Generator) -> dict[str, int]:
    """How often a fact holds words: the first are common, the last are rare."""
    held = [word for place, word in enumerate(WORDS) if chance.random() < 0.8 / (1 + place / 2)]
    return {word: MOST_COUNTED if chance.random() < 0.03 else int(chance.integers(1, 5)) for word in held}


def hinted(chance: Generator) -> PackedTerms:
    return add_description_terms(NOBODY_DESCRIBED, _counts(chance))


def names(chance: Generator, rows: int, share: float) -> HeldNames:
    """Names that facts hold: each of a few with a chance, surely or not, in up to 32 sentences."""
    owner, name = np.nonzero(chance.random((rows, NAMES)) < share)
    if not len(owner):
        return NO_NAME_ENTRIES
    return HeldNames(owner, name, chance.integers(1, 11, len(owner)) / 10, chance.integers(0, 2**32, len(owner)))


def admitted(index: FactIndex, scope: int | None) -> NDArray[np.bool_]:
    """Who may be found, in one scope or in all."""
    return index.admitted(everywhere(), None if scope is None else [scope])
