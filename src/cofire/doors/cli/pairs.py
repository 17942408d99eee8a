"""Pairs: NAME=VALUE, as several options take them."""

from __future__ import annotations

from collections.abc import Iterable

from cofire.errors import InvalidInput


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """Names with their values, each value as text.

    >>> pairs(["page=3", "note=a=b"], "--meta")
    {'page': '3', 'note': 'a=b'}
    """
    return dict(_pair(one, option) for one in given)


def _pair(given: str, option: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name.strip() or not equals:
        raise InvalidInput(
            f"{option} cannot be {given!r}.", way_out=f"Give a name and a value, as in {option} name=value."
        )
    return name.strip(), value
