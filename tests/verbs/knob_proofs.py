"""Proofs that knobs act: for each, a value unlike its default and something seen that changes with it.

A proof looks at a result, a count of work or a value that was written; never at the settings themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from cofire.errors import CofireError, EmbedderError
from cofire.memory import Memory
from cofire.verbs.remember import Progress
from tests.conftest import Clock, HashedWords

Values = Mapping[str, object]
Seen = Callable[[Values], object]


@dataclass(frozen=True)
class Proof:
    """Set a knob to `value` over `given`, and what `seen` returns changes."""

    value: object
    seen: Seen
    given: Values = field(default_factory=dict)


class Sensitive(HashedWords):
    """The embedder of these proofs: two chance texts are little alike, so that like ones are linked."""

    def __init__(self) -> None:
        super().__init__()
        self.resting = (0.0, 0.08)


NOTES = [
    "Water boils in the red kettle of the kitchen.",
    "Milk boils in the red kettle of the kitchen.",
    "Soup boils in the red kettle of the kitchen.",
    "Cocoa boils in the red kettle of the kitchen.",
    "Broth boils in the blue kettle of the kitchen.",
    "Trains leave the northern station at noon with mail.",
    "Trains leave the northern station at night with mail.",
    "Trains leave the northern station at dawn with coal.",
    "Trains leave the southern station at dawn with salt.",
    "The floor was wet because the red kettle boiled over.",
    "Ana Lopez repaired the clock. Ana Lopez lives in Porto.",
    "Ben Okri asked Ana Lopez about the clock.",
]


def opened(values: Values, clock: Clock | None = None) -> Memory:
    return Memory(":memory:", embedder=Sensitive(), settings=values, clock=clock or Clock())


def filled(values: Values) -> Memory:
    """A memory that was told the notes over two hours of one session, and has dreamed at noon and at the end."""
    clock = Clock()
    memory = opened(values, clock)
    for number, text in enumerate(NOTES):
        tags = ["hot"] if number in {0, 3, 8} else []
        memory.remember(text, session="s", tags=tags, category="log" if number % 2 else "note")
        clock.now += timedelta(minutes=12)
        if number == 2:
            memory.dream()
    memory.dream()
    return memory


def edges(values: Values, kind: str | None = None, *, dreamed: bool = True) -> object:
    """The edges, by the texts they join."""
    memory = filled(values) if dreamed else told(values)
    texts = {fact.id: fact.text for fact in memory.facts()}
    return sorted((texts[one.source], texts[one.target], one.kind, one.weight) for one in memory.edges(kind=kind))


def told(values: Values) -> Memory:
    """A memory that was told the notes and has not dreamed."""
    memory = opened(values)
    memory.remember(NOTES)
    return memory


def of_kind(kind: str) -> Seen:
    return lambda values: edges(values, kind)


def links_at_once(values: Values) -> object:
    return edges(values, "auto_link", dreamed=False)


def scores(values: Values) -> object:
    memory = told(values)
    return [(hit.text, hit.score) for hit in memory.recall("red red kettle with mail at dawn")]


def hits(values: Values) -> object:
    return len(told(values).recall("kettle"))


def heard(values: Values) -> object:
    return [(report.name, report.status, report.heard) for report in told(values).recall("kettle", k=1).channels]


def mode(values: Values) -> object:
    return Memory(":memory:", settings=values).stats().mode


def outcome(values: Values) -> object:
    try:
        return bool(told(values))
    except CofireError as error:
        return error.problem


def batches(values: Values) -> object:
    steps: list[Progress] = []
    opened(values).remember(NOTES, progress=steps.append)
    return len(steps)


def dreaming_steps(values: Values) -> object:
    steps: list[Progress] = []
    told(values).dream(progress=steps.append)
    return len(steps)


def near(values: Values) -> object:
    """The nearest of many facts, for questions that none of them answers."""
    memory = opened({"keyword.enabled": False, "recall.headroom": 1, "recall.k": 1, **values})
    memory.remember([f"{first} {second}" for first in "bcdefghjklmnop" for second in "qruvwxz"])
    return [memory.recall(f"{first} {second} question").hits[0].text for first in "bcdef" for second in "qruv"]


def counted(values: Values) -> object:
    """How many facts the statistics know of, and how many vectors they keep as a sample."""
    memory = opened(values)
    for text in NOTES[:8]:
        memory.remember(text)
    statistics = memory._opened.world.store.statistics(["default"], [])
    return statistics.facts, len(statistics.sample)


def pragma(name: str) -> Seen:
    def seen(values: Values) -> object:
        with opened(values) as memory:
            return memory._opened.world.store._lines.reader.connection.pragma(name)

    return seen


def mentions(values: Values) -> object:
    return filled(values).stats().size.mentions


def reader_at_work(values: Values) -> object:
    """A reader whose server is not there says so when it is asked to read."""
    try:
        return filled(values).stats().size.mentions
    except EmbedderError as error:
        return type(error).__name__


def descriptions(values: Values) -> object:
    memory = filled(values)
    return sorted(memory.portrait(fact.id).descriptions for fact in memory.facts())


def hinted(values: Values) -> object:
    """Scores for a word that stands in no text but in descriptions of others."""
    memory = opened(values)
    memory.remember(NOTES[0])
    memory.remember(NOTES[1], subject="Zanzibar")
    return [(hit.text, hit.score) for hit in memory.recall("Zanzibar", mode="minimal")]


def bridges(values: Values) -> object:
    """Two groups of facts without a session, of which no two are near enough to be linked."""
    memory = opened({"auto_link.enabled": False, **values})
    memory.remember([*NOTES[:3], *NOTES[4:9]])
    memory.dream()
    return len(memory.edges(kind="bridge"))


def ranks(values: Values) -> object:
    memory = filled(values)
    rated = [memory.portrait(fact.id).importance for fact in memory.facts()]
    return [round(one.pagerank, 6) for one in rated if one]


def ranked_again(values: Values) -> object:
    """Whether a second dream ranks a fact that was told after the first."""
    memory = filled(values)
    latest = memory.remember("Tea boils in the red kettle of the kitchen.", session="s")
    memory.dream()
    return memory.portrait(latest).importance is not None


def active_hours(values: Values) -> object:
    clock = Clock()
    memory = opened(values, clock)
    memory.remember("one")
    clock.now += timedelta(minutes=20)
    memory.remember("two")
    return memory._opened.world.store.active_hours()


def proposed_tags(values: Values) -> object:
    return [fact.tags for fact in told(values).facts()]


def dreamers(values: Values) -> object:
    with opened(values) as memory:
        return len(memory._opened._dreamers)


def energy_paths(values: Values) -> object:
    """Paths by their texts, from what a question about the notes finds, led by a tag."""
    memory = filled(values)
    texts = {fact.id: fact.text for fact in memory.facts()}
    found = memory.explore(query="Which trains leave with mail, and who asked about the clock?", tags=["hot"])
    return [
        ([texts[id] for id in path.ids], [round(energy, 9) for energy in path.energies], path.end)
        for seed in found.seeds
        for path in seed.paths
    ]


RRF = {"fusion.method": "rrf"}
FEW = {"dream.neighbours": 1}
ALIKE = {"edge_score_threshold": 0.1, "edge_score.minimum_cosine": 0.05, "edge_degree_cap": 100}

PROOFS: dict[str, Proof] = {
    "preset": Proof("documented-rrf", scores),
    "embedder.name": Proof("none", mode),
    "remember.max_characters": Proof(10, outcome),
    "remember.batch": Proof(5, batches),
    "recall.k": Proof(2, hits),
    "recall.budget": Proof(20, hits),
    "recall.headroom": Proof(1, heard),
    "semantic.enabled": Proof(False, heard),
    "semantic.weight": Proof(3.0, scores),
    "semantic.metric": Proof("fisher_rao", scores),
    "semantic.candidates": Proof(1, near),
    "semantic.index": Proof("exact", near, {"semantic.candidates": 1}),
    "keyword.enabled": Proof(False, heard),
    "keyword.weight": Proof(3.0, scores),
    "keyword.k1": Proof(3.0, scores),
    "keyword.b": Proof(0.1, scores),
    "keyword.hint_weight": Proof(1.0, hinted),
    "fusion.method": Proof("rrf", scores),
    "fusion.fading": Proof(0.9, scores),
    "fusion.rrf_k": Proof(5, scores, RRF),
    "statistics.growth": Proof(10.0, counted),
    "statistics.sample": Proof(3, counted),
    "store.busy_seconds": Proof(7.0, pragma("busy_timeout")),
    "store.synchronous": Proof("normal", pragma("synchronous")),
    "multi_graph.enabled": Proof(False, edges),
    "multi_graph.entity": Proof(False, mentions),
    "multi_graph.time": Proof(False, edges),
    "multi_graph.causal": Proof(False, of_kind("causes")),
    "multi_graph.semantic": Proof(False, of_kind("semantic")),
    "multi_graph.similar": Proof(False, of_kind("similar")),
    "multi_graph.reach": Proof(1, edges),
    "multi_graph.neighbours": Proof(1, of_kind("semantic")),
    "multi_graph.floor": Proof(0.9, of_kind("semantic")),
    "auto_link.enabled": Proof(False, links_at_once),
    "auto_link.threshold": Proof(0.95, links_at_once),
    "auto_link.most": Proof(1, links_at_once),
    "auto_link.batch": Proof(2, links_at_once),
    "evolution.enabled": Proof(False, descriptions),
    "edge_score_threshold": Proof(0.95, of_kind("similar")),
    "edge_score.minimum_cosine": Proof(0.9, of_kind("similar")),
    "edge_score.cosine": Proof(0.9, of_kind("similar"), ALIKE),
    "edge_score.tags": Proof(0.9, of_kind("similar"), ALIKE),
    "edge_score.category": Proof(0.9, of_kind("similar"), ALIKE),
    "edge_score.temporal": Proof(0.9, of_kind("similar"), ALIKE),
    "edge_score.sigma_hours": Proof(0.05, of_kind("similar"), ALIKE),
    "edge_score.cross_category": Proof(1.0, of_kind("similar"), ALIKE),
    "edge_degree_cap": Proof(1, of_kind("similar")),
    "dream.batch": Proof(5, dreaming_steps),
    "dream.neighbours": Proof(1, of_kind("similar")),
    "dream.sharing": Proof(0, of_kind("similar"), {**FEW, **ALIKE}),
    "dream.growth": Proof(10.0, ranked_again),
    "dream.bridges": Proof(0, bridges),
    "dream.after_facts": Proof(5, dreamers),
    "dream.after_minutes": Proof(5.0, dreamers),
    "pagerank.damping": Proof(0.2, ranks),
    "session.idle_minutes": Proof(10.0, active_hours),
    "energy.max_depth": Proof(1, energy_paths),
    "energy.min_activation": Proof(0.2, energy_paths),
    "energy.tag_floor": Proof(0.9, energy_paths),
    "energy.branches": Proof(1, energy_paths),
    "energy.seeds": Proof(1, energy_paths),
    "reading.tags": Proof(True, proposed_tags),
    "reading.reader": Proof("llm:tiny@http://127.0.0.1:9/v1", reader_at_work),
}

# Knobs that are known not to act, and why. A gap that is closed fails its test and is taken out here.
GAPS: dict[str, str] = {}
