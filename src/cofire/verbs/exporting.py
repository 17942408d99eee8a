"""Exporting: a store as lines of JSON that can be loaded again, or its graph as GraphML for Gephi and networkx."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

from cofire.asks import Asking, Emit, Now, Scan, Size
from cofire.errors import InvalidInput, StoreNotOpened, map_exceptions
from cofire.graph_asks import Edges, Rated
from cofire.model import Edge, Fact, Importance
from cofire.stores.base import EdgeFilter, StoreSize
from cofire.verbs import accepting
from cofire.verbs.asking import Filters, where
from cofire.verbs.remember import Progress
from cofire.xray import edge_json, fact_json

FORMAT = "cofire"
VERSION = 1
PAGE = 1_000
MANY = 100_000_000
# How a file of SQLite begins.
STORE = b"SQLite format 3"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where."""

    path: str
    facts: int
    edges: int


def export(path: str | PathLike[str], filters: Filters) -> Asking[Exported]:
    """Write facts and their edges to a file: GraphML if its name ends so, else JSONL. The file appears when it is whole."""
    target = Path(accepting.path(path))
    _refuse_a_store(target)
    writer = _graphml if target.suffix.lower() == ".graphml" else _jsonl
    facts = yield from _all_facts(filters)
    edges = yield from _edges_among({fact.id for fact in facts})
    rated: Mapping[str, Importance] = yield Rated([fact.id for fact in facts])
    with file_errors(target), _whole(target) as out:
        out.writelines(writer(facts, edges, rated))
    return Exported(str(target), len(facts), len(edges))


def _refuse_a_store(target: Path) -> None:
    """An older export may be overwritten, a memory never, be it this one or another."""
    with file_errors(target):
        if not target.is_file():
            return
        with target.open("rb") as known:
            begins = known.read(len(STORE))
    if begins == STORE:
        raise InvalidInput(f"{target} is a store, which an export would destroy.", way_out="Name another file.")


@contextmanager
def _whole(target: Path) -> Iterator[TextIO]:
    """A file to write to, which takes the place of the target once it is whole. One that fails leaves nothing behind."""
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        with unfinished.open("w", encoding="utf-8") as out:
            yield out
        unfinished.replace(target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _all_facts(filters: Filters) -> Asking[list[Fact]]:
    now: datetime = yield Now()
    size: StoreSize = yield Size()
    found: list[Fact] = []
    before: str | None = None
    while page := (yield Scan(where(filters, now, everywhere=True, whenever=True), PAGE, before)):
        found += page
        before = page[-1].id
        yield Emit(Progress("export", len(found), max(len(found), size.facts)))
    return found[::-1]


def _edges_among(ids: set[str]) -> Asking[list[Edge]]:
    found: list[Edge] = yield Edges(EdgeFilter(), MANY)
    kept = [edge for edge in found if edge.source in ids and edge.target in ids]
    return sorted(kept, key=lambda edge: (edge.source, edge.target, edge.kind))


def _jsonl(facts: Sequence[Fact], edges: Sequence[Edge], rated: Mapping[str, Importance]) -> Iterator[str]:
    del rated  # computed anew where it is loaded
    yield _line({"is": "export", "format": FORMAT, "version": VERSION, "facts": len(facts), "edges": len(edges)})
    for fact in facts:
        values = fact_json(fact)
        del values["superseded_by"]  # exported as an edge
        yield _line({"is": "fact", **values})
    for edge in edges:
        yield _line({"is": "edge", **edge_json(edge)})


def _graphml(facts: Sequence[Fact], edges: Sequence[Edge], rated: Mapping[str, Importance]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, on, kind in _ATTRIBUTES:
        yield f'<key id="{on}.{name}" for="{on}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph edgedefault="directed">\n'
    for fact in facts:
        yield f'<node id="{escape(fact.id)}">{_data("node", _node_values(fact, rated.get(fact.id)))}</node>\n'
    for number, edge in enumerate(edges):
        ends = f'source="{escape(edge.source)}" target="{escape(edge.target)}"'
        yield f'<edge id="e{number}" {ends}>{_data("edge", _edge_values(edge))}</edge>\n'
    yield "</graph>\n</graphml>\n"


_ATTRIBUTES = (
    *(
        (name, "node", "string")
        for name in ("text", "subject", "category", "tags", "scope", "session", "speaker", "at")
    ),
    ("pagerank", "node", "double"),
    ("community", "node", "int"),
    *((name, "edge", "string") for name in ("kind", "tags", "origin")),
    ("weight", "edge", "double"),
    ("confidence", "edge", "double"),
)


def _node_values(fact: Fact, rated: Importance | None) -> dict[str, object]:
    return {
        "text": fact.text,
        "subject": fact.subject,
        "category": fact.category,
        "tags": ",".join(fact.tags) or None,
        "scope": fact.scope,
        "session": fact.session,
        "speaker": fact.speaker,
        "at": fact.at.isoformat() if fact.at else None,
        "pagerank": rated.pagerank if rated else None,
        "community": rated.community if rated else None,
    }


def _edge_values(edge: Edge) -> dict[str, object]:
    values = {"kind": edge.kind, "tags": ",".join(edge.tags) or None, "origin": edge.origin}
    return {**values, "weight": edge.weight, "confidence": edge.confidence}


def _data(on: str, values: Mapping[str, object]) -> str:
    said = ((name, value) for name, value in values.items() if value is not None)
    return "".join(
        f'<data key="{on}.{name}">{escape(_xml_safe(str(value)), quote=False)}</data>' for name, value in said
    )


def _xml_safe(text: str) -> str:
    """XML knows no control characters but tab and line ends, and not the two that Unicode has for no character."""
    return "".join(letter for letter in text if " " <= letter not in "\ufffe\uffff" or letter in "\t\n\r")


def _line(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


def file_errors(path: Path) -> Any:
    return map_exceptions(
        {OSError: StoreNotOpened, ValueError: InvalidInput},
        problem=f"The file {path} cannot be used: {{error}}.",
        way_out="Check the path and its permissions.",
    )
