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
    """A thread that dreams when the inbox is due. A failed dream is logged and tried again."""

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

    def run_if_due(self) -> bool:
        """Dream if due. Returns whether it was."""
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
        """Stop the thread after the dream it is in."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _is_due(self, waiting: int) -> bool:
        enough = bool(self._after_facts) and waiting >= self._after_facts
        assert self._since is not None, "the inbox is not empty"
        long_enough = bool(self._after) and self._clock() - self._since >= self._after
        return enough or long_enough

    def _watch(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            try:
                self.run_if_due()
            except Exception as error:  # noqa: BLE001 - the next try may work
                _log_failure("A dream in the background failed", error)


class BackgroundCurator:
    """A thread that curates at an interval in hours. A failed run is logged; the next one is due
    after another interval."""

    def __init__(self, *, curate: Callable[[], object], clock: Callable[[], datetime], every_hours: float) -> None:
        self._curate, self._clock, self._every = curate, clock, timedelta(hours=every_hours)
        self._last = clock()
        self._stop = Event()
        self._thread = Thread(target=self._watch, name="cofire curates", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def run_if_due(self) -> bool:
        """Curate if due. Returns whether it was."""
        now = self._clock()
        if now - self._last < self._every:
            return False
        self._last = now
        self._curate()
        return True

    def close(self) -> None:
        """Stop the thread after the run it is in."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            try:
                self.run_if_due()
            except Exception as error:  # noqa: BLE001 - the next try may work
                _log_failure("Curating in the background failed", error)


def _log_failure(what: str, error: Exception) -> None:
    """One line for an error that says what to do; a traceback for any other."""
    _log.warning("%s: %s", what, error, exc_info=not isinstance(error, CofireError))
