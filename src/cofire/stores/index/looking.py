"""Looking at facts by position: what scoring needs of them, and where the names they hold lead. Arrays only; knows nothing of SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.dynamics.likeness import VectorRows
from cofire.dynamics.runs import stretched
from cofire.kernels import names as compiled
from cofire.kernels.library import LIBRARY
from cofire.kernels.names import Paths
from cofire.kernels.words import Gathered, asked_words
from cofire.stores import linking
from cofire.stores.base import Evidence
from cofire.stores.index.columns import Mask
from cofire.stores.index.index import Index
from cofire.stores.index.key_arrays import among
from cofire.stores.index.moments import FAR, stamp
from cofire.stores.index.names import Names
from cofire.stores.index.postings import counts_at
from cofire.stores.index.terms import ASKS, TIMED, hint, term

Positions = NDArray[np.int64]

# Of a term that more facts hold than this, the few rows are looked for one by one.
CROWDED = 8_192


def evidence(
    index: Index,
    positions: Positions,
    words: Sequence[str],
    *,
    ids: Sequence[str],
    reach: int,
    near: int,
    stored: Callable[[Positions], VectorRows],
) -> Evidence:
    """What scoring needs of these facts and of the turns around them. `ids` are those of all that were asked for."""
    found = gathered(index, positions, words, reach=reach, near=near)
    first = found.rows[: found.first]
    return Evidence(
        ids=tuple(ids) if len(ids) == len(positions) else ids_of(index, positions),
        stored=stored(first),
        embedded=index.columns["embedded"][first],
        counts=found.counts,
        lengths=found.lengths,
        hints=found.hints,
        around=found.around,
        times=index.columns["time"][positions] / 1e6,
        asks=found.bears[0],
        timed=found.bears[1],
        speakers=index.voices.named(index.columns["speaker"][positions]),
    )


def gathered(index: Index, positions: Positions, words: Sequence[str], *, reach: int, near: int) -> Gathered:
    """Facts and the turns around them as rows, how often each holds each word, and which facts ask or speak of a time."""
    terms, hinted = tuple(map(term, words)), tuple(map(hint, words))
    # For a few facts alone it does not pay to bring all postings into the form that compiled code reads.
    if LIBRARY is not None and (words or reach):
        return index.holdings().gather(asked_words(terms, hinted), positions, (ASKS, TIMED), reach, near)
    turns = index.turns.around(positions, reach)
    first = rows = positions
    # By position, which row it is; -1 for all others, and at the end for turns that are not there.
    row_of = np.full(index.columns.size + 1, -1, np.int32)
    row_of[positions] = np.arange(len(positions), dtype=np.int32)
    if (turns >= 0).any():
        first = _with_others(row_of, positions, np.hstack([turns[:, :near], turns[:, reach : reach + near]]))
        rows = _with_others(row_of, first, turns)
    held = _counts([*index.postings.find_each(terms), *index.hints.find_each(hinted)], rows, row_of)
    hints = held[: len(positions), len(words) :]
    lengths = index.columns["length"][rows].astype(np.float32)
    bears = np.stack([index.postings.holds(mark, positions) for mark in (ASKS, TIMED)])
    return Gathered(rows, len(first), lengths, row_of[turns], held[:, : len(words)], hints, bears)


def closest_in_time(index: Index, spans: Sequence[tuple[datetime, datetime]], admitted: Mask, k: int) -> Positions:
    """Facts inside one of these spans, or closest to it; of equals by content."""
    positions = np.flatnonzero(admitted) if spans else np.zeros(0, np.int64)
    away = np.full(len(positions), FAR, np.int64)
    for start, end in spans:
        told = index.columns["time"][positions]
        away = np.minimum(away, np.maximum(0, np.maximum(stamp(start) - told, told - stamp(end))))
    order = np.lexsort((index.columns["hash"][positions], away))[:k]
    return positions[order]


def ids_of(index: Index, positions: Positions) -> tuple[str, ...]:
    return tuple(index.columns.ids(positions))


def others(found: NDArray[Any], known: Positions) -> Positions:
    """Those found that are not known yet, each once, in their order."""
    found = _distinct(found)
    return found[~among(known, found)]


def _with_others(row_of: NDArray[np.int32], rows: Positions, found: NDArray[np.int32]) -> Positions:
    """The rows, and after them those found that are none yet, each once; -1 is nobody. `row_of` is told of them."""
    new = found[(row_of[found] < 0) & (found >= 0)]
    # Whoever stands there several times is told by the last.
    row_of[new] = turn = np.arange(len(new), dtype=np.int32)
    new = new[row_of[new] == turn]
    row_of[new] = np.arange(len(rows), len(rows) + len(new), dtype=np.int32)
    return np.concatenate([rows, new])


def _counts(
    held: Sequence[tuple[NDArray[np.int32], NDArray[np.uint16]]], rows: Positions, row_of: NDArray[np.int32]
) -> NDArray[np.float32]:
    """How often each term occurs in each row, from the postings of each."""
    table = np.zeros((len(rows), len(held)), np.float32)
    few = [column for column, (positions, _) in enumerate(held) if 0 < len(positions) <= CROWDED]
    if few:
        found = row_of[np.concatenate([held[column][0] for column in few])]
        there = np.flatnonzero(found >= 0)
        columns = np.repeat(few, [len(held[column][0]) for column in few])
        table[found[there], columns[there]] = np.concatenate([held[column][1] for column in few])[there]
        # Of rows that are asked for twice, the last was filled in.
        table = table[row_of[rows]]
    # Of the kind of the postings, which are many, so that nobody has to copy them for comparing.
    wanted = rows.astype(np.int32)
    for column, (positions, counts) in enumerate(held):
        if len(positions) > CROWDED:
            table[:, column] = counts_at(wanted, positions, counts)
    return table


def paths(index: Index, seeds: Positions, admitted: Mask, common: int, most: int) -> Paths:
    """From facts, none of them twice, over their names to others."""
    if LIBRARY is not None:
        return _compiled_paths(index, seeds, admitted, common, most)
    holder, name, sentences, own, sure = _held(index, seeds)
    names = _distinct(name)
    which = names.searchsorted(name)
    places, positions, strength, count = _holders(index, names, admitted, common, most)
    starts = places.searchsorted(np.arange(len(names) + 1))
    step, link = stretched(starts[which], starts[which + 1] - starts[which])
    away = positions[link] != seeds[holder[step]]
    step, link = step[away], link[away]
    target = positions[link]
    there = index.mentions.sentences(target, name[step])
    positions, rows = _numbered(seeds, target)
    return Paths(positions, holder, name, count[which], sentences, own, sure, step, rows, strength[link], there)


def _compiled_paths(index: Index, seeds: Positions, admitted: Mask, common: int, most: int) -> Paths:
    """The same by compiled code."""
    columns, (mentions, subjects) = index.columns, index.names_in_c()
    facts = columns["alive"], admitted, columns["hash"], index.marks()
    room = index.paths_room or compiled.Room(compiled.STEPS, compiled.LINKS)
    led, index.paths_room = compiled.paths(
        mentions, subjects, seeds, facts, room, common=common, most=most, leading=linking.MOST_LEADING
    )
    return led


def _numbered(seeds: Positions, target: Positions) -> tuple[Positions, NDArray[np.int64]]:
    """All facts on paths, the seeds first, and the rows of the targets among them."""
    positions = np.concatenate([seeds, others(target, seeds)])
    order = np.argsort(positions)
    return positions, order[np.searchsorted(positions[order], target)] if len(target) else target


def _held(index: Index, seeds: Positions) -> tuple[Any, Any, Any, Any, Any]:
    """The names of each seed: mentioned, or its subject, or both."""
    mentions, subjects = index.mentions.held_by(seeds), index.subjects.held_by(seeds)
    told, meant = mentions.owner << 32 | mentions.name, subjects.owner << 32 | subjects.name
    pairs = _distinct(np.concatenate([told, meant]))
    sentences, own, sure = np.zeros(len(pairs), np.int64), np.zeros(len(pairs)), np.zeros(len(pairs))
    at = np.searchsorted(pairs, told)
    sentences[at], sure[at] = mentions.sentences, mentions.strength
    own[np.searchsorted(pairs, meant)] = subjects.strength
    return pairs >> 32, pairs & 0xFFFFFFFF, sentences, own, np.maximum(sure, own)


def _holders(
    index: Index, names: NDArray[np.int64], admitted: Mask, common: int, most: int
) -> tuple[Any, Any, Any, Any]:
    """Who may be led to by each name, in the order of names, and how many hold it."""
    about, strengths, many = _living(index, index.subjects, names)
    told, _, more = _living(index, index.mentions, names)
    pairs = np.concatenate([about, told[~among(about, told)]])
    strength = np.zeros(len(pairs))
    strength[: len(about)] = strengths
    places, positions = pairs >> 32, pairs & 0xFFFFFFFF
    count = np.bincount(places, minlength=len(names))
    for at in {*many, *more}:
        count[at] = _counted(index, int(names[at]))
    open_ = admitted[positions] & ((strength > 0) | (count[places] <= common))
    return (*_strongest(index, places[open_], positions[open_], strength[open_], most), count)


def _living(index: Index, kind: Names, names: NDArray[np.int64]) -> tuple[Any, Any, list[int]]:
    """Who holds these names, of those that are there: the place of the name and the position in one number, and the strength; and
    the places of names that too many hold, who are left out."""
    alive, too_many = index.columns["alive"], []
    places, positions, strengths, sizes = kind.all_holders(names, linking.MOST_LEADING)
    # Of what postings tell, some may be dead.
    for at in np.flatnonzero(sizes > linking.MOST_LEADING).tolist():
        more, by = kind.holders(int(names[at]))
        if np.count_nonzero(alive[more]) > linking.MOST_LEADING:
            too_many.append(at)
        else:
            places, positions = np.concatenate([places, np.full(len(more), at)]), np.concatenate([positions, more])
            strengths = np.concatenate([strengths, by])
    living = alive[positions]
    return (places << 32 | positions)[living], strengths[living], too_many


def _counted(index: Index, name: int) -> int:
    """How many facts hold a name, one way or the other."""
    held = np.zeros(index.columns.size, np.bool_)
    for kind in (index.mentions, index.subjects):
        held[kind.holders(name)[0]] = True
    return int(np.count_nonzero(held & index.columns["alive"]))


def _distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sorted, each once."""
    numbers = np.sort(numbers)
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers


def _strongest(index: Index, places: Any, positions: Any, strength: Any, most: int) -> tuple[Any, Any, Any]:
    """At most so many a name: those most about it, then by content, so that no age is favoured."""
    order = np.lexsort((index.columns["hash"][positions], -strength, places))
    places, positions, strength = places[order], positions[order], strength[order]
    rank = np.arange(len(places)) - np.searchsorted(places, places)
    kept = rank < most
    return places[kept], positions[kept], strength[kept]


def holding_all(index: Index, scope: int, terms: Sequence[int], besides: int | None) -> Positions:
    """Who in a scope holds all of these terms, except those who mention a name, given by its key."""
    if not terms:
        return np.zeros(0, np.int64)
    rarest, *others = sorted(terms, key=lambda number: len(index.postings.find(number)[0]))
    found, _ = index.postings.find(rarest)
    for number in others:
        found = found[index.postings.holds(number, found)]
    if besides is not None and len(found):
        found = found[~among(index.mentions.holders(besides)[0].astype(np.int64), found.astype(np.int64))]
    columns = index.columns
    return np.asarray(found[columns["alive"][found] & (columns["scope"][found] == scope)], np.int64)


def owners(index: Index, names: Sequence[int], admitted: Mask, most: int) -> list[dict[str, float]]:
    """Who is about each of these names, the strongest first; of equals by content."""
    if not names:
        return []
    found: list[dict[str, float]] = [{} for _ in names]
    places, positions, strengths = (_compiled_owners if LIBRARY is not None else _owners)(index, names, admitted, most)
    for place, id, strength in zip(places.tolist(), ids_of(index, positions), strengths.tolist(), strict=True):
        found[place][id] = strength
    return found


def _owners(index: Index, names: Sequence[int], admitted: Mask, most: int) -> tuple[Any, Any, Any]:
    """The place of the name, the position and the strength of each."""
    places, positions, strengths, _ = index.subjects.all_holders(np.array(names, np.int64), index.columns.size)
    kept = admitted[positions]
    return _strongest(index, places[kept], positions[kept], strengths[kept], most)


def _compiled_owners(index: Index, names: Sequence[int], admitted: Mask, most: int) -> tuple[Any, Any, Any]:
    """The same by compiled code."""
    columns, (_, subjects) = index.columns, index.names_in_c()
    return compiled.owners(subjects, names, (columns["alive"], admitted, columns["hash"], index.marks()), most)
