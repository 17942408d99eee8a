"""Loading: facts and edges of an export come in. What memory knows already is left as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from cofire.asks import Asking, Now, Write
from cofire.curating import Curation, Superseding
from cofire.errors import InvalidFact, InvalidInput, decoded
from cofire.graph_asks import Edges
from cofire.graph_settings import IDLE_MINUTES
from cofire.kinds import SUPERSEDES
from cofire.model import Change, Edge, Fact, NewEdge
from cofire.settings import Settings
from cofire.stores.base import EdgeFilter
from cofire.verbs import accepting
from cofire.verbs.exporting import FORMAT, MANY, VERSION, file_errors
from cofire.verbs.remember import remember_new

T = TypeVar("T")
Line = Mapping[str, Any]
Lines = Mapping[int, Line]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read back: facts by their new ids, and edges; and how many of the facts memory did not know."""

    facts: int
    edges: int
    new: int


def load(path: str | PathLike[str], settings: Settings) -> Asking[Loaded]:
    """Read a JSONL export. Facts that are known already keep their ids; edges follow the facts to their new ids.

    Every line is looked at before anything is kept. What happened to known facts and edges since the export stays so.
    """
    file = Path(accepting.path(path))
    lines = _read_lines(file)
    facts = {number: line for number, line in lines.items() if line["is"] == "fact"}
    drawn = _accepted(_edge, {number: line for number, line in lines.items() if line["is"] == "edge"}, file)
    superseded = {edge.target for edge in drawn if edge.kind == SUPERSEDES}
    given = _accepted(partial(_fact, settings=settings, superseded=superseded), facts, file)
    held, new = yield from remember_new(given, settings)
    told = dict(zip(held, facts.values(), strict=True))
    ids = {line["id"]: id for id, line in zip(held, facts.values(), strict=True) if isinstance(line.get("id"), str)}
    edges = [replace(edge, source=ids[edge.source], target=ids[edge.target]) for edge in drawn if _known(edge, ids)]
    now: datetime = yield Now()
    change = Change(
        now=now,
        edges=tuple(NewEdge(edge, _mode(edge, new), own=True) for edge in edges),
        curation=Curation(superseded=(yield from _superseded(edges, told))),
        idle_minutes=settings[IDLE_MINUTES],
    )
    yield Write(change)
    return Loaded(len(told), len(edges), len(new))


def _superseded(edges: Iterable[Edge], told: Mapping[str, Line]) -> Asking[tuple[Superseding, ...]]:
    """Facts whose place others take, if they did not before: that can then be taken back, as it could where they were exported."""
    drawn = [edge for edge in edges if edge.kind == SUPERSEDES]
    if not drawn:
        return ()
    ids = frozenset(edge.target for edge in drawn)
    held: list[Edge] = yield Edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=ids), MANY)
    known = {(edge.source, edge.target) for edge in held}
    ends = ((edge, _end(told[edge.target])) for edge in drawn if (edge.source, edge.target) not in known)
    return tuple(Superseding(edge.target, edge.source, end) for edge, end in ends if end is not None)


def _mode(edge: Edge, new: Collection[str]) -> str:
    """What was drawn as new facts were remembered becomes as it was; between known facts memory knows better."""
    return "update" if edge.source in new or edge.target in new else "skip"


def _accepted(read: Callable[[Line], T], lines: Lines, path: Path) -> list[T]:
    """What each of these lines gives; one that makes no sense is named."""
    found = list[T]()
    for number, line in lines.items():
        try:
            found.append(read(line))
        except InvalidInput as error:
            way_out = f"{error.way_out} Nothing was loaded."
            raise type(error)(f"Line {number} of {path}: {error.problem}", way_out=way_out) from error
    return found


def _known(edge: Edge, ids: Mapping[str, str]) -> bool:
    return edge.source in ids and edge.target in ids


def _read_lines(path: Path) -> dict[int, dict[str, Any]]:
    """What each line says, by its number."""
    with file_errors(path):
        raw = path.read_bytes()
    # Not splitlines(), which also parts at the line separators that a text may hold.
    texts = enumerate(decoded(raw, f"The file {path}", InvalidInput).split("\n"), start=1)
    filled = {number: line for number, line in texts if line.strip()}
    _refuse_other_formats(next(iter(filled.values()), ""), path)
    return {number: _parsed(line, number, path) for number, line in filled.items()}


def _refuse_other_formats(first_line: str, path: Path) -> None:
    """An export names its format in the first line. Other files have commands of their own."""
    try:
        head = json.loads(first_line)
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("is") != "export" or head.get("format") != FORMAT:
        raise InvalidInput(
            f"{path} is not an export of cofire: its first line does not name the format.",
            way_out=(
                'For JSON lines such as {"text": "…"} or one fact per line: cofire remember --file FILE. '
                "For chats and documents: cofire ingest FILE. An export is made with: cofire export FILE"
            ),
        )
    if head.get("version", VERSION + 1) > VERSION:
        raise InvalidInput(
            f"{path} is an export of a newer cofire.",
            way_out="Update cofire, or export again with this version: cofire export FILE",
        )


def _parsed(line: str, number: int, path: Path) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise InvalidInput(
            f"Line {number} of {path} is not JSON: {error}.", way_out="Mend the line, or export anew."
        ) from error
    if not isinstance(values, dict) or values.get("is") not in {"export", "fact", "edge"}:
        raise InvalidInput(f"Line {number} of {path} is no fact and no edge.", way_out="Mend the line, or export anew.")
    return values


def _fact(line: Line, *, settings: Settings, superseded: Collection[object]) -> Fact:
    """A fact as it was before others took its place, which ends it anew."""
    said = {label: line[label] for label in accepting.GIVEN if line.get(label) is not None}
    said.pop("supersedes", None)  # exported as edges
    if _end(line) is not None and line.get("id") in superseded:
        del said["valid_until"]
    stored = accepting.moment(line.get("stored_at"), "stored_at", InvalidFact)
    pinned, archived = (line.get(mark) is True for mark in ("pinned", "archived"))
    return replace(accepting.fact(said, settings), stored_at=stored, pinned=pinned, archived=archived)


def _end(line: Line) -> datetime | None:
    return accepting.moment(line.get("valid_until"), "valid_until", InvalidFact)


def _edge(line: Line) -> Edge:
    """An edge between the facts of the file. One that leads out of it is left aside later."""
    kind = accepting.name(line.get("kind"), "kind", InvalidInput)
    if kind is None:
        raise InvalidInput("The edge has no kind.", way_out="Mend the line, or export anew.")
    return Edge(
        str(line.get("source")),
        str(line.get("target")),
        kind,
        accepting.share(line.get("weight"), "weight"),
        accepting.share(line.get("confidence"), "confidence"),
        accepting.tags(line.get("tags"), InvalidInput),
        accepting.name(line.get("origin"), "origin", InvalidInput) or "",
        co_access_count=accepting.count(line.get("co_access_count") or 0, "co_access_count", low=0, high=MANY),
        strengthened=accepting.moment(line.get("strengthened"), "strengthened", InvalidInput),
    )
