"""Migrate stored terms of facts, descriptions and word statistics to today's tokenisation."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import apsw
import numpy as np

from cofire.index.terms import PackedTerms, add_description_terms, is_tokenised_differently, retokenise_fact
from cofire.model import Fact
from cofire.text.descriptions import max_term_counts

_SELECT_FACTS = "SELECT key, id, scope, text, subject, terms, counts, places FROM facts"
_SELECT_TAGS = "SELECT tag FROM tags WHERE fact = ?"
_UPDATE_FACT_TERMS = "UPDATE facts SET terms = ?, counts = ?, length = length + ?, places = ? WHERE key = ?"
_SELECT_STATISTICS = "SELECT scope, counted_to, length, terms, holding FROM word_statistics"
_UPDATE_STATISTICS = (
    "UPDATE word_statistics SET version = version + 1, length = ?, terms = ?, holding = ? WHERE scope = ?"
)
_SELECT_DESCRIPTIONS = "SELECT key, text, terms, counts FROM descriptions WHERE fact = ? ORDER BY key"
_SELECT_DESCRIBED_FACTS = "SELECT DISTINCT fact FROM descriptions"


class _StatisticsGrowth:
    """What the facts of a scope gained: words in all, and facts by new term, of those that were counted."""

    def __init__(self) -> None:
        self.length = 0
        self.holding: dict[int, int] = defaultdict(int)


def retokenise_file(connection: apsw.Connection) -> None:
    """Reword all facts and descriptions. Snapshots of the index are dropped, since they hold the words as they were."""
    counted_to: dict[int, int] = {scope: last for scope, last, *_ in connection.execute(_SELECT_STATISTICS)}
    growth: dict[int, _StatisticsGrowth] = defaultdict(_StatisticsGrowth)
    changed = 0
    for row in connection.cursor().execute(_SELECT_FACTS):
        added, new_terms = _retokenise_fact(connection, row)
        changed += bool(new_terms)
        key, _, scope, *_ = row
        if key <= counted_to.get(scope, 0):
            growth[scope].length += added
            for number in new_terms:
                growth[scope].holding[number] += 1
    _update_statistics(connection, growth)
    changed += _retokenise_descriptions(connection)
    if changed:
        connection.execute("DELETE FROM snapshot_parts; DELETE FROM snapshots")


def _retokenise_fact(connection: apsw.Connection, row: tuple[Any, ...]) -> tuple[int, set[int]]:
    """Store the words of a fact anew; what that adds to its length, and the terms that are new."""
    key, id, _, text, subject, terms, counts, places = row
    tags = [tag for (tag,) in connection.execute(_SELECT_TAGS, (key,))]
    if not is_tokenised_differently(text, subject, *tags):
        return 0, set()
    reworded = retokenise_fact(
        Fact(id=id, text=text, subject=subject).reading, tags, PackedTerms(terms, counts), places
    )
    if reworded is None:
        return 0, set()
    held = reworded.held
    connection.execute(_UPDATE_FACT_TERMS, (held.terms, held.counts, reworded.added, reworded.places, key))
    return reworded.added, set(array("q", held.terms)) - set(array("q", terms))


def _retokenise_descriptions(connection: apsw.Connection) -> int:
    """Store the words of descriptions anew; how many facts have others now."""
    changed = 0
    for (fact,) in connection.execute(_SELECT_DESCRIBED_FACTS).fetchall():
        descriptions: list[Any] = connection.execute(_SELECT_DESCRIPTIONS, (fact,)).fetchall()
        texts = [str(text) for _, text, _, _ in descriptions]
        if not is_tokenised_differently(*texts):
            continue
        key, _, terms, counts = descriptions[-1]
        held = add_description_terms(PackedTerms(terms, counts), max_term_counts(texts))
        if held.terms != terms:
            connection.execute(
                "UPDATE descriptions SET terms = ?, counts = ? WHERE key = ?", (held.terms, held.counts, key)
            )
            changed += 1
    return changed


def _update_statistics(connection: apsw.Connection, growth: Mapping[int, _StatisticsGrowth]) -> None:
    rows: list[Any] = connection.execute(_SELECT_STATISTICS).fetchall()
    for scope, _, length, stored_terms, stored_holding in rows:
        grown = growth.get(scope)
        if grown is None or not grown.holding:
            continue
        holding = dict(zip(array("q", stored_terms), array("i", stored_holding), strict=True))
        for number, facts in grown.holding.items():
            holding[number] = holding.get(number, 0) + facts
        terms = np.array(sorted(holding), np.int64)
        numbers = np.array([holding[number] for number in terms.tolist()], np.int32)
        values = (length + grown.length, terms.tobytes(), numbers.tobytes(), scope)
        connection.execute(_UPDATE_STATISTICS, values)
