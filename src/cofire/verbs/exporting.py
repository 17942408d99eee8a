"""Exporting: a store as lines of JSON that can be loaded again, or its graph as GraphML for Gephi and networkx."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, TextIO, TypeVar

from cofire.asks import Asking, Emit, Now, Recognise, Scan, Size, Write
from cofire.errors import InvalidInput, StoreNotOpened, map_exceptions
from cofire.graph_asks import Edges, Rated
from cofire.graph_settings import IDLE_MINUTES
from cofire.model import Change, Edge, Fact, Importance, NewEdge
from cofire.settings import Settings
from cofire.stores.base import EdgeFilter, StoreSize
from cofire.verbs import accepting
from cofire.verbs.asking import Filters, where
from cofire.verbs.remember import Progress, remember_all
from cofire.xray import edge_json, fact_json

T = TypeVar("T")
Line = Mapping[str, Any]

FORMAT = "cofire"
VERSION = 1
PAGE = 1_000
MANY = 100_000_000


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where."""

    path: str
    facts: int
    edges: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read back: facts by their new ids, and edges; and how many of the facts memory did not know."""

    facts: int
    edges: int
    new: int


def export(path: str, filters: Filters) -> Asking[Exported]:
    """Write facts and their edges to a file: GraphML if its name ends so, else JSONL. The file appears when it is whole."""
    target = Path(path)
    writer = _graphml if target.suffix.lower() == ".graphml" else _jsonl
    facts = yield from _all_facts(filters)
    edges = yield from _edges_among({fact.id for fact in facts})
    rated: Mapping[str, Importance] = yield Rated([fact.id for fact in facts])
    with _file_errors(target), _whole(target) as out:
        out.writelines(writer(facts, edges, rated))
    return Exported(str(target), len(facts), len(edges))


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


def load(path: str, settings: Settings) -> Asking[Loaded]:
    """Read a JSONL export. Facts that are known already keep their ids; edges follow the facts to their new ids.

    Every line is looked at before anything is kept.
    """
    lines = _read_lines(Path(path))
    facts = {number: line for number, line in lines.items() if line["is"] == "fact"}
    given = _accepted(partial(_fact, settings=settings), facts, path)
    drawn = _accepted(_edge, {number: line for number, line in lines.items() if line["is"] == "edge"}, path)
    known: Mapping[bytes, str] = yield Recognise([fact.hash for fact in given])
    held = yield from remember_all(given, {}, settings)
    told = list(zip(facts.values(), held, strict=True))
    ids = {line["id"]: id for line, id in told if isinstance(line.get("id"), str)}
    edges = [replace(edge, source=ids[edge.source], target=ids[edge.target]) for edge in drawn if _known(edge, ids)]
    now: datetime = yield Now()
    kept = tuple(NewEdge(edge, "update", own=True) for edge in edges)
    pins, archive = _marked(told, "pinned"), _marked(told, "archived")
    yield Write(Change(now=now, edges=kept, pins=pins, archive=archive, idle_minutes=settings[IDLE_MINUTES]))
    return Loaded(len(set(held)), len(kept), len({fact.hash for fact in given} - known.keys()))


def _accepted(read: Callable[[Line], T], lines: Mapping[int, Line], path: str) -> list[T]:
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
        yield _line({"is": "fact", **fact_json(fact)})
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


def _read_lines(path: Path) -> dict[int, dict[str, Any]]:
    """What each line says, by its number."""
    with _file_errors(path):
        raw = path.read_bytes()
    # Not splitlines(), which also parts at the line separators that a text may hold.
    told = enumerate(_decoded(raw, path).split("\n"), start=1)
    lines = {number: _parsed(line, number, path) for number, line in told if line.strip()}
    head = next(iter(lines.values()), {})
    if head.get("is") != "export" or head.get("format") != FORMAT or head.get("version", VERSION + 1) > VERSION:
        raise InvalidInput(
            f"{path} is not an export that this cofire can read.", way_out="Make one with: cofire export FILE"
        )
    return lines


def _decoded(raw: bytes, path: Path) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"The file {path} is not text in UTF-8: byte {error.start + 1} is 0x{raw[error.start]:02x}.",
            way_out="Convert it to UTF-8 first, for instance with iconv.",
        ) from error


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


def _fact(line: Line, *, settings: Settings) -> Fact:
    return accepting.fact({label: line[label] for label in accepting.GIVEN if line.get(label) is not None}, settings)


def _marked(told: Iterable[tuple[Mapping[str, Any], str]], mark: str) -> dict[str, bool]:
    return {id: True for line, id in told if line.get(mark) is True}


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


def _file_errors(path: Path) -> Any:
    return map_exceptions(
        {OSError: StoreNotOpened},
        problem=f"The file {path} cannot be used: {{error}}.",
        way_out="Check the path and its permissions.",
    )
