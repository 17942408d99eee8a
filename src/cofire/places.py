"""Places: where a store may be, in a file or on a server, and how that is told to people. Opens nothing."""

from __future__ import annotations

from pathlib import Path

from cofire.errors import StoreNotOpened

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
    """The path of a file, with the folder that its ~ stands for."""
    try:
        return Path(place).expanduser()
    except RuntimeError as error:
        raise StoreNotOpened(f"The store {place} cannot be found: {error}", way_out="Give the whole path.") from error
