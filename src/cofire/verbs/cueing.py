"""Cueing: words as an index hears them, weighted by their rarity. Asks for nothing."""

from __future__ import annotations

from collections.abc import Mapping

from cofire.dynamics import bm25
from cofire.settings import KEYWORD_B, KEYWORD_K1, Settings
from cofire.stores.base import WordCue, WordStatistics


def word_cue(
    often: Mapping[str, int], statistics: WordStatistics, settings: Settings, *, hint_weight: float
) -> WordCue:
    """Each word weighted by its rarity; a word said twice counts twice. The statistics are of these words, in their order."""
    weights = tuple(
        count * bm25.rarity(statistics.facts, holding)
        for count, holding in zip(often.values(), statistics.holding, strict=True)
    )
    constants = (statistics.mean_length, settings[KEYWORD_K1], settings[KEYWORD_B], hint_weight)
    return WordCue(tuple(often), weights, *constants)
