"""The log of shown recalls in every store: when it is written, what exposure teaches, and judged recalls."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock
from typing import Any

from cofire.algorithms import reinforcement
from cofire.index.timestamps import DISTANT_PAST, to_microseconds
from cofire.stores.learning_rows import (
    HEBBIAN_KIND,
    EdgeAdjustment,
    JudgedRecall,
    LoggedRecall,
    RecallLogOptions,
)

# Recalls that wait at most while another process keeps the store busy; older ones are dropped.
MAX_WAITING_RECALLS = 1_024
# The tables of exposure are cut to these sizes once in so many recalls.
RECALLS_PER_CLEANUP = 1_024
MAX_EXPOSURE_PAIRS = 200_000
MAX_RECALL_SESSIONS = 1_000

MICROSECONDS_PER_MINUTE = 60_000_000

_logger = logging.getLogger("cofire")


class RecallBuffer:
    """Recalls that are not written yet. Only statistics are lost with them.

    A batch is written when it has `batch_size` recalls, or when its oldest is `max_delay` old at the time of the newest.
    """

    def __init__(self, batch_size: int, max_delay: timedelta = timedelta.max) -> None:
        self._batch_size = batch_size
        self._max_delay = max_delay
        self._waiting: list[LoggedRecall] = []
        self._options: RecallLogOptions | None = None
        self._lock = Lock()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, shown: LoggedRecall, options: RecallLogOptions) -> bool:
        """Keep one more recall. Returns whether it is time to write: at once under the documented rule, else in batches."""
        with self._lock:
            self._options = options
            self._waiting.append(shown)
            del self._waiting[:-MAX_WAITING_RECALLS]
            is_old = shown.at - self._waiting[0].at >= self._max_delay
            return options.rule == "documented" or is_old or len(self._waiting) % self._batch_size == 0

    def find(self, id: str) -> LoggedRecall | None:
        with self._lock:
            return next((shown for shown in self._waiting if shown.id == id), None)

    def take(self) -> tuple[list[LoggedRecall], RecallLogOptions | None]:
        """All that waits, and how to keep it. It no longer waits."""
        with self._lock:
            taken, self._waiting = self._waiting, []
            return taken, self._options

    @contextmanager
    def restoring(self) -> Iterator[list[LoggedRecall]]:
        """A list for the recalls that are taken inside. They wait again if the transaction around them fails."""
        taken: list[LoggedRecall] = []
        try:
            yield taken
        except BaseException:
            with self._lock:
                self._waiting = [*taken, *self._waiting]
            raise


def warn_log_lost(error: Exception) -> None:
    """Log that recalls could not be written. The recall itself does not fail."""
    _logger.warning("What recalls showed could not be logged: %s", error)


def collect_path_ids(shown: LoggedRecall) -> set[str]:
    """The facts at the ends of all edges that led to results."""
    return {id for edges in shown.ways.values() for edge in edges for id in (edge.source, edge.target)}


def make_exposure_lessons(pairs: Iterable[tuple[str, str]]) -> list[EdgeAdjustment]:
    """One Hebbian step for each pair that has earned it.

    >>> [(lesson.source, lesson.target, lesson.step) for lesson in make_exposure_lessons([("a", "b")])]
    [('a', 'b', 0.05)]
    """
    return [EdgeAdjustment(a, b, HEBBIAN_KIND, reinforcement.HEBBIAN_STEP) for a, b in pairs]


def make_documented_lessons(recalls: Iterable[LoggedRecall]) -> list[EdgeAdjustment]:
    """The documented rule (000): every pair that one recall showed earns a step."""
    return make_exposure_lessons(pair for shown in recalls for pair in reinforcement.list_id_pairs(shown.ids))


def list_exposures(
    recalls: Sequence[LoggedRecall], sessions: Sequence[int], stored: Collection[str]
) -> list[tuple[str, str, int]]:
    """The earned rule: pairs of stored facts that were shown at the first places, with the session of the recall.

    A pair earns a step when it was shown in `reinforcement.MIN_DISTINCT_SESSIONS` sessions; then it is counted anew.
    """
    exposures: set[tuple[str, str, int]] = set()
    for shown, session in zip(recalls, sessions, strict=True):
        first = [id for id in shown.ids[: reinforcement.COUNTED_RANKS] if id in stored]
        exposures.update((a, b, session) for a, b in reinforcement.list_id_pairs(first))
    return sorted(exposures)


def assign_sessions(
    recalls: Sequence[LoggedRecall],
    idle_minutes: float,
    last: Mapping[str | None, tuple[int, int]],
    newest: int,
) -> tuple[list[int], dict[str | None, tuple[int, int]]]:
    """The number of the session of each recall; a session of the same name is another one after a pause.

    `last` has for each session name its last number and end in microseconds, `newest` is the last number given.
    Returns also the numbers and ends of the sessions that these recalls belong to.
    """
    idle = idle_minutes * MICROSECONDS_PER_MINUTE
    numbers: list[int] = []
    current: dict[str | None, tuple[int, int]] = {}
    for shown in recalls:
        at = to_microseconds(shown.at)
        number, ended = current.get(shown.session) or last.get(shown.session, (0, DISTANT_PAST))
        if at - ended > idle:
            newest += 1
            number = newest
        current[shown.session] = (number, max(at, ended))
        numbers.append(number)
    return numbers, current


def needs_cleanup(newest: int, added: int) -> bool:
    """Whether these recalls are the ones after which old pairs and sessions are dropped."""
    return newest // RECALLS_PER_CLEANUP != (newest - added) // RECALLS_PER_CLEANUP


def make_judged_recall(id: str, judgements: Iterable[Sequence[Any]]) -> JudgedRecall:
    """A judged recall from its facts, each with whether it stood first and 1 if it helped, -1 if it hurt.

    >>> sorted(make_judged_recall("1", [("a", True, 1), ("b", True, 0), ("c", False, -1)]).first)
    ['a', 'b']
    """
    rows = list(judgements)
    return JudgedRecall(
        id,
        frozenset(fact for fact, first, _ in rows if first),
        frozenset(fact for fact, _, verdict in rows if verdict > 0),
        frozenset(fact for fact, _, verdict in rows if verdict < 0),
    )


def list_judgements(judged: JudgedRecall) -> list[tuple[str, bool, int]]:
    """The facts of a judged recall as `make_judged_recall` reads them."""
    ids = sorted(judged.first | judged.helped | judged.hurt)
    return [(id, id in judged.first, (id in judged.helped) - (id in judged.hurt)) for id in ids]
