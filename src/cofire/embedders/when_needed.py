"""Something costly that is made when it is first needed, by one thread only, and can be let go of."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class WhenNeeded(Generic[T]):
    """
    >>> numbers = WhenNeeded(lambda: [1, 2])
    >>> numbers.get() is numbers.get()
    True
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._making = Lock()
        self._made: T | None = None

    def get(self) -> T:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def let_go(self) -> T | None:
        """What was made, for closing, or None; the next need makes it anew."""
        with self._making:
            made, self._made = self._made, None
            return made
