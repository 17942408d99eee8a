"""Measure how often a recall abstains where memory could answer, and where it cannot.

    python benchmarks/abstention.py DATA_FOLDER… [--sets musique locomo] [--limit N] [--out figures.json] [--cache FOLDER] [--keep FOLDER]

Questions run on each whole set, on parts of 10, 100 and 1,000 facts that contain their answers, and on all sets in one scope.
Abstaining on a set's own question is a false silence. Strangers are questions of other kinds of sets, word salads, small talk,
other languages, questions whose answers were forgotten, and the adversarial questions of a set.
"""

from __future__ import annotations

import random
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.strangers import OTHER_LANGUAGES, SMALL_TALK, salads
from cofire import Memory
from cofire.embedders.base import Embedder
from cofire.embedders.bundled import BundledEmbedder
from cofire.evaluation import provenance
from cofire.evaluation.datasets import (
    EvaluationQuestion,
    EvaluationSet,
    find_sets,
    is_in_tuning_half,
    load_set,
    load_unanswerable,
)
from cofire.evaluation.metrics import HALVES
from cofire.evaluation.store_setup import CachingEmbedder, LoadOptions, default_cache_folder, open_loaded_memory
from cofire.settings.table import Settings

ARMS: Mapping[str, Mapping[str, object]] = {"default": {}, "words": {"semantic.enabled": False}}
OWN, DELETED, ADVERSARIAL = "own", "deleted answers", "adversarial"
STRANGERS = ("other topics", "nonsense", "small talk", "other languages", DELETED, ADVERSARIAL)

# Number of facts in a part, and number of such parts.
PARTS = {10: 12, 100: 4, 1_000: 1}
GOLD_SHARE, MOST_ASKED, OTHERS, FORGOTTEN = 0.6, 60, 100, 60
WHOLE, TOGETHER, SEED = "whole", "together", 1

Texts = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one question: its kind, where it ran, its evidence, and whether the recall answered."""

    kind: str
    set: str
    size: str
    tuning: bool
    evidence: float
    known: bool


@dataclass(frozen=True)
class Ground:
    """A memory under test: its set, how much of it is stored, the fact of each row, and how questions run."""

    memory: Memory
    set: str
    size: str
    fact_of: Mapping[str, str]
    settings: Mapping[str, object]

    def judged(self, kind: str, text: str, scope: object, *, tuning: bool) -> Judged:
        found = self.memory.recall(text, k=1, scope=scope, settings=self.settings).judgement  # type: ignore[arg-type]
        if found is None:
            raise ValueError(f"Nobody judged {text!r}.")
        return Judged(kind, self.set, self.size, tuning, found.evidence, found.known)


def main(arguments: Sequence[str] | None = None, make_embedder: Callable[[], Embedder] = BundledEmbedder) -> int:
    given = read_arguments(arguments)
    folders = [one for one in find_sets(given.folders) if not given.sets or one.name in given.sets]
    sets = [sample(load_set(folder, limit=None), given.limit) for folder in folders]
    unsaid = {folder.name: load_unanswerable(folder)[: given.limit] for folder in folders}
    found: dict[str, list[Judged]] = {}
    for arm, settings in ARMS.items():
        embedder = CachingEmbedder(make_embedder(), given.cache)
        found[arm] = list(everything(sets, unsaid, embedder, given.keep, settings))
    figures = {
        **provenance.collect_provenance(Settings.layered()),
        "silent_below": make_embedder().silent_below,
        "arms": {arm: in_figures(judged) for arm, judged in found.items()},
    }
    if given.out:
        provenance.write_json(figures, given.out)
    show(figures)
    return 0


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(description="False silence and refusals over evaluation sets.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="DATA_FOLDER", help="A set, or a folder of sets.")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="Only these sets.")
    parser.add_argument("--limit", type=int, metavar="N", help="Only N questions of each set, drawn by chance.")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="Where to write all figures.")
    parser.add_argument(
        "--cache", type=Path, default=default_cache_folder(), metavar="FOLDER", help="Where vectors are kept."
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Where stores are kept for the next run.")
    return parser.parse_args(arguments)


def everything(
    sets: Sequence[EvaluationSet],
    unsaid: Mapping[str, Sequence[EvaluationQuestion]],
    embedder: CachingEmbedder,
    keep: Path | None,
    settings: Mapping[str, object],
) -> Iterator[Judged]:
    """All verdicts of one arm: on whole sets, on parts, and on all sets together."""
    for chosen in sets:
        others = [one for one in sets if is_chat(one) != is_chat(chosen)]
        with whole(chosen, embedder, keep, settings) as ground:
            yield from of_strangers(ground, chosen, strangers_to(others, chance(chosen.name)))
            yield from asked(ground, ADVERSARIAL, unsaid[chosen.name])
            yield from of_its_own(ground, chosen.questions, embedder)
        for part, size in parts(chosen):
            with held(part, size, embedder, settings) as ground:
                strange = strangers_to(others, chance(part.name))
                some = chance(part.rows).sample(strange, len(strange) // PARTS[size])
                yield from of_strangers(ground, part, some)
                yield from of_its_own(ground, part.questions, embedder)
    if len(sets) > 1:
        joined = together(sets)
        with whole(joined, embedder, keep, settings) as ground:
            yield from of_strangers(ground, joined, strangers_to([], chance(TOGETHER)))
            yield from of_its_own(ground, joined.questions, embedder)


def of_its_own(ground: Ground, questions: Sequence[EvaluationQuestion], embedder: CachingEmbedder) -> Iterator[Judged]:
    """Questions that memory can answer, and some of them again after their answers are forgotten."""
    yield from asked(ground, OWN, questions)
    some = chance(ground.set, ground.size).sample(questions, min(FORGOTTEN, (len(questions) + 1) // 2))
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        ground.memory.backup(copy)
        with Memory(copy, embedder=_lent(embedder)) as memory:
            memory.forget([*{ground.fact_of[row] for one in some for row in one.gold}])
            yield from asked(replace(ground, memory=memory), DELETED, some)


def asked(ground: Ground, kind: str, questions: Sequence[EvaluationQuestion]) -> Iterator[Judged]:
    for one in questions:
        yield ground.judged(kind, one.text, one.scope, tuning=one.tuning)


def of_strangers(ground: Ground, chosen: EvaluationSet, texts: Texts) -> Iterator[Judged]:
    """Questions unrelated to the set, each in a scope of it."""
    scopes = sorted({fact["scope"] for fact in chosen.facts})
    draw = chance(ground.set, ground.size)
    for kind, text in texts:
        yield ground.judged(kind, text, draw.choice(scopes), tuning=is_in_tuning_half("", text, ""))


def strangers_to(others: Sequence[EvaluationSet], draw: random.Random) -> list[tuple[str, str]]:
    """The questions of other sets, and questions of no set."""
    foreign = [one.text for other in others for one in other.questions]
    return [
        *(("other topics", text) for text in draw.sample(foreign, min(OTHERS, len(foreign)))),
        *(("nonsense", text) for text in salads()),
        *(("small talk", text) for text in SMALL_TALK),
        *(("other languages", text) for text in OTHER_LANGUAGES),
    ]


@contextmanager
def whole(
    chosen: EvaluationSet, embedder: CachingEmbedder, keep: Path | None, settings: Mapping[str, object]
) -> Iterator[Ground]:
    manner = LoadOptions({}, dream=False, keep=keep)
    with open_loaded_memory(chosen.name, [chosen], _lent(embedder), manner, lambda *_: None) as stock:
        yield Ground(stock.memory, chosen.name, WHOLE, stock.fact_of[chosen.name], settings)


@contextmanager
def held(part: EvaluationSet, size: int, embedder: CachingEmbedder, settings: Mapping[str, object]) -> Iterator[Ground]:
    with Memory(":memory:", embedder=_lent(embedder)) as memory:
        ids = memory.remember(part.facts)
        yield Ground(memory, part.name, str(size), dict(zip(part.rows, ids, strict=True)), settings)


def parts(chosen: EvaluationSet) -> Iterator[tuple[EvaluationSet, int]]:
    """Repeatedly: some facts of one scope that contain the gold of some questions."""
    for size, times in PARTS.items():
        for number in range(times):
            draw = chance(chosen.name, size, number)
            scope = draw.choice(sorted({str(one.scope) for one in chosen.questions}))
            rows = [row for row, fact in zip(chosen.rows, chosen.facts, strict=True) if fact["scope"] == scope]
            if len(rows) >= size:
                yield part_of(chosen, scope, rows, size, draw), size


def part_of(chosen: EvaluationSet, scope: str, rows: Sequence[str], size: int, draw: random.Random) -> EvaluationSet:
    questions = [one for one in chosen.questions if one.scope == scope]
    gold: dict[str, None] = {}
    answered = []
    for one in draw.sample(questions, len(questions)):
        if len(answered) < MOST_ASKED and len({*gold, *one.gold}) <= GOLD_SHARE * size:
            gold.update(dict.fromkeys(one.gold))
            answered.append(one)
    rest = [row for row in rows if row not in gold]
    kept = {*gold, *draw.sample(rest, min(len(rest), size - len(gold)))}
    facts = dict(zip(chosen.rows, chosen.facts, strict=True))
    inside = tuple(row for row in rows if row in kept)
    return EvaluationSet(chosen.name, inside, tuple(facts[row] for row in inside), tuple(answered))


def together(sets: Sequence[EvaluationSet]) -> EvaluationSet:
    """All sets in one scope; the ids of rows and questions start with their set."""
    return EvaluationSet(
        TOGETHER,
        tuple(f"{one.name}/{row}" for one in sets for row in one.rows),
        tuple({**fact, "scope": TOGETHER} for one in sets for fact in one.facts),
        tuple(
            replace(asked, gold=tuple(f"{one.name}/{row}" for row in asked.gold), scope=TOGETHER)
            for one in sets
            for asked in one.questions
        ),
    )


def sample(chosen: EvaluationSet, limit: int | None) -> EvaluationSet:
    """The set with a random sample of its questions, from all its scopes."""
    if limit is None or limit >= len(chosen.questions):
        return chosen
    return replace(chosen, questions=tuple(chance(chosen.name).sample(chosen.questions, limit)))


def is_chat(chosen: EvaluationSet) -> bool:
    """Whether a set consists of chats. Sets of passages share topics, and so do sets of chats."""
    return any("speaker" in fact or "session" in fact or "at" in fact for fact in chosen.facts)


def chance(*names: object) -> random.Random:
    """The same draws in every run."""
    return random.Random(f"{SEED} {names}")


def in_figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """By half and kind: how many questions were refused, in all, by size and by set."""
    return {
        half: {kind: _by_kind([one for one in judged if _is_in(one, half)], kind) for kind in (OWN, *STRANGERS)}
        for half in HALVES
    }


def _by_kind(judged: Sequence[Judged], kind: str) -> dict[str, Any]:
    sizes = list(dict.fromkeys(one.size for one in judged))
    names = list(dict.fromkeys(one.set for one in judged))
    return {
        "all": summary(judged, kind),
        "sizes": {size: summary([one for one in judged if one.size == size], kind) for size in sizes},
        "sets": {name: summary([one for one in judged if one.set == name], kind) for name in names},
    }


def summary(judged: Sequence[Judged], kind: str) -> dict[str, Any]:
    """The number of questions of a kind, the share refused in percent, and how well evidence separates them from a set's own."""
    chosen = [one for one in judged if one.kind == kind]
    own = [one.evidence for one in judged if one.kind == OWN]
    silent = round(100 * sum(not one.known for one in chosen) / len(chosen), 2) if chosen else None
    area = auc(own, [one.evidence for one in chosen]) if own and chosen and kind != OWN else None
    return {"questions": len(chosen), "silent": silent, "auc": area}


def auc(own: Sequence[float], strange: Sequence[float]) -> float:
    """How often a question of the set has more evidence than a strange one; a tie counts half.

    >>> auc([0.9, 0.8], [0.7, 0.8])
    0.875
    """
    above = np.asarray(own)[:, None] - np.asarray(strange)[None]
    return round(float(np.mean((above > 0) + 0.5 * (above == 0))), 4)


def show(figures: Mapping[str, Any]) -> None:
    console = Console(width=max(120, Console().width))
    console.print(provenance.format_provenance(dict(figures)))
    for arm, halves in figures["arms"].items():
        for half in ("tuning", "other"):
            console.print(table(f"{arm}, {half} half: met with silence, percent (AUC)", halves[half]))


def table(title: str, kinds: Mapping[str, Any]) -> Table:
    """A table with one row for each kind: in all, by size, by set."""
    shown = Table(title=title, title_justify="left")
    sizes, names = kinds[OWN]["sizes"], kinds[OWN]["sets"]
    for label in ("asked", "all", *sizes, *names):
        shown.add_column(label, justify="left" if label == "asked" else "right")
    for kind, found in kinds.items():
        cells = [found["sizes"].get(size) for size in sizes] + [found["sets"].get(name) for name in names]
        shown.add_row(kind, _cell(found["all"], area=True), *(_cell(cell) for cell in cells))
    return shown


def _cell(found: Mapping[str, Any] | None, *, area: bool = False) -> str:
    if found is None or found["silent"] is None:
        return "–"
    return f"{found['silent']:.1f}" + (f" ({found['auc']:.3f})" if area and found["auc"] is not None else "")


def _is_in(one: Judged, half: str) -> bool:
    return half == "all" or one.tuning == (half == "tuning")


class _Lent:
    """An embedder shared by several memories."""

    def __init__(self, embedder: CachingEmbedder) -> None:
        self._embedder = embedder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def close(self) -> None:
        """Do nothing: the owner closes the embedder."""


def _lent(embedder: CachingEmbedder) -> Any:
    return _Lent(embedder)


if __name__ == "__main__":
    sys.exit(main())
