"""Time words: whether a text speaks of a time at all. Quicker and looser than reading which."""

from __future__ import annotations

import re

_TIME_WORDS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december|morning|recently|summer|winter"
    r"|spring|20\d\d|since|\d{1,2}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)


def speaks_of_time(text: str) -> bool:
    """Whether a word of time stands in a text.

    >>> speaks_of_time("We met last Friday."), speaks_of_time("We met.")
    (True, False)
    """
    return _TIME_WORDS.search(text) is not None
