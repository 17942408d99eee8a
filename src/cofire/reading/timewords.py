"""Time words: whether a text speaks of a time at all. Quicker and looser than reading which."""

from __future__ import annotations

import re

_DAYS = [*range(100), *(f"{day:02}" for day in range(10))]
_TIME_WORDS = frozenset(
    [
        *"""yesterday today tonight tomorrow last next ago week weekend month year monday tuesday wednesday thursday friday
        saturday sunday january february march april june july august september october november december morning recently
        summer winter spring since""".split(),
        *(f"20{year:02}" for year in range(100)),
        *(f"{day}{ending}" for day in _DAYS for ending in ("st", "nd", "rd", "th")),
    ]
)
_WORD = re.compile(r"\w+")


def speaks_of_time(text: str) -> bool:
    """Whether a word of time stands in a text.

    >>> speaks_of_time("We met last Friday."), speaks_of_time("We met.")
    (True, False)
    """
    return not _TIME_WORDS.isdisjoint(_WORD.findall(text.lower()))
