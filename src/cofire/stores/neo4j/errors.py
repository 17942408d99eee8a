"""Translate errors of the driver and the server into store errors."""

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

_CHECK_CREDENTIALS = (
    "Check the name and the password: COFIRE_NEO4J_USER and COFIRE_NEO4J_PASSWORD, or auth=(name, password)."
)
_CHECK_SERVER = "Check that the server runs and can be reached from here, then try again; nothing was half written."
_ALLOW_MORE_TIME = "Try again, ask for less, or raise the setting store.answer_seconds."

# By what the server calls it, which says more than the class of the exception; the first that fits.
_ERRORS_BY_CODE: tuple[tuple[str, type[CofireError], str, str], ...] = (
    (
        "Neo.ClientError.Security.AuthenticationRateLimit",
        StoreNotOpened,
        "let nobody in for a while",
        _CHECK_CREDENTIALS,
    ),
    ("Neo.ClientError.Security.Forbidden", StoreReadOnly, "does not allow this", "Ask for the right to write."),
    ("Neo.ClientError.Security.", StoreNotOpened, "does not let us in", _CHECK_CREDENTIALS),
    (
        "Neo.ClientError.Database.DatabaseNotFound",
        StoreNotOpened,
        "has no such database",
        "Give the name of one that exists, as in neo4j://host/NAME, or none for the server's own.",
    ),
    ("Neo.ClientError.Schema.ConstraintValidationFailed", Conflict, "was written by somebody else", "Try again."),
    ("Neo.ClientError.Transaction.TransactionTimedOut", StoreBusy, "took too long to answer", _ALLOW_MORE_TIME),
    ("Neo.ClientError.Transaction.LockClientStopped", StoreBusy, "waited too long for others", _ALLOW_MORE_TIME),
    ("Neo.TransientError.General.DatabaseUnavailable", StoreUnavailable, "is not ready", _CHECK_SERVER),
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
_ERRORS_BY_CLASS: tuple[tuple[type[Exception], type[CofireError], str, str], ...] = (
    (theirs.ConfigurationError, StoreNotOpened, "cannot be opened", "Check the URL of the server."),
    (
        theirs.IncompleteCommit,
        StoreUnavailable,
        "was lost while it kept a change",
        "Ask whether it is there; then try again.",
    ),
    (theirs.ServiceUnavailable, StoreUnavailable, "cannot be reached", _CHECK_SERVER),
    (theirs.SessionExpired, StoreUnavailable, "was lost on the way", _CHECK_SERVER),
    (theirs.ConnectionAcquisitionTimeoutError, StoreBusy, "has no connection left for us", _ALLOW_MORE_TIME),
    (theirs.DriverError, StoreError, "cannot be used", "Run: cofire doctor"),
    (theirs.Neo4jError, StoreError, "refused", "Run: cofire doctor"),
    (OSError, StoreUnavailable, "cannot be reached", _CHECK_SERVER),
)
_DRIVER_CLOSED = "Driver closed"


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Turn what the driver raises into a StoreError that names the server."""
    try:
        yield
    except (theirs.DriverError, theirs.Neo4jError, OSError) as error:
        if _DRIVER_CLOSED in str(error):
            raise StoreClosed(f"The store {place} was closed.", way_out="Open the memory again.") from error
        ours, what, way_out = _find_translation(error)
        raise ours(f"The store {place} {what} ({_error_message(error)}).", way_out=way_out) from error


def make_timeout_error(place: str, seconds: float) -> StoreBusy:
    """What to say of a server that has not answered by now."""
    return StoreBusy(f"The store {place} has not answered for {seconds:g} seconds.", way_out=_ALLOW_MORE_TIME)


def _find_translation(error: Exception) -> tuple[type[CofireError], str, str]:
    code = getattr(error, "code", None) or ""
    named = [(ours, what, way) for begins, ours, what, way in _ERRORS_BY_CODE if code.startswith(begins)]
    kinds = [(ours, what, way) for kind, ours, what, way in _ERRORS_BY_CLASS if isinstance(error, kind)]
    return (named + kinds)[0]


def _error_message(error: Exception) -> str:
    return str(getattr(error, "message", None) or error).rstrip(". ")
