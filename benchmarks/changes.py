"""Facts that change: whether the current version comes first, and whether facts that only look similar keep their order.

python benchmarks/changes.py [--store halves|whole|alone] [--off NAME=VALUE] [--show] [--out figures.json]

The set (`benchmarks/sets/changes`, or the folder given with `--set`) has pairs of an older and a newer version of one fact, and controls:
two facts that look similar and are both valid, with a question about the older one. Every text is stored with its timestamp, oldest first,
among unrelated facts (distractors). There are three ways to store them:

halves   one memory for each half of the set, with all distractors
whole    one memory for both halves, with all distractors
alone    one memory for each pair or control, with 40 distractors

`--off` names a setting and the value that turns the preference for newer facts off. Each question is then asked a second time with that
value. A control is reordered when its right fact ranks above the other one with that value, and not without it.

The figures are shares of the pairs, controls, contradictions or proposals of a half:

newer first       pairs whose newest version comes before all older ones
newer at 1        pairs whose newest version is the first hit
older first       pairs of which an older version comes before the newest
none found        pairs of which no version is among the first ten hits
controls right    controls whose right fact comes before the other one
right at 1        controls whose right fact is the first hit
reordered         controls that the preference put into the wrong order
review found      contradictions of which `memory.review()` proposes two versions
review precision  proposals of `memory.review()` that join two versions of a contradiction
"""

from __future__ import annotations

import json
import random
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cofire import Fact, Memory
from cofire.embedders.base import Embedder
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import provenance
from cofire.evaluation.store_setup import CachingEmbedder

SET = Path(__file__).resolve().parent / "sets" / "changes"
HALVES = ("tune", "other")
HITS = 10  # number of hits that count
COMPANY = 40  # distractors around a pair that is alone


@dataclass(frozen=True)
class Version:
    """One text of a pair or control, or a distractor."""

    id: str
    text: str
    timestamp: str
    speaker: str | None = None


@dataclass(frozen=True)
class Item:
    """A pair or a control: its versions, oldest first, and the question. `right` is the id of the version that answers it."""

    id: str
    kind: str
    half: str
    versions: tuple[Version, ...]
    question: str
    right: str
    contradiction: bool
    is_control: bool


@dataclass(frozen=True)
class ChangeSet:
    """The items (pairs and controls) and the distractors of a folder."""

    items: tuple[Item, ...]
    distractors: tuple[Version, ...]

    def keep_half(self, half: str) -> ChangeSet:
        return ChangeSet(tuple(item for item in self.items if item.half == half), self.distractors)


@dataclass(frozen=True)
class Answer:
    """The ids of the versions that came back for an item's question, best first; `off` is the answer with the preference off."""

    item: Item
    hits: tuple[str, ...]
    off: tuple[str, ...] | None


@dataclass(frozen=True)
class Proposed:
    """A pair that review proposes. `item` is the item both belong to, None where they belong to different ones."""

    item: Item | None
    half: str
    old: str
    new: str
    why: str

    @property
    def is_right(self) -> bool:
        return self.item is not None and self.item.contradiction


@dataclass(frozen=True)
class Measured:
    """All answers and proposals of a run."""

    answers: tuple[Answer, ...]
    proposals: tuple[Proposed, ...]

    def keep_half(self, half: str) -> Measured:
        answers = tuple(answer for answer in self.answers if answer.item.half == half)
        proposals = tuple(proposal for proposal in self.proposals if proposal.half == half)
        return Measured(answers, proposals)


class SharedVectors(CachingEmbedder):
    """Kept vectors for several memories: they stay when a memory closes, until `release`."""

    def close(self) -> None:
        pass

    def release(self) -> None:
        super().close()


def main(arguments: Sequence[str] | None = None, embedder: Embedder | None = None) -> int:
    options = read_arguments(arguments)
    changes = read_set(options.set)
    with TemporaryDirectory() as folder:
        vectors = SharedVectors(embedder or BundledEmbedder(), Path(folder))
        measured = measure(changes, options.store, dict(options.off), vectors)
        vectors.release()
    figures = {half: summarise(measured.keep_half(half)) for half in HALVES}
    figures["all"] = summarise(measured)
    show_figures(figures, options.store)
    if options.show:
        show_mistakes(measured)
    if options.out:
        provenance.write_json({"store": options.store, "off": dict(options.off), "figures": figures}, options.out)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument(
        "--set",
        type=Path,
        default=SET,
        help="folder with pairs.jsonl and controls.jsonl; without distractors.jsonl those of the default are used",
    )
    parser.add_argument("--store", choices=["halves", "whole", "alone"], default="halves", help="what shares a memory")
    parser.add_argument("--off", type=read_assignment, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--show", action="store_true", help="list the pairs, controls and proposals that are wrong")
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    return parser.parse_args(arguments)


def read_assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def read_set(folder: Path) -> ChangeSet:
    pairs = [read_item(row, is_control=False) for row in read_rows(folder / "pairs.jsonl")]
    controls = [read_item(row, is_control=True) for row in read_rows(folder / "controls.jsonl")]
    own_distractors = folder / "distractors.jsonl"
    distractor_rows = read_rows(own_distractors if own_distractors.exists() else SET / "distractors.jsonl")
    distractors = [Version(**row) for row in distractor_rows]
    return ChangeSet((*pairs, *controls), tuple(distractors))


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_item(row: Mapping[str, Any], *, is_control: bool) -> Item:
    return Item(
        id=row["id"],
        kind=row["kind"],
        half=row["half"],
        versions=tuple(Version(**version) for version in row["versions"]),
        question=row["question"],
        right=row["right"],
        contradiction=row["contradiction"],
        is_control=is_control,
    )


def measure(changes: ChangeSet, store: str, off: Mapping[str, str], embedder: Embedder) -> Measured:
    """Fill the memories, ask every question, and run the review of each memory."""
    parts = [measure_memory(part, off, embedder) for part in split_set(changes, store)]
    answers = [answer for part in parts for answer in part.answers]
    proposals = [proposal for part in parts for proposal in part.proposals]
    return Measured(tuple(answers), tuple(proposals))


def split_set(changes: ChangeSet, store: str) -> list[ChangeSet]:
    """The parts of the set that share a memory."""
    if store == "whole":
        return [changes]
    if store == "halves":
        return [changes.keep_half(half) for half in HALVES]
    return [ChangeSet((item,), choose_company(item, changes.distractors)) for item in changes.items]


def choose_company(item: Item, distractors: Sequence[Version]) -> tuple[Version, ...]:
    """The same distractors for an item in every run."""
    count = min(COMPANY, len(distractors))
    return tuple(random.Random(item.id).sample(distractors, count))


def measure_memory(changes: ChangeSet, off: Mapping[str, str], embedder: Embedder) -> Measured:
    asked_at = day_after(changes)
    with TemporaryDirectory() as folder:
        memory = Memory(Path(folder) / "changes.db", embedder=embedder, clock=lambda: asked_at)
        version_ids = stock(memory, changes)
        answers = [ask(memory, item, off, version_ids) for item in changes.items]
        proposals = review(memory, changes.items, version_ids)
        memory.close()
    return Measured(tuple(answers), tuple(proposals))


def day_after(changes: ChangeSet) -> datetime:
    """The day after the last fact: questions are asked then, so that figures do not depend on the day of the run."""
    timestamps = [version.timestamp for item in changes.items for version in item.versions]
    timestamps += [version.timestamp for version in changes.distractors]
    return datetime.fromisoformat(max(timestamps)).replace(tzinfo=UTC) + timedelta(days=1)


def stock(memory: Memory, changes: ChangeSet) -> dict[str, str]:
    """Store all texts, oldest first. Returns the version's id for each fact id."""
    versions = [version for item in changes.items for version in item.versions]
    versions += changes.distractors
    versions.sort(key=lambda version: version.timestamp)
    facts = [
        Fact(version.text, at=datetime.fromisoformat(version.timestamp), speaker=version.speaker)
        for version in versions
    ]
    fact_ids = memory.remember(facts)
    return {fact_id: version.id for fact_id, version in zip(fact_ids, versions, strict=True)}


def ask(memory: Memory, item: Item, off: Mapping[str, str], version_ids: Mapping[str, str]) -> Answer:
    hits = [version_ids[hit.id] for hit in memory.recall(item.question, k=HITS)]
    if not off:
        return Answer(item, tuple(hits), None)
    hits_off = [version_ids[hit.id] for hit in memory.recall(item.question, k=HITS, settings=off)]
    return Answer(item, tuple(hits), tuple(hits_off))


def review(memory: Memory, items: Sequence[Item], version_ids: Mapping[str, str]) -> list[Proposed]:
    memory.dream()
    memory.curate()
    owners = {version.id: item for item in items for version in item.versions}
    proposals = []
    for proposal in memory.review():
        old_owner = owners.get(version_ids[proposal.old.id])
        new_owner = owners.get(version_ids[proposal.new.id])
        item = old_owner if old_owner is new_owner else None
        named = new_owner or old_owner
        half = named.half if named else HALVES[0]
        proposals.append(Proposed(item, half, proposal.old.text, proposal.new.text, proposal.why))
    return proposals


def leads(item: Item, hits: Sequence[str]) -> bool:
    """Whether the right version comes back, and before every other version of the item."""
    return first_version(item, hits) == item.right


def first_version(item: Item, hits: Sequence[str]) -> str | None:
    """The best version of the item among the hits."""
    own_ids = {version.id for version in item.versions}
    return next((hit for hit in hits if hit in own_ids), None)


def is_first_hit(answer: Answer) -> bool:
    return answer.hits[:1] == (answer.item.right,)


def is_reordered(answer: Answer) -> bool:
    """Whether the right fact leads only with the preference off."""
    if answer.off is None:
        return False
    return leads(answer.item, answer.off) and not leads(answer.item, answer.hits)


def summarise(measured: Measured) -> dict[str, Any]:
    """The figures of a run, in percent; None where nothing was measured."""
    pairs = [answer for answer in measured.answers if not answer.item.is_control]
    controls = [answer for answer in measured.answers if answer.item.is_control]
    first_versions = [first_version(answer.item, answer.hits) for answer in pairs]
    compared = [answer for answer in controls if answer.off is not None]
    compared_pairs = [answer for answer in pairs if answer.off is not None]
    contradictions = [answer.item for answer in measured.answers if answer.item.contradiction]
    proposed_ids = {proposal.item.id for proposal in measured.proposals if proposal.item}
    older_first = [first not in (None, answer.item.right) for answer, first in zip(pairs, first_versions, strict=True)]
    return {
        "pairs": len(pairs),
        "newer first": percent(leads(answer.item, answer.hits) for answer in pairs),
        "newer first, off": percent(leads(answer.item, answer.off or ()) for answer in compared_pairs),
        "newer at 1": percent(is_first_hit(answer) for answer in pairs),
        "older first": percent(older_first),
        "none found": percent(first is None for first in first_versions),
        "controls": len(controls),
        "controls right": percent(leads(answer.item, answer.hits) for answer in controls),
        "controls right, off": percent(leads(answer.item, answer.off or ()) for answer in compared),
        "right at 1": percent(is_first_hit(answer) for answer in controls),
        "reordered": percent(is_reordered(answer) for answer in compared),
        "contradictions": len(contradictions),
        "review found": percent(item.id in proposed_ids for item in contradictions),
        "review proposals": len(measured.proposals),
        "review precision": percent(proposal.is_right for proposal in measured.proposals),
        "newer first by kind": summarise_kinds(pairs),
        "controls right by kind": summarise_kinds(controls),
    }


def summarise_kinds(answers: Sequence[Answer]) -> dict[str, float | None]:
    kinds = sorted({answer.item.kind for answer in answers})
    return {
        kind: percent(leads(answer.item, answer.hits) for answer in answers if answer.item.kind == kind)
        for kind in kinds
    }


def percent(outcomes: Iterable[bool]) -> float | None:
    values = list(outcomes)
    return round(100 * sum(values) / len(values), 1) if values else None


def show_figures(figures: Mapping[str, Mapping[str, Any]], store: str) -> None:
    console = Console()
    table = Table("percent", *figures, title=f"Facts that change (store: {store})")
    names = [name for name in figures["all"] if not name.endswith("by kind")]
    for name in names:
        table.add_row(name, *(show_value(column[name]) for column in figures.values()))
    console.print(table)
    for name in ("newer first by kind", "controls right by kind"):
        table = Table("kind", *figures, title=name)
        for kind in figures["all"][name]:
            table.add_row(kind, *(show_value(column[name].get(kind)) for column in figures.values()))
        console.print(table)


def show_value(value: float | None) -> str:
    return "-" if value is None else str(value)


def show_mistakes(measured: Measured) -> None:
    for answer in measured.answers:
        if leads(answer.item, answer.hits):
            continue
        item = answer.item
        texts = {version.id: version.text for version in item.versions}
        first = first_version(item, answer.hits)
        name = "reordered control" if is_reordered(answer) else "control" if item.is_control else "pair"
        print(f"{name} {item.id} ({item.half}, {item.kind}): {item.question}")
        print(f"    first: {texts[first] if first else 'none of its versions'}")
        print(f"    right: {texts[item.right]}")
    for proposal in measured.proposals:
        if not proposal.is_right:
            print(f"wrong proposal ({proposal.half}): {proposal.old} / {proposal.new} ({proposal.why})")
    proposed_ids = {proposal.item.id for proposal in measured.proposals if proposal.item}
    for answer in measured.answers:
        item = answer.item
        if item.contradiction and item.id not in proposed_ids:
            print(
                f"not proposed {item.id} ({item.half}, {item.kind}): "
                + " / ".join(version.text for version in item.versions)
            )


if __name__ == "__main__":
    sys.exit(main())
