"""Errors of single facts in a batch, and the progress of long work."""

from __future__ import annotations

from typing import Protocol

from cofire.errors import CofireError


def translate_item_error(error: CofireError, count: int) -> CofireError:
    """The cause of an error of `remember`, with the position of the rejected fact if there are several.

    >>> from cofire.errors import InvalidFact
    >>> inner = InvalidFact("The text of the fact is empty.", way_out="Say what to remember.")
    >>> outer = InvalidFact("Fact 2: …", way_out="…")
    >>> outer.index, outer.__cause__ = 1, inner
    >>> print(translate_item_error(outer, 3))
    Fact 2: The text of the fact is empty. Nothing was stored. Say what to remember.
    """
    cause = error.__cause__
    if error.index is None or not isinstance(cause, CofireError):
        return error
    if count == 1:
        return cause
    problem = f"Fact {error.index + 1}: {cause.problem} Nothing was stored."
    return type(cause)(problem, way_out=cause.way_out)


class WorkProgress(Protocol):
    """The progress of a long operation."""

    @property
    def doing(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...
