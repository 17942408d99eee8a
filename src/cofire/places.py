"""Places: where a store may be, in a file or on a server, and how that is told to people. Opens nothing."""

from __future__ import annotations

from pathlib import Path

from cofire.errors import CofireError, InvalidInput, StoreNotOpened

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")


def is_served(place: object) -> bool:
    """Whether a place is one that a Neo4j server has.

    >>> is_served("neo4j+s://team.example"), is_served("team.db")
    (True, False)
    """
    return isinstance(place, str) and place.partition("://")[0] in SCHEMES and "://" in place


def without_password(place: str) -> str:
    """A place for people to read: a URL without the name and the password in it, a path as it is.

    >>> without_password("neo4j://ana:secret@localhost:7687/team"), without_password("a@b.db")
    ('neo4j://localhost:7687/team', 'a@b.db')
    """
    scheme, found, rest = place.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"


def at_home(place: str) -> Path:
    """The path of a store, with the folder that its ~ stands for."""
    return _expanded(place, StoreNotOpened, f"The store {place}")


def path_of(place: str) -> Path:
    """The path of any other file or folder, with what its ~ stands for."""
    return _expanded(place, InvalidInput, place)


def _expanded(place: str, failure: type[CofireError], name: str) -> Path:
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise failure(f"{name} cannot be found: {error}", way_out="Give the whole path.") from error
