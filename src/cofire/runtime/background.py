"""Threads that dream and curate in the background when due."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event, Thread

from cofire.errors import CofireError

POLL_SECONDS = 1.0

_log = logging.getLogger("cofire")


class BackgroundDreamer:
    """A thread that looks at the inbox now and then, and dreams when it is due. A dream that fails is logged and tried again."""

    def __init__(
        self,
        *,
        waiting: Callable[[], int],
        dream: Callable[[], object],
        clock: Callable[[], datetime],
        after_facts: int,
        after_minutes: float,
    ) -> None:
        self._waiting, self._dream, self._clock = waiting, dream, clock
        self._after_facts, self._after = after_facts, timedelta(minutes=after_minutes)
        self._since: datetime | None = None
        self._stop = Event()
        self._thread = Thread(target=self._watch, name="cofire dreams", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def look(self) -> bool:
        """Dream if it is due; tells whether it was."""
        waiting = self._waiting()
        if not waiting:
            self._since = None
            return False
        self._since = self._since or self._clock()
        if not self._is_due(waiting):
            return False
        self._dream()
        self._since = None
        return True

    def close(self) -> None:
        """Stop looking; a dream that is under way is finished first."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _is_due(self, waiting: int) -> bool:
        enough = bool(self._after_facts) and waiting >= self._after_facts
        assert self._since is not None, "something is waiting since some moment"
        long_enough = bool(self._after) and self._clock() - self._since >= self._after
        return enough or long_enough

    def _watch(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - the next try may do better, and without the thread there is none
                _log_failure("A dream in the background failed", error)


class BackgroundCurator:
    """A thread that curates every so many hours. One that fails is logged and tried again when the time has passed once more."""

    def __init__(self, *, curate: Callable[[], object], clock: Callable[[], datetime], every_hours: float) -> None:
        self._curate, self._clock, self._every = curate, clock, timedelta(hours=every_hours)
        self._last = clock()
        self._stop = Event()
        self._thread = Thread(target=self._watch, name="cofire curates", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def look(self) -> bool:
        """Curate if it is due; tells whether it was."""
        now = self._clock()
        if now - self._last < self._every:
            return False
        self._last = now
        self._curate()
        return True

    def close(self) -> None:
        """Stop looking; what is under way is finished first."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - the next try may do better, and without the thread there is none
                _log_failure("Curating in the background failed", error)


def _log_failure(what: str, error: Exception) -> None:
    """One line on an error that says by itself what to do; of any other, also where it comes from."""
    _log.warning("%s: %s", what, error, exc_info=not isinstance(error, CofireError))
