"""Faults: what the driver and the server complain about, in cofire's words and with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j import exceptions as theirs

from cofire.errors import (
    CofireError,
    Conflict,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreFull,
    StoreNotOpened,
    StoreReadOnly,
    StoreUnavailable,
)

_WHO = "Check the name and the password: COFIRE_NEO4J_USER and COFIRE_NEO4J_PASSWORD, or auth=(name, password)."
_WAKE = "Check that the server runs and can be reached from here, then try again; nothing was half written."
_SLOW = "Try again, ask for less, or raise the setting store.answer_seconds."

# By what the server calls it, which says more than the class of the exception; the first that fits.
_CODES: tuple[tuple[str, type[CofireError], str, str], ...] = (
    ("Neo.ClientError.Security.AuthenticationRateLimit", StoreNotOpened, "let nobody in for a while", _WHO),
    ("Neo.ClientError.Security.Forbidden", StoreReadOnly, "does not allow this", "Ask for the right to write."),
    ("Neo.ClientError.Security.", StoreNotOpened, "does not let us in", _WHO),
    (
        "Neo.ClientError.Database.DatabaseNotFound",
        StoreNotOpened,
        "has no such database",
        "Give the name of one that exists, as in neo4j://host/NAME, or none for the server's own.",
    ),
    ("Neo.ClientError.Schema.ConstraintValidationFailed", Conflict, "was written by somebody else", "Try again."),
    ("Neo.ClientError.Transaction.TransactionTimedOut", StoreBusy, "took too long to answer", _SLOW),
    ("Neo.ClientError.Transaction.LockClientStopped", StoreBusy, "waited too long for others", _SLOW),
    ("Neo.TransientError.General.DatabaseUnavailable", StoreUnavailable, "is not ready", _WAKE),
    (
        "Neo.TransientError.General.OutOfMemory",
        StoreFull,
        "has no memory left",
        "Give the server more, or ask for less.",
    ),
    ("Neo.TransientError.General.MemoryPoolOutOfMemory", StoreFull, "has no memory left", "Ask for less at once."),
    ("Neo.TransientError.", StoreBusy, "was kept busy by others", "Try again, or raise store.busy_seconds."),
    (
        "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
        StoreReadOnly,
        "may be read but not written",
        "Use another.",
    ),
    ("Neo.DatabaseError.", StoreError, "failed", "Look into the log of the server."),
)
_KINDS: tuple[tuple[type[Exception], type[CofireError], str, str], ...] = (
    (theirs.ConfigurationError, StoreNotOpened, "cannot be opened", "Check the URL of the server."),
    (
        theirs.IncompleteCommit,
        StoreUnavailable,
        "was lost while it kept a change",
        "Ask whether it is there; then try again.",
    ),
    (theirs.ServiceUnavailable, StoreUnavailable, "cannot be reached", _WAKE),
    (theirs.SessionExpired, StoreUnavailable, "was lost on the way", _WAKE),
    (theirs.ConnectionAcquisitionTimeoutError, StoreBusy, "has no connection left for us", _SLOW),
    (theirs.DriverError, StoreError, "cannot be used", "Run: cofire doctor"),
    (theirs.Neo4jError, StoreError, "refused", "Run: cofire doctor"),
    (OSError, StoreUnavailable, "cannot be reached", _WAKE),
)
_CLOSED = "Driver closed"


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn what the driver raises into a StoreError that names the server."""
    try:
        yield
    except (theirs.DriverError, theirs.Neo4jError, OSError) as error:
        if _CLOSED in str(error):
            raise StoreClosed(f"The store {place} was closed.", way_out="Open the memory again.") from error
        ours, what, way_out = _in_our_words(error)
        raise ours(f"The store {place} {what} ({_said(error)}).", way_out=way_out) from error


def too_slow(place: str, seconds: float) -> StoreBusy:
    """What to say of a server that has not answered by now."""
    return StoreBusy(f"The store {place} has not answered for {seconds:g} seconds.", way_out=_SLOW)


def _in_our_words(error: Exception) -> tuple[type[CofireError], str, str]:
    code = getattr(error, "code", None) or ""
    named = [(ours, what, way) for begins, ours, what, way in _CODES if code.startswith(begins)]
    kinds = [(ours, what, way) for kind, ours, what, way in _KINDS if isinstance(error, kind)]
    return (named + kinds)[0]


def _said(error: Exception) -> str:
    return str(getattr(error, "message", None) or error).rstrip(". ")
