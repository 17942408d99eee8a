"""Server URL, credentials and driver settings. Does not import the driver."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from cofire.errors import InvalidInput, StoreNotOpened
from cofire.stores.store_location import NEO4J_SCHEMES, strip_credentials

USER_VARIABLE, PASSWORD_VARIABLE = "COFIRE_NEO4J_USER", "COFIRE_NEO4J_PASSWORD"
FIRST_RETRY_DELAY, RETRY_DELAY_MULTIPLIER = 0.05, 2.0
MAX_CONNECTION_TIMEOUT = 10.0

Auth = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ServerAddress:
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


def parse_address(url: str, auth: Auth | None) -> ServerAddress:
    """Read a URL. Who asks is told by the argument, else by the URL, else by the environment.

    >>> parse_address("neo4j://ana:secret@localhost:7687/team", None).place
    'neo4j://localhost:7687/team'
    """
    parts = urlsplit(url)
    if parts.scheme not in NEO4J_SCHEMES or not parts.hostname:
        raise StoreNotOpened(
            f"No store can be opened at {strip_credentials(url)}.",
            way_out=f"Give the path of a file, or a URL of Neo4j: {', '.join(NEO4J_SCHEMES)}.",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{_parse_port(parts, url)}" if _parse_port(parts, url) else ""
    return ServerAddress(f"{parts.scheme}://{host}{port}", _parse_database(parts), _resolve_auth(parts, auth))


def build_driver_settings(options: Neo4jOptions) -> dict[str, Any]:
    """What the driver is told of our patience: it retries by itself, the first time soon, then after twice as long each time."""
    return {
        "max_transaction_retry_time": options.retry_seconds,
        "initial_retry_delay": FIRST_RETRY_DELAY,
        "retry_delay_multiplier": RETRY_DELAY_MULTIPLIER,
        "connection_timeout": min(MAX_CONNECTION_TIMEOUT, options.answer_seconds),
        "connection_acquisition_timeout": options.answer_seconds,
        "notifications_min_severity": "OFF",
        "user_agent": "cofire",
    }


def _parse_port(parts: SplitResult, url: str) -> int | None:
    try:
        return parts.port
    except ValueError as error:
        raise InvalidInput(
            f"{strip_credentials(url)} has no usable port: {error}.", way_out="Give a number such as 7687."
        ) from error


def _parse_database(parts: SplitResult) -> str | None:
    asked = parse_qs(parts.query).get("database", [""])[0]
    return asked or unquote(parts.path.strip("/")) or None


def _resolve_auth(parts: SplitResult, given: Auth | None, environment: Mapping[str, str] = os.environ) -> Auth | None:
    if given is not None:
        return given
    if parts.username:
        return unquote(parts.username), unquote(parts.password or "")
    user, password = environment.get(USER_VARIABLE), environment.get(PASSWORD_VARIABLE)
    return (user or "neo4j", password) if password else None
