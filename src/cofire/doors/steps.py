"""Steps: how far long work has come, as every door that tells of it hears it."""

from __future__ import annotations

from typing import Protocol


class Step(Protocol):
    """How far a piece of work has come."""

    @property
    def doing(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...
