"""Connecting: from a URL, a name and a password to a driver, and how patient it is. Passwords are never told to anybody."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from cofire.errors import InvalidInput, StoreNotOpened
from cofire.places import SCHEMES, without_password

USER_VARIABLE, PASSWORD_VARIABLE = "COFIRE_NEO4J_USER", "COFIRE_NEO4J_PASSWORD"
FIRST_WAIT, GROWING = 0.05, 2.0
LONGEST_GREETING = 10.0

Auth = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store is: the server, the database on it (None for its own default), and who asks."""

    url: str
    database: str | None
    auth: Auth | None = field(repr=False)

    @property
    def place(self) -> str:
        """Where it is, for people to read."""
        return f"{self.url}/{self.database}" if self.database else self.url


@dataclass(frozen=True, slots=True)
class Neo4jOptions:
    """How patient a store is: for how long it retries what may succeed later, and how long the server may think about one transaction."""

    retry_seconds: float
    answer_seconds: float


def address(url: str, auth: Auth | None) -> Address:
    """Read a URL. Who asks is told by the argument, else by the URL, else by the environment.

    >>> address("neo4j://ana:secret@localhost:7687/team", None).place
    'neo4j://localhost:7687/team'
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise StoreNotOpened(
            f"No store can be opened at {without_password(url)}.",
            way_out=f"Give the path of a file, or a URL of Neo4j: {', '.join(SCHEMES)}.",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{_port(parts, url)}" if _port(parts, url) else ""
    return Address(f"{parts.scheme}://{host}{port}", _database(parts), _auth(parts, auth))


def driver_settings(options: Neo4jOptions) -> dict[str, Any]:
    """What the driver is told of our patience: it retries by itself, the first time soon, then after twice as long each time."""
    return {
        "max_transaction_retry_time": options.retry_seconds,
        "initial_retry_delay": FIRST_WAIT,
        "retry_delay_multiplier": GROWING,
        "connection_timeout": min(LONGEST_GREETING, options.answer_seconds),
        "connection_acquisition_timeout": options.answer_seconds,
        "notifications_min_severity": "OFF",
        "user_agent": "cofire",
    }


def _port(parts: SplitResult, url: str) -> int | None:
    try:
        return parts.port
    except ValueError as error:
        raise InvalidInput(
            f"{without_password(url)} has no usable port: {error}.", way_out="Give a number such as 7687."
        ) from error


def _database(parts: SplitResult) -> str | None:
    asked = parse_qs(parts.query).get("database", [""])[0]
    return asked or unquote(parts.path.strip("/")) or None


def _auth(parts: SplitResult, given: Auth | None, environment: Mapping[str, str] = os.environ) -> Auth | None:
    if given is not None:
        return given
    if parts.username:
        return unquote(parts.username), unquote(parts.password or "")
    user, password = environment.get(USER_VARIABLE), environment.get(PASSWORD_VARIABLE)
    return (user or "neo4j", password) if password else None
