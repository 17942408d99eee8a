"""Reports shared by the CLI, HTTP and MCP interfaces: progress of long work, refused facts."""

from __future__ import annotations

from typing import Protocol

from cofire.errors import CofireError


def translate_item_error(error: CofireError, count: int) -> CofireError:
    """The error of `remember` without its hint for Python, with the place of the refused item if there are several.

    >>> from cofire.errors import InvalidFact
    >>> inner = InvalidFact("The text of the fact is empty.", way_out="Say what to remember.")
    >>> outer = InvalidFact("Fact 2: …", way_out="…")
    >>> outer.index, outer.__cause__ = 1, inner
    >>> print(translate_item_error(outer, 3))
    Fact 2: The text of the fact is empty. Nothing was stored. Say what to remember.
    """
    refusal = error.__cause__
    if error.index is None or not isinstance(refusal, CofireError):
        return error
    if count == 1:
        return refusal
    problem = f"Fact {error.index + 1}: {refusal.problem} Nothing was stored."
    return type(refusal)(problem, way_out=refusal.way_out)


class WorkProgress(Protocol):
    """How far a piece of work has come."""

    @property
    def doing(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...
