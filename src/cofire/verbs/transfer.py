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
# How a file of SQLite begins.
SQLITE_HEADER = b"SQLite format 3"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written, and where."""

    path: str
    facts: int
    edges: int


def export(path: str | PathLike[str], filters: FilterOptions) -> Steps[ExportResult]:
    """Write facts and their edges to a file: GraphML if its name ends so, else JSONL. The file appears when it is whole."""
    target = Path(validation.parse_path(path))
    _refuse_store_file(target)
    writer = _format_graphml if target.suffix.lower() == ".graphml" else _format_jsonl
    facts = yield from _scan_facts(filters)
    edges = yield from _read_edges_among({fact.id for fact in facts})
    rated = yield from store.fetch_importance([fact.id for fact in facts])
    with map_file_errors(target), _open_atomically(target) as out:
        out.writelines(writer(facts, edges, rated))
    return ExportResult(str(target), len(facts), len(edges))


def _refuse_store_file(target: Path) -> None:
    """An older export may be overwritten, a memory never, be it this one or another."""
    with map_file_errors(target):
        if not target.is_file():
            return
        with target.open("rb") as known:
            begins = known.read(len(SQLITE_HEADER))
    if begins == SQLITE_HEADER:
        raise InvalidInput(f"{target} is a store, which an export would destroy.", way_out="Name another file.")


@contextmanager
def _open_atomically(target: Path) -> Iterator[TextIO]:
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


def _scan_facts(filters: FilterOptions) -> Steps[list[Fact]]:
    now: datetime = yield ReadClock()
    size = yield from store.read_size()
    found: list[Fact] = []
    before: str | None = None
    while page := (
        yield from store.list_facts(
            build_filter(filters, now, everywhere=True, whenever=True), EXPORT_PAGE_SIZE, before
        )
    ):
        found += page
        before = page[-1].id
        yield Emit(Progress("export", len(found), max(len(found), size.facts)))
    return found[::-1]


def _read_edges_among(ids: set[str]) -> Steps[list[Edge]]:
    found = yield from store.list_edges(EdgeFilter(), MAX_EDGES)
    kept = [edge for edge in found if edge.source in ids and edge.target in ids]
    return sorted(kept, key=lambda edge: (edge.source, edge.target, edge.kind))


def _format_jsonl(facts: Sequence[Fact], edges: Sequence[Edge], rated: Mapping[str, FactImportance]) -> Iterator[str]:
    del rated  # computed anew where it is loaded
    yield _format_line(
        {"is": "export", "format": EXPORT_FORMAT, "version": EXPORT_VERSION, "facts": len(facts), "edges": len(edges)}
    )
    for fact in facts:
        values = fact_json(fact)
        del values["superseded_by"]  # exported as an edge
        yield _format_line({"is": "fact", **values})
    for edge in edges:
        yield _format_line({"is": "edge", **edge_json(edge)})


def _format_graphml(facts: Sequence[Fact], edges: Sequence[Edge], rated: Mapping[str, FactImportance]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, on, kind in _GRAPHML_ATTRIBUTES:
        yield f'<key id="{on}.{name}" for="{on}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph edgedefault="directed">\n'
    for fact in facts:
        yield f'<node id="{escape(fact.id)}">{_format_data("node", _list_node_values(fact, rated.get(fact.id)))}</node>\n'
    for number, edge in enumerate(edges):
        ends = f'source="{escape(edge.source)}" target="{escape(edge.target)}"'
        yield f'<edge id="e{number}" {ends}>{_format_data("edge", _list_edge_values(edge))}</edge>\n'
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


def _list_node_values(fact: Fact, rated: FactImportance | None) -> dict[str, object]:
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


def _list_edge_values(edge: Edge) -> dict[str, object]:
    values = {"kind": edge.kind, "tags": ",".join(edge.tags) or None, "origin": edge.origin}
    return {**values, "weight": edge.weight, "confidence": edge.confidence}


def _format_data(on: str, values: Mapping[str, object]) -> str:
    said = ((name, value) for name, value in values.items() if value is not None)
    return "".join(
        f'<data key="{on}.{name}">{escape(_strip_control_characters(str(value)), quote=False)}</data>'
        for name, value in said
    )


def _strip_control_characters(text: str) -> str:
    """XML knows no control characters but tab and line ends, and not the two that Unicode has for no character."""
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
    """What was read back: facts by their new ids, and edges; and how many of the facts memory did not know."""

    facts: int
    edges: int
    new: int


def load(path: str | PathLike[str], settings: Settings) -> Steps[LoadResult]:
    """Read a JSONL export. Facts that are known already keep their ids; edges follow the facts to their new ids.

    Every line is looked at before anything is kept. What happened to known facts and edges since the export stays so.
    """
    file = Path(validation.parse_path(path))
    lines = _read_lines(file)
    facts = {number: line for number, line in lines.items() if line["is"] == "fact"}
    drawn = _parse_lines(_parse_edge, {number: line for number, line in lines.items() if line["is"] == "edge"}, file)
    superseded = {edge.target for edge in drawn if edge.kind == SUPERSEDES}
    given = _parse_lines(partial(_parse_fact, settings=settings, superseded=superseded), facts, file)
    held, new = yield from remember_new(given, settings)
    told = dict(zip(held, facts.values(), strict=True))
    ids = {line["id"]: id for id, line in zip(held, facts.values(), strict=True) if isinstance(line.get("id"), str)}
    edges = [
        replace(edge, source=ids[edge.source], target=ids[edge.target]) for edge in drawn if _has_known_ends(edge, ids)
    ]
    now: datetime = yield ReadClock()
    change = Change(
        now=now,
        edges=tuple(EdgeWrite(edge, _choose_merge_mode(edge, new), own=True) for edge in edges),
        curation=CurationChange(superseded=(yield from _find_superseded(edges, told))),
        idle_minutes=settings[SESSION_IDLE_MINUTES],
    )
    yield from store.write(change)
    return LoadResult(len(told), len(edges), len(new))


def _find_superseded(edges: Iterable[Edge], told: Mapping[str, ExportLine]) -> Steps[tuple[Supersession, ...]]:
    """Facts whose place others take, if they did not before: that can then be taken back, as it could where they were exported."""
    drawn = [edge for edge in edges if edge.kind == SUPERSEDES]
    if not drawn:
        return ()
    ids = frozenset(edge.target for edge in drawn)
    held = yield from store.list_edges(EdgeFilter(kinds=frozenset([SUPERSEDES]), ids=ids), MAX_EDGES)
    known = {(edge.source, edge.target) for edge in held}
    ends = ((edge, _parse_validity_end(told[edge.target])) for edge in drawn if (edge.source, edge.target) not in known)
    return tuple(Supersession(edge.target, edge.source, end) for edge, end in ends if end is not None)


def _choose_merge_mode(edge: Edge, new: Collection[str]) -> str:
    """What was drawn as new facts were remembered becomes as it was; between known facts memory knows better."""
    return "update" if edge.source in new or edge.target in new else "skip"


def _parse_lines(read: Callable[[ExportLine], T], lines: ExportLines, path: Path) -> list[T]:
    """What each of these lines gives; one that makes no sense is named."""
    found = list[T]()
    for number, line in lines.items():
        try:
            found.append(read(line))
        except InvalidInput as error:
            way_out = f"{error.way_out} Nothing was loaded."
            raise type(error)(f"Line {number} of {path}: {error.problem}", way_out=way_out) from error
    return found


def _has_known_ends(edge: Edge, ids: Mapping[str, str]) -> bool:
    return edge.source in ids and edge.target in ids


def _read_lines(path: Path) -> dict[int, dict[str, Any]]:
    """What each line says, by its number."""
    with map_file_errors(path):
        raw = path.read_bytes()
    # Not splitlines(), which also parts at the line separators that a text may hold.
    texts = enumerate(decode_utf8(raw, f"The file {path}", InvalidInput).split("\n"), start=1)
    filled = {number: line for number, line in texts if line.strip()}
    _refuse_other_formats(next(iter(filled.values()), ""), path)
    return {number: _parse_json_line(line, number, path) for number, line in filled.items()}


def _refuse_other_formats(first_line: str, path: Path) -> None:
    """An export names its format in the first line. Other files have commands of their own."""
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
            f"Line {number} of {path} is not JSON: {error}.", way_out="Mend the line, or export anew."
        ) from error
    if not isinstance(values, dict) or values.get("is") not in {"export", "fact", "edge"}:
        raise InvalidInput(f"Line {number} of {path} is no fact and no edge.", way_out="Mend the line, or export anew.")
    return values


def _parse_fact(line: ExportLine, *, settings: Settings, superseded: Collection[object]) -> Fact:
    """A fact as it was before others took its place, which ends it anew."""
    said = {label: line[label] for label in validation.FACT_FIELDS if line.get(label) is not None}
    said.pop("supersedes", None)  # exported as edges
    if _parse_validity_end(line) is not None and line.get("id") in superseded:
        del said["valid_until"]
    stored = validation.parse_time(line.get("stored_at"), "stored_at", InvalidFact)
    pinned, archived = (line.get(mark) is True for mark in ("pinned", "archived"))
    return replace(validation.parse_fact(said, settings), stored_at=stored, pinned=pinned, archived=archived)


def _parse_validity_end(line: ExportLine) -> datetime | None:
    return validation.parse_time(line.get("valid_until"), "valid_until", InvalidFact)


def _parse_edge(line: ExportLine) -> Edge:
    """An edge between the facts of the file. One that leads out of it is left aside later."""
    kind = validation.parse_name(line.get("kind"), "kind", InvalidInput)
    if kind is None:
        raise InvalidInput("The edge has no kind.", way_out="Mend the line, or export anew.")
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


COPY_BATCH, COPY_PAGE_SIZE = 500, 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

ProgressCallback = Callable[[Progress], None]
HashesById = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """What both stores hold, being the same: rows of each kind, facts of each scope, edges of each kind, and checksums.

    Edges that have ended are among the rows and not among the kinds.
    """

    rows: Mapping[str, int]
    scopes: Mapping[str, int]
    kinds: Mapping[str, int]
    checksums: Mapping[str, str]

    @property
    def checksum(self) -> str:
        """All checksums in one."""
        return blake2b(repr(sorted(self.checksums.items())).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class CopyResult:
    """How many facts were copied now, how many were there before, and what both stores hold."""

    copied: int
    there: int
    tally: StoreSummary


@dataclass
class StoreComparison:
    """What was seen of both stores so far, and where they differ: how many rows of each kind, and whose the first is."""

    rows: Counter[str] = field(default_factory=Counter)
    scopes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    digests: dict[str, Any] = field(default_factory=dict)
    differing: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    def enter(self, table: str, ours: Sequence[TransferRow], theirs: Sequence[TransferRow]) -> None:
        """Note rows of a kind as both stores have them."""
        digest = self.digests.setdefault(table, blake2b(digest_size=16))
        for row in ours:
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
        self.rows[table] += len(ours)
        if ours != theirs:
            odd = sorted({*ours} ^ {*theirs}, key=repr) or ours  # the same in another order
            self.differing[table] += len({row[:3] if table == "edges" else row[0] for row in odd})
            self.example.setdefault(table, odd[0][0])

    def count(self, ours: TransferBatch) -> None:
        """Count facts by scope, and edges that hold by kind."""
        self.scopes.update(str(one["scope"]) for one in ours.named("facts"))
        self.kinds.update(str(one["kind"]) for one in ours.named("edges") if one["ended"] is None)

    def tally(self) -> StoreSummary:
        checksums = {table: digest.hexdigest() for table, digest in self.digests.items()}
        return StoreSummary(
            dict(self.rows), dict(sorted(self.scopes.items())), dict(sorted(self.kinds.items())), checksums
        )


def copy(
    source: TransferableStore, target: TransferableStore, *, now: datetime, advance: ProgressCallback
) -> CopyResult:
    """Bring all that is missing from a source to its target, a batch in one transaction, then compare the two.

    What is there already stays as it is, so a copy that was stopped goes on where it was.
    """
    held, there = read_hashes(source), read_hashes(target)
    refuse_other_facts(held, there)
    missing = [id for id in held if id not in there]
    _write_records(source.read_metadata(), target, now)
    whole, done = len(missing) + len(held), 0
    for batch in split_batches(missing):
        target.import_facts(source.export_facts(batch), now)
        done += len(batch)
        advance(Progress("copying", done, whole))
    if (household := source.read_metadata()) != target.read_metadata():
        target.write_metadata(household)
    compared = compare(source, target, advance=lambda step: advance(Progress("comparing", done + step.done, whole)))
    return CopyResult(len(missing), len(there), compared)


def compare(source: TransferableStore, target: TransferableStore, *, advance: ProgressCallback) -> StoreSummary:
    """What two stores hold, being the same; a Conflict says where they differ."""
    ids = sorted({**read_hashes(source), **read_hashes(target)})
    ledger = StoreComparison()
    for table in TRANSFER_COLUMNS:
        ledger.enter(table, (), ())
    done = 0
    for batch in split_batches(ids):
        ours, theirs = source.export_facts(batch).of(batch), target.export_facts(batch).of(batch)
        for table in TRANSFER_COLUMNS:
            ledger.enter(table, ours.rows[table], theirs.rows[table])
        ledger.count(ours)
        done += len(batch)
        advance(Progress("comparing", done, len(ids)))
    _compare_metadata(ledger, source.read_metadata(), target.read_metadata())
    if ledger.differing:
        raise _make_difference_error(ledger)
    return ledger.tally()


def _compare_metadata(ledger: StoreComparison, ours: StoreMetadata, theirs: StoreMetadata) -> None:
    ledger.enter("records", sorted(ours.records.items()), sorted(theirs.records.items()))
    ledger.enter("spans", ours.spans, theirs.spans)
    ledger.enter("occasions", _list_feedback_rows(ours), _list_feedback_rows(theirs))
    ledger.enter("word_counts", _list_word_count_rows(ours), _list_word_count_rows(theirs))


def _list_feedback_rows(household: StoreMetadata) -> list[TransferRow]:
    return [(one.id, *(tuple(sorted(ids)) for ids in (one.first, one.helped, one.hurt))) for one in household.occasions]


def _list_word_count_rows(household: StoreMetadata) -> list[TransferRow]:
    return [
        (one.scope, one.facts, one.length, one.terms, one.holding, one.sample, one.sampled, one.counted)
        for one in household.words
    ]


def _make_difference_error(ledger: StoreComparison) -> Conflict:
    places = [f"{table} ({count:,}, the first of {ledger.example[table]})" for table, count in ledger.differing.items()]
    return Conflict(
        f"The two stores differ in {', '.join(places)}.",
        way_out="Somebody wrote to one of them since they were copied. Copy into an empty store, while nobody writes to either.",
    )


def read_hashes(store: TransferableStore) -> dict[str, bytes]:
    """The content hash of every fact by id, in the order of ids."""
    everything = FactFilter(now=_EPOCH, scopes=None, archived=True, whenever=True)
    found: dict[str, bytes] = {}
    before: str | None = None
    while page := store.list_facts(everything, COPY_PAGE_SIZE, before):
        found |= {fact.id: fact.hash for fact in page}
        before = page[-1].id
    return dict(sorted(found.items()))


def split_batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), COPY_BATCH):
        yield ids[start : start + COPY_BATCH]


def refuse_other_facts(held: HashesById, there: HashesById) -> None:
    """A target may hold nothing but what the source has: two memories are not mixed."""
    others = [id for id in there if id not in held]
    if others:
        raise Conflict(
            f"Facts of the target are not in the source: {len(others):,}, the first of them {others[0]}.",
            way_out="Copy into an empty store. To bring two memories together: cofire export, then cofire import",
        )
    changed = [id for id, hash in there.items() if held[id] != hash]
    if changed:
        raise Conflict(
            f"Facts of the same id say something else in the target: {len(changed):,}, the first of them {changed[0]}.",
            way_out="Copy into an empty store.",
        )


def _write_records(household: StoreMetadata, target: TransferableStore, now: datetime) -> None:
    """Records first: vectors are kept only beside the record of their model."""
    there = target.read_metadata().records
    _refuse_other_model(_decode_model(household.records), _decode_model(there))
    news = [StoreRecord(name, value) for name, value in household.records.items() if there.get(name) != value]
    if news:
        target.write(Change(now=now, records=tuple(news)), {})


def _decode_model(records: Mapping[str, bytes]) -> Model | None:
    value = records.get(MODEL_RECORD)
    return StoredModel.decode(value).model if value else None


def _refuse_other_model(ours: Model | None, theirs: Model | None) -> None:
    if theirs is not None and ours != theirs:
        raise OtherModel(
            f"The target is for vectors of {_format_model(theirs)}, the source has those of {_format_model(ours)}.",
            way_out="Copy into an empty store, or give both the same model first with: cofire reembed",
        )


def _format_model(model: Model | None) -> str:
    return f"{model.name} ({model.dimension} numbers)" if model else "no model"
