"""Rewording: add the words that today's tokenisation finds in a text to those a fact was stored with. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cofire.reading.sentences import sentences
from cofire.reading.words import all_spellings, counted, places, words
from cofire.stores.index.terms import Held, packed_places, with_words

# Texts that were read otherwise before elisions and second spellings were known.
_READ_OTHERWISE = re.compile("['’ʼ＇äöüøåÄÖÜØÅ\u0308\u030a]")


@dataclass(frozen=True, slots=True)
class Reworded:
    """The words of a fact as they are stored, with how many were added to its length, and the sentences they stand in."""

    held: Held
    added: int
    places: bytes
    tokens: tuple[str, ...]


def is_read_otherwise(*texts: str | None) -> bool:
    return any(text is not None and _READ_OTHERWISE.search(text) for text in texts)


def reword(reading: str, tags: Iterable[str], stored: Held, stored_places: bytes) -> Reworded | None:
    """What a fact is stored with from now on; None where nothing changes. Words that it was found by stay."""
    counts = counted(all_spellings(reading))
    for tag in tags:
        for word in words(tag):
            counts.setdefault(word, 1)
    held, added = with_words(stored, counts)
    if not added:
        return None
    new_places = packed_places(places(sentences(reading))) if stored_places else b""
    return Reworded(held, added, new_places, tuple(counts))
