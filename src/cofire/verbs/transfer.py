"""Export to JSONL or GraphML, load an export, and copy one store into another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, TextIO, TypeVar

from cofire.embedders.base import Model, StoredModel
from cofire.errors import Conflict, InvalidFact, InvalidInput, OtherModel, StoreNotOpened, decode_utf8, map_exceptions
from cofire.explain import edge_json, fact_json
from cofire.model import Change, Edge, EdgeWrite, Fact, FactFilter, FactImportance, StoreRecord
from cofire.recall.request import FilterOptions, build_filter
from cofire.runtime.effects import Emit, ReadClock, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import SESSION_IDLE_MINUTES, Settings
from cofire.stores.base import MODEL_RECORD, EdgeFilter
from cofire.stores.curation_rows import CurationChange, Supersession
from cofire.stores.edge_kinds import SUPERSEDES
from cofire.stores.transfer_format import TRANSFER_COLUMNS, StoreMetadata, TransferableStore, TransferBatch, TransferRow
from cofire.verbs import validation
from cofire.verbs.remember import Progress, remember_new

EXPORT_FORMAT = "cofire"
EXPORT_VERSION = 1
EXPORT_PAGE_SIZE = 1_000
MAX_EDGES = 100_000_000
# The first bytes of an SQLite file.
SQLITE_HEADER = b"SQLite format 3"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The file that was written, and how many facts and edges it has."""

    path: str
    facts: int
    edges: int


def export(path: str | PathLike[str], filters: FilterOptions) -> Steps[ExportResult]:
    """Write facts and their edges to a file: GraphML for the suffix .graphml, else JSONL. The write is atomic."""
    target = Path(validation.parse_path(path))
    _refuse_store_file(target)
    format_lines = _format_graphml if target.suffix.lower() == ".graphml" else _format_jsonl
    facts = yield from _scan_facts(filters)
    edges = yield from _read_edges_among({fact.id for fact in facts})
    importance = yield from store.fetch_importance([fact.id for fact in facts])
    with map_file_errors(target), _open_atomically(target) as out:
        out.writelines(format_lines(facts, edges, importance))
    return ExportResult(str(target), len(facts), len(edges))


def _refuse_store_file(target: Path) -> None:
    """Refuse to overwrite a store. An older export may be overwritten."""
    with map_file_errors(target):
        if not target.is_file():
            return
        with target.open("rb") as existing_file:
            header = existing_file.read(len(SQLITE_HEADER))
    if header == SQLITE_HEADER:
        raise InvalidInput(f"{target} is a store, which an export would destroy.", way_out="Name another file.")


@contextmanager
def _open_atomically(target: Path) -> Iterator[TextIO]:
    """Open a temporary file that replaces the target at the end of the block. After an error it is deleted."""
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        with unfinished.open("w", encoding="utf-8") as out:
            yield out
        unfinished.replace(target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _scan_facts(filters: FilterOptions) -> Steps[list[Fact]]:
    now: datetime = yield ReadClock()
    size = yield from store.read_size()
    filter = build_filter(filters, now, everywhere=True, whenever=True)
    facts: list[Fact] = []
    before: str | None = None
    while page := (yield from store.list_facts(filter, EXPORT_PAGE_SIZE, before)):
        facts += page
        before = page[-1].id
        yield Emit(Progress("export", len(facts), max(len(facts), size.facts)))
    return facts[::-1]


def _read_edges_among(ids: set[str]) -> Steps[list[Edge]]:
    edges = yield from store.list_edges(EdgeFilter(), MAX_EDGES)
    inner_edges = [edge for edge in edges if edge.source in ids and edge.target in ids]
    return sorted(inner_edges, key=lambda edge: (edge.source, edge.target, edge.kind))


def _format_jsonl(
    facts: Sequence[Fact], edges: Sequence[Edge], importance: Mapping[str, FactImportance]
) -> Iterator[str]:
    del importance  # a dream computes it after loading
    header = {"is": "export", "format": EXPORT_FORMAT, "version": EXPORT_VERSION}
    yield _format_line({**header, "facts": len(facts), "edges": len(edges)})
    for fact in facts:
        values = fact_json(fact)
        del values["superseded_by"]  # exported as an edge
        yield _format_line({"is": "fact", **values})
    for edge in edges:
        yield _format_line({"is": "edge", **edge_json(edge)})


def _format_graphml(
    facts: Sequence[Fact], edges: Sequence[Edge], importance: Mapping[str, FactImportance]
) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, element, type in _GRAPHML_ATTRIBUTES:
        yield f'<key id="{element}.{name}" for="{element}" attr.name="{name}" attr.type="{type}"/>\n'
    yield '<graph edgedefault="directed">\n'
    for fact in facts:
        data = _format_data("node", _list_node_values(fact, importance.get(fact.id)))
        yield f'<node id="{escape(fact.id)}">{data}</node>\n'
    for number, edge in enumerate(edges):
        ends = f'source="{escape(edge.source)}" target="{escape(edge.target)}"'
        data = _format_data("edge", _list_edge_values(edge))
        yield f'<edge id="e{number}" {ends}>{data}</edge>\n'
    yield "</graph>\n</graphml>\n"


_GRAPHML_ATTRIBUTES = (
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


def _list_node_values(fact: Fact, importance: FactImportance | None) -> dict[str, object]:
    return {
        "text": fact.text,
        "subject": fact.subject,
        "category": fact.category,
        "tags": ",".join(fact.tags) or None,
        "scope": fact.scope,
        "session": fact.session,
        "speaker": fact.speaker,
        "at": fact.at.isoformat() if fact.at else None,
        "pagerank": importance.pagerank if importance else None,
        "community": importance.community if importance else None,
    }


def _list_edge_values(edge: Edge) -> dict[str, object]:
    return {
        "kind": edge.kind,
        "tags": ",".join(edge.tags) or None,
        "origin": edge.origin,
        "weight": edge.weight,
        "confidence": edge.confidence,
    }


def _format_data(element: str, values: Mapping[str, object]) -> str:
    parts: list[str] = []
    for name, value in values.items():
        if value is not None:
            text = escape(_strip_control_characters(str(value)), quote=False)
            parts.append(f'<data key="{element}.{name}">{text}</data>')
    return "".join(parts)


def _strip_control_characters(text: str) -> str:
    """The text without the characters that XML forbids: control characters except tab and line ends, U+FFFE and U+FFFF."""
    return "".join(letter for letter in text if " " <= letter not in "\ufffe\uffff" or letter in "\t\n\r")


def _format_line(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


def map_file_errors(path: Path) -> Any:
    return map_exceptions(
        {OSError: StoreNotOpened, ValueError: InvalidInput},
        problem=f"The file {path} cannot be used: {{error}}.",
        way_out="Check the path and its permissions.",
    )


T = TypeVar("T")
ExportLine = Mapping[str, Any]
ExportLines = Mapping[int, ExportLine]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The number of facts and edges that were read, and how many of the facts are new."""

    facts: int
    edges: int
    new: int


def load(path: str | PathLike[str], settings: Settings) -> Steps[LoadResult]:
    """Read a JSONL export. Facts that are already stored keep their ids, and edges use the ids in this store.

    All lines are validated before anything is written. Changes made to stored facts and edges since the export are kept.
    """
    file = Path(validation.parse_path(path))
    lines = _read_lines(file)
    fact_lines = {number: line for number, line in lines.items() if line["is"] == "fact"}
    edge_lines = {number: line for number, line in lines.items() if line["is"] == "edge"}
    edges = _parse_lines(_parse_edge, edge_lines, file)
    superseded = {edge.target for edge in edges if edge.kind == SUPERSEDES}
    facts = _parse_lines(partial(_parse_fact, settings=settings, superseded=superseded), fact_lines, file)
    stored_ids, new_ids = yield from remember_new(facts, settings)
    line_by_id: dict[str, ExportLine] = {}
    id_by_exported: dict[str, str] = {}
    for stored_id, line in zip(stored_ids, fact_lines.values(), strict=True):
        line_by_id[stored_id] = line
        if isinstance(line.get("id"), str):
            id_by_exported[line["id"]] = stored_id
    stored_edges = [
        replace(edge, source=id_by_exported[edge.source], target=id_by_exported[edge.target])
        for edge in edges
        if edge.source in id_by_exported and edge.target in id_by_exported
    ]
    now: datetime = yield ReadClock()
    superseded_facts = yield from _find_superseded(stored_edges, line_by_id)
    change = Change(
        now=now,
        edges=tuple(EdgeWrite(edge, _choose_merge_mode(edge, new_ids), own=True) for edge in stored_edges),
        curation=CurationChange(superseded=superseded_facts),
        idle_minutes=settings[SESSION_IDLE_MINUTES],
    )
    yield from store.write(change)
    return LoadResult(len(line_by_id), len(stored_edges), len(new_ids))


def _find_superseded(edges: Iterable[Edge], line_by_id: Mapping[str, ExportLine]) -> Steps[tuple[Supersession, ...]]:
    """The facts that these edges newly supersede, with their exported end, so that it can be restored later."""
    supersedes = [edge for edge in edges if edge.kind == SUPERSEDES]
    if not supersedes:
        return ()
    ids = frozenset(edge.target for edge in supersedes)
    stored_edges = yield from store.list_edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=ids), MAX_EDGES)
    stored_pairs = {(edge.source, edge.target) for edge in stored_edges}
    supersessions: list[Supersession] = []
    for edge in supersedes:
        if (edge.source, edge.target) in stored_pairs:
            continue
        end = _parse_validity_end(line_by_id[edge.target])
        if end is not None:
            supersessions.append(Supersession(edge.target, edge.source, end))
    return tuple(supersessions)


def _choose_merge_mode(edge: Edge, new_ids: Collection[str]) -> str:
    """Edges at new facts get the exported values. Between facts stored before, an existing edge is kept."""
    return "update" if edge.source in new_ids or edge.target in new_ids else "skip"


def _parse_lines(parse: Callable[[ExportLine], T], lines: ExportLines, path: Path) -> list[T]:
    """The value of each line. An error names the line."""
    values: list[T] = []
    for number, line in lines.items():
        try:
            values.append(parse(line))
        except InvalidInput as error:
            way_out = f"{error.way_out} Nothing was loaded."
            raise type(error)(f"Line {number} of {path}: {error.problem}", way_out=way_out) from error
    return values


def _read_lines(path: Path) -> dict[int, dict[str, Any]]:
    """The JSON object of each line that is not blank, by line number."""
    with map_file_errors(path):
        raw = path.read_bytes()
    # Not splitlines(): it also splits at Unicode line separators, which a text may contain.
    lines = decode_utf8(raw, f"The file {path}", InvalidInput).split("\n")
    numbered_lines = {number: line for number, line in enumerate(lines, start=1) if line.strip()}
    _refuse_other_formats(next(iter(numbered_lines.values()), ""), path)
    return {number: _parse_json_line(line, number, path) for number, line in numbered_lines.items()}


def _refuse_other_formats(first_line: str, path: Path) -> None:
    """Refuse a file whose first line is not the header of an export, and name the command for other files."""
    try:
        head = json.loads(first_line)
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("is") != "export" or head.get("format") != EXPORT_FORMAT:
        raise InvalidInput(
            f"{path} is not an export of cofire: its first line does not name the format.",
            way_out=(
                'For JSON lines such as {"text": "…"} or one fact per line: cofire remember --file FILE. '
                "For chats and documents: cofire ingest FILE. An export is made with: cofire export FILE"
            ),
        )
    if head.get("version", EXPORT_VERSION + 1) > EXPORT_VERSION:
        raise InvalidInput(
            f"{path} is an export of a newer cofire.",
            way_out="Update cofire, or export again with this version: cofire export FILE",
        )


def _parse_json_line(line: str, number: int, path: Path) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise InvalidInput(
            f"Line {number} of {path} is not JSON: {error}.", way_out="Correct the line, or export again."
        ) from error
    if not isinstance(values, dict) or values.get("is") not in {"export", "fact", "edge"}:
        raise InvalidInput(
            f"Line {number} of {path} is neither a fact nor an edge.", way_out="Correct the line, or export again."
        )
    return values


def _parse_fact(line: ExportLine, *, settings: Settings, superseded: Collection[object]) -> Fact:
    """The fact of a line. If the file supersedes it, its end is left out: loading the edge sets it again."""
    values = {name: line[name] for name in validation.FACT_FIELDS if line.get(name) is not None}
    values.pop("supersedes", None)  # exported as edges
    if _parse_validity_end(line) is not None and line.get("id") in superseded:
        del values["valid_until"]
    stored_at = validation.parse_time(line.get("stored_at"), "stored_at", InvalidFact)
    return replace(
        validation.parse_fact(values, settings),
        stored_at=stored_at,
        pinned=line.get("pinned") is True,
        archived=line.get("archived") is True,
    )


def _parse_validity_end(line: ExportLine) -> datetime | None:
    return validation.parse_time(line.get("valid_until"), "valid_until", InvalidFact)


def _parse_edge(line: ExportLine) -> Edge:
    """The edge of a line, with the ids of the file."""
    kind = validation.parse_name(line.get("kind"), "kind", InvalidInput)
    if kind is None:
        raise InvalidInput("The edge has no kind.", way_out="Correct the line, or export again.")
    return Edge(
        str(line.get("source")),
        str(line.get("target")),
        kind,
        validation.parse_share(line.get("weight"), "weight"),
        validation.parse_share(line.get("confidence"), "confidence"),
        validation.parse_tags(line.get("tags"), InvalidInput),
        validation.parse_name(line.get("origin"), "origin", InvalidInput) or "",
        co_access_count=validation.check_count(
            line.get("co_access_count") or 0, "co_access_count", low=0, high=MAX_EDGES
        ),
        strengthened=validation.parse_time(line.get("strengthened"), "strengthened", InvalidInput),
    )


COPY_BATCH = 500
COPY_PAGE_SIZE = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

ProgressCallback = Callable[[Progress], None]
HashesById = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """The equal content of two stores: rows by table, facts by scope, edges by kind, and checksums by table.

    Ended edges count as rows, but not as edges of their kind.
    """

    rows: Mapping[str, int]
    scopes: Mapping[str, int]
    kinds: Mapping[str, int]
    checksums: Mapping[str, str]

    @property
    def checksum(self) -> str:
        """One checksum over all tables."""
        return blake2b(repr(sorted(self.checksums.items())).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class CopyResult:
    """How many facts were copied, how many the target had before, and the content of both stores."""

    copied: int
    there: int
    tally: StoreSummary


@dataclass
class StoreComparison:
    """Running comparison of two stores. By table: the number of differing rows, and the key of the first."""

    rows: Counter[str] = field(default_factory=Counter)
    scopes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    digests: dict[str, Any] = field(default_factory=dict)
    differing: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    def add_rows(self, table: str, ours: Sequence[TransferRow], theirs: Sequence[TransferRow]) -> None:
        """Add rows of a table as both stores have them."""
        digest = self.digests.setdefault(table, blake2b(digest_size=16))
        for row in ours:
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
        self.rows[table] += len(ours)
        if ours != theirs:
            differing = sorted({*ours} ^ {*theirs}, key=repr) or ours  # ours: only the order differs
            keys = {row[:3] if table == "edges" else row[0] for row in differing}
            self.differing[table] += len(keys)
            self.example.setdefault(table, differing[0][0])

    def count(self, ours: TransferBatch) -> None:
        """Count facts by scope, and current edges by kind."""
        self.scopes.update(str(fact["scope"]) for fact in ours.named("facts"))
        self.kinds.update(str(edge["kind"]) for edge in ours.named("edges") if edge["ended"] is None)

    def summarise(self) -> StoreSummary:
        checksums = {table: digest.hexdigest() for table, digest in self.digests.items()}
        return StoreSummary(
            rows=dict(self.rows),
            scopes=dict(sorted(self.scopes.items())),
            kinds=dict(sorted(self.kinds.items())),
            checksums=checksums,
        )


def copy(
    source: TransferableStore, target: TransferableStore, *, now: datetime, advance: ProgressCallback
) -> CopyResult:
    """Copy all facts that the target lacks, one transaction for each batch, then compare the stores.

    Facts in the target are not written again, so an interrupted copy can be continued.
    """
    source_hashes = read_hashes(source)
    target_hashes = read_hashes(target)
    refuse_other_facts(source_hashes, target_hashes)
    missing = [id for id in source_hashes if id not in target_hashes]
    _write_records(source.read_metadata(), target, now)
    total = len(missing) + len(source_hashes)
    done = 0
    for batch in split_batches(missing):
        target.import_facts(source.export_facts(batch), now)
        done += len(batch)
        advance(Progress("copying", done, total))
    metadata = source.read_metadata()
    if metadata != target.read_metadata():
        target.write_metadata(metadata)
    summary = compare(source, target, advance=lambda step: advance(Progress("comparing", done + step.done, total)))
    return CopyResult(len(missing), len(target_hashes), summary)


def compare(source: TransferableStore, target: TransferableStore, *, advance: ProgressCallback) -> StoreSummary:
    """The content of two equal stores. If they differ, a Conflict says where."""
    ids = sorted({**read_hashes(source), **read_hashes(target)})
    comparison = StoreComparison()
    for table in TRANSFER_COLUMNS:
        comparison.add_rows(table, (), ())
    done = 0
    for batch in split_batches(ids):
        ours = source.export_facts(batch).of(batch)
        theirs = target.export_facts(batch).of(batch)
        for table in TRANSFER_COLUMNS:
            comparison.add_rows(table, ours.rows[table], theirs.rows[table])
        comparison.count(ours)
        done += len(batch)
        advance(Progress("comparing", done, len(ids)))
    _compare_metadata(comparison, source.read_metadata(), target.read_metadata())
    if comparison.differing:
        raise _make_difference_error(comparison)
    return comparison.summarise()


def _compare_metadata(comparison: StoreComparison, ours: StoreMetadata, theirs: StoreMetadata) -> None:
    comparison.add_rows("records", sorted(ours.records.items()), sorted(theirs.records.items()))
    comparison.add_rows("spans", ours.spans, theirs.spans)
    comparison.add_rows("occasions", _list_feedback_rows(ours), _list_feedback_rows(theirs))
    comparison.add_rows("word_counts", _list_word_count_rows(ours), _list_word_count_rows(theirs))


def _list_feedback_rows(metadata: StoreMetadata) -> list[TransferRow]:
    rows: list[TransferRow] = []
    for recall in metadata.occasions:
        id_sets = (recall.first, recall.helped, recall.hurt)
        rows.append((recall.id, *(tuple(sorted(ids)) for ids in id_sets)))
    return rows


def _list_word_count_rows(metadata: StoreMetadata) -> list[TransferRow]:
    return [
        (
            count.scope,
            count.facts,
            count.length,
            count.terms,
            count.holding,
            count.sample,
            count.sampled,
            count.counted,
        )
        for count in metadata.words
    ]


def _make_difference_error(comparison: StoreComparison) -> Conflict:
    differences = [
        f"{table} ({count:,}, the first of {comparison.example[table]})"
        for table, count in comparison.differing.items()
    ]
    return Conflict(
        f"The two stores differ in {', '.join(differences)}.",
        way_out="One of them was changed after the copy. Copy into an empty store, without writing to either meanwhile.",
    )


def read_hashes(store: TransferableStore) -> dict[str, bytes]:
    """The content hash of every fact by id, sorted by id."""
    all_facts = FactFilter(now=_EPOCH, scopes=None, archived=True, whenever=True)
    hashes: dict[str, bytes] = {}
    before: str | None = None
    while page := store.list_facts(all_facts, COPY_PAGE_SIZE, before):
        hashes |= {fact.id: fact.hash for fact in page}
        before = page[-1].id
    return dict(sorted(hashes.items()))


def split_batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), COPY_BATCH):
        yield ids[start : start + COPY_BATCH]


def refuse_other_facts(source_hashes: HashesById, target_hashes: HashesById) -> None:
    """Refuse a target with facts that the source lacks or has with other content. A copy never merges two memories."""
    extra = [id for id in target_hashes if id not in source_hashes]
    if extra:
        raise Conflict(
            f"Facts of the target are not in the source: {len(extra):,}, the first of them {extra[0]}.",
            way_out="Copy into an empty store. To merge two memories: cofire export, then cofire import",
        )
    changed = [id for id, hash in target_hashes.items() if source_hashes[id] != hash]
    if changed:
        raise Conflict(
            f"Facts of the target differ from those of the source: {len(changed):,}, the first of them {changed[0]}.",
            way_out="Copy into an empty store.",
        )


def _write_records(metadata: StoreMetadata, target: TransferableStore, now: datetime) -> None:
    """Write records before facts: a store accepts vectors only if it has the record of their model."""
    target_records = target.read_metadata().records
    _refuse_other_model(_decode_model(metadata.records), _decode_model(target_records))
    new_records = [
        StoreRecord(name, value) for name, value in metadata.records.items() if target_records.get(name) != value
    ]
    if new_records:
        target.write(Change(now=now, records=tuple(new_records)), {})


def _decode_model(records: Mapping[str, bytes]) -> Model | None:
    value = records.get(MODEL_RECORD)
    return StoredModel.decode(value).model if value else None


def _refuse_other_model(source_model: Model | None, target_model: Model | None) -> None:
    if target_model is not None and source_model != target_model:
        raise OtherModel(
            f"The target has vectors of {_format_model(target_model)}, "
            f"the source has vectors of {_format_model(source_model)}.",
            way_out="Copy into an empty store, or embed both with the same model first: cofire reembed",
        )


def _format_model(model: Model | None) -> str:
    return f"{model.name} ({model.dimension} dimensions)" if model else "no model"
