"""Locations of stores: file paths and server URLs, without opening them."""

from __future__ import annotations

from pathlib import Path

from cofire.errors import CofireError, InvalidInput, StoreNotOpened

NEO4J_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")


def is_server_url(place: object) -> bool:
    """Whether a place is one that a Neo4j server has.

    >>> is_server_url("neo4j+s://team.example"), is_server_url("team.db")
    (True, False)
    """
    return isinstance(place, str) and place.partition("://")[0] in NEO4J_SCHEMES and "://" in place


def strip_credentials(place: str) -> str:
    """A place for people to read: a URL without the name and the password in it, a path as it is.

    >>> strip_credentials("neo4j://ana:secret@localhost:7687/team"), strip_credentials("a@b.db")
    ('neo4j://localhost:7687/team', 'a@b.db')
    """
    scheme, found, rest = place.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"


def expand_store_path(place: str) -> Path:
    """The path of a store, with the folder that its ~ stands for."""
    return _expand_user(place, StoreNotOpened, f"The store {place}")


def expand_path(place: str) -> Path:
    """The path of any other file or folder, with what its ~ stands for."""
    return _expand_user(place, InvalidInput, place)


def _expand_user(place: str, failure: type[CofireError], name: str) -> Path:
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise failure(f"{name} cannot be found: {error}", way_out="Give the whole path.") from error
