"""`cofire why`: why a fact comes back for a question, or where it is lost and what would bring it back."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from cofire.doors.cli.calling import Call
from cofire.doors.cli.configuring import shown
from cofire.doors.cli.filters import Filters
from cofire.doors.cli.reasons_layout import draw_why
from cofire.doors.cli.recalling import Manner, refuse_if_not_explained
from cofire.doors.cli.screen import out, show, show_json
from cofire.errors import NotFound
from cofire.reasons import Remedy, Why

Query = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The fact that is missing, or that is there.")]

# Keywords of recall whose option has another name.
_OPTIONS = {"k": "-k", "tags": "--tag"}


def why(*, query: Query, id: Id, manner: Manner, filters: Filters, call: Call) -> None:
    """See why a fact comes back for a question, or the first stage where it is lost, and what would bring it back.

    Give the same options as to recall. Every remedy was really tried, on a memory that stays as it is.

    cofire why "What database configuration do we use?" 01M7GRXZ72ER9HC7SM0EVVJFVW -k 3
    """
    with call.memory() as memory:
        refuse_if_not_explained(memory)
        found = memory.why(query, id, **filters.keywords, **manner.keywords)
    if found.stage == "not_stored":
        raise NotFound(f"No fact has the id {id}.", way_out="List the ids with: cofire list")
    if call.as_json:
        return show_json(found.to_dict())
    if out().is_terminal:
        return draw_why(as_typed(found))
    return show(as_typed(found).text())


def as_typed(found: Why) -> Why:
    """The same, with remedies as one types them."""
    return replace(found, remedies=tuple(replace(one, change=typed(one)) for one in found.remedies))


def typed(remedy: Remedy) -> str:
    """A change in the options of the command line.

    >>> typed(Remedy("", 1, {"scope": ["default", "team a"], "tags": None, "k": 3, "settings": {"keyword.k1": 2.0}}))
    "--scope default --scope 'team a' -k 3 --set keyword.k1=2.0, without --tag"
    """
    given = {name: value for name, value in remedy.asked.items() if value is not None}
    said = [shlex.join(_options(given))] if given else []
    said += [f"without {_option(name)}" for name in remedy.asked if name not in given]
    said += [f"ask: {remedy.query}"] if remedy.query else []
    # What to connect is told last, and already as a command.
    said += [f"cofire {remedy.change.rpartition(', ')[2]}"] if remedy.link else []
    return ", ".join(said)


def _options(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if name == "settings":
            yield from (word for label, one in value.items() for word in ("--set", f"{label}={shown(one)}"))
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from (_option(name), shown(one))


def _option(name: str) -> str:
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")
