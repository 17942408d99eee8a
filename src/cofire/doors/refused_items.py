"""Refused items of `remember` as the interfaces report them, without the hint for Python."""

from __future__ import annotations

from cofire.errors import CofireError


def refusal_in_words(error: CofireError, count: int) -> CofireError:
    """The error of `remember` without its hint for Python, with the place of the refused item if there are several.

    >>> from cofire.errors import InvalidFact
    >>> inner = InvalidFact("The text of the fact is empty.", way_out="Say what to remember.")
    >>> outer = InvalidFact("Fact 2: …", way_out="…")
    >>> outer.index, outer.__cause__ = 1, inner
    >>> print(refusal_in_words(outer, 3))
    Fact 2: The text of the fact is empty. Nothing was stored. Say what to remember.
    """
    refusal = error.__cause__
    if error.index is None or not isinstance(refusal, CofireError):
        return error
    if count == 1:
        return refusal
    problem = f"Fact {error.index + 1}: {refusal.problem} Nothing was stored."
    return type(refusal)(problem, way_out=refusal.way_out)
