"""Proofs that knobs act: for each, a value unlike its default and something seen that changes with it.

A proof looks at a result, a count of work or a value that was written; never at the settings themselves.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from os import getpid
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from threading import Thread, Timer
from time import sleep
from typing import Any

import apsw

from cofire.errors import CofireError, EmbedderError, StoreBusy, StoreUnavailable
from cofire.memory import Memory
from cofire.model import Change, Edge, EdgeWrite
from cofire.results import Recollection
from cofire.verbs.remember import Progress
from tests.conftest import Clock, HashedWords
from tests.interfaces.calling import call

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


CHAIN = [
    ("The red kettle was bought by Ana Lopez.", None),
    ("She has lived in Porto since spring.", "Ana Lopez"),
    ("He studies with Ana Lopez on Sundays.", "Ben Okri"),
    ("It lies where the Douro ends.", "Porto"),
    ("Ships go up to Zamora.", "Douro"),
    ("Ana Lopez repaired a clock.", None),
    ("The blue kettle was bought by Tom Ashe.", None),
    ("He collects stamps.", "Tom Ashe"),
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
    alone = {"keyword.enabled": False, "entity.enabled": False, "spreading_activation.enabled": False}
    off = {"graph_assist.enabled": False, "abstention.rule": "off"}
    memory = opened({**alone, **off, "recall.headroom": 1, "recall.k": 1, **values})
    memory.remember([f"{first} {second}" for first in "bcdefghjklmnop" for second in "qruvwxz"])
    return [memory.recall(f"{first} {second} question").hits[0].text for first in "bcdef" for second in "qruv"]


def counted(values: Values) -> object:
    """How many facts the statistics know of, and how many vectors they keep as a sample."""
    memory = opened(values)
    for text in NOTES[:8]:
        memory.remember(text)
    statistics = memory._opened.context.store.read_word_statistics(["default"], [])
    return statistics.facts, len(statistics.sample)


def waits_for_others(values: Values) -> object:
    """Whether a writer outlasts somebody who holds the file for a third of a second."""
    with TemporaryDirectory() as folder:
        path = f"{folder}/memory.db"
        with Memory(path, embedder=None, settings=values) as memory, closing(apsw.Connection(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            Timer(0.3, lambda: other.execute("ROLLBACK")).start()
            try:
                return bool(memory.remember("Tea at four."))
            except StoreBusy as error:
                sleep(0.5)
                return type(error).__name__


def waits_for_a_server(values: Values) -> object:
    """How a server is given up that says nothing for a second, and then hangs up."""
    with closing(socket.create_server(("127.0.0.1", 0))) as quiet:
        Thread(target=_hang_up, args=(quiet,), daemon=True).start()
        place = f"bolt://127.0.0.1:{quiet.getsockname()[1]}"
        try:
            Memory(place, embedder=None, settings={"store.busy_seconds": 0.0, **values})
        except StoreUnavailable as error:
            return _deepest(error)


def _hang_up(quiet: socket.socket) -> None:
    one, _ = quiet.accept()
    sleep(1.0)
    one.close()


def _deepest(error: BaseException) -> str:
    cause = error.__cause__ or error.__context__
    return _deepest(cause) if cause else type(error).__name__


def pragma(name: str) -> Seen:
    def seen(values: Values) -> object:
        with opened(values) as memory:
            return memory._opened.context.store._lines.reader.connection.pragma(name)

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
    return memory._opened.context.store.fetch_profiles([]).active_hours


def proposed_tags(values: Values) -> object:
    return [fact.tags for fact in told(values).facts()]


def dreamers(values: Values) -> object:
    with opened(values) as memory:
        return len(memory._opened._background)


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


def asked(question: str, **others: Any) -> Seen:
    """All that a question finds in the notes after two hours and a dream: facts, scores, ways and how activation went."""

    def seen(values: Values) -> object:
        return told_of(filled(values).recall(question, k=12, **others))

    return seen


def told_of(found: Recollection) -> object:
    """A recollection by texts, as ids are new every time."""
    texts = {**found.texts, **{hit.id: hit.text for hit in (*found.hits, *found.guesses)}}
    rounds = found.ranking.rounds if found.ranking else ()
    return (
        found.mode,
        [(hit.text, round(hit.score, 9), [texts.get(id) for id in hit.path]) for hit in found],
        [[round(step.activation, 9) for step in one.steps] for one in rounds],
        [(report.name, report.status, report.heard) for report in found.channels],
    )


def wandered(question: str, **others: Any) -> Seen:
    """The same in a chain of names: from the kettle to Ana Lopez, to Porto, to the Douro."""

    def seen(values: Values) -> object:
        memory = opened(values)
        memory.remember([{"text": text, "subject": subject} for text, subject in CHAIN])
        return told_of(memory.recall(question, k=12, **others))

    return seen


def doubted(values: Values) -> object:
    """What diffusion makes of a link that is half trusted."""
    memory = opened({"activation.dynamics": "diffusion", **values})
    first, second = memory.remember(["Water boils at noon.", "Trains leave with mail."])
    memory.connect(first, second, kind="supports", weight=0.9, confidence=0.5)
    return told_of(memory.recall("Does water boil?"))


def explained(values: Values) -> object:
    """How the command line fares when it is asked for reasons."""
    with TemporaryDirectory() as folder:
        place = str(Path(folder) / "notes.db")
        with Memory(place, embedder=None) as memory:
            id = memory.remember(NOTES[0])
            for name, value in {"embedder.name": "none", **values}.items():
                memory.configure(name, value)
        doors = (("recall", "kettle", "--xray"), ("why", "kettle", id))
        return [call(*words, "--store", place).code for words in doors]


def about(values: Values) -> object:
    """A question that names what a fact is about."""
    memory = opened(values)
    memory.remember(NOTES[:4])
    memory.remember(NOTES[5], subject="Zanzibar Express")
    return told_of(memory.recall("What is known of the Zanzibar Express and its kettle?"))


def of_a_day(values: Values) -> object:
    """A question about a day."""
    memory = opened(values)
    for day, text in enumerate(NOTES[:6], start=1):
        memory.remember(text, at=f"2026-02-{day:02}T09:00:00Z")
    return told_of(memory.recall("What boiled in the kettle on 3 February 2026?"))


def judgement(question: str, **given: object) -> Seen:
    """What memory makes of a question that it hardly has an answer to."""

    def seen(values: Values) -> object:
        memory = opened({**given, **values})
        memory.remember(NOTES)
        found = memory.recall(question)
        assert found.judgement is not None
        return found.known, round(found.judgement.evidence, 9)

    return seen


def by_words(values: Values) -> object:
    """Whether few words in common are enough where there is no embedder."""
    memory = Memory(":memory:", embedder=None, settings=values, clock=Clock())
    memory.remember(NOTES)
    return memory.recall("Which kettle boils loudest?").known


def bridged(values: Values) -> object:
    """Two facts that a question finds, and two it does not, to which both lead."""
    alone = {"spreading_activation.enabled": False, "graph_assist.enabled": False, "auto_link.enabled": False}
    memory = Memory(":memory:", embedder=None, settings={**alone, **values}, clock=Clock())
    ends = memory.remember(["The kettle boiled over.", "The train stood still."])
    for between in memory.remember(["Nobody had paid.", "It was dark."]):
        for end in ends:
            memory.connect(end, between, kind="causes", weight=0.9)
    return told_of(memory.recall("kettle or train?", mode="full"))


def shadowed(values: Values) -> object:
    """What is kept of two recalls: comparisons, snapshots, and in which files."""
    memory = told(values)
    for question in ("red red kettle with mail at dawn", CLOCK):
        memory.recall(question)
    report = memory.shadow_report()
    files = sorted(path.name for path in Path(report.place).glob("*")) if report.place else []
    return report.count, report.overlap, report.tau, files, memory.shadow_clear()


def curated(values: Values) -> object:
    """What fading leaves of two edges and their facts after two hundred days of the calendar."""
    clock = Clock()
    memory = opened({"auto_link.enabled": False, **values}, clock)
    ids = memory.remember([*NOTES[:3], "Ana Lopez lives in Porto by the sea."])
    drawn = [Edge(ids[0], ids[1], "hebbian", 0.3, 1.0), Edge(ids[1], ids[2], "similar", 0.3, 1.0)]
    memory._opened.context.store.write(Change(now=clock(), edges=tuple(map(EdgeWrite, drawn))), {})
    clock.now += timedelta(days=200)
    done = memory.curate()
    left = [(edge.kind, edge.weight, edge.confidence) for edge in memory.edges()]
    return left, len(done.archived), sorted(fact.text for fact in memory.facts())


def reviewed(values: Values) -> object:
    memory = opened(values)
    for place in ("Porto", "Lisbon"):
        memory.remember(f"Ana Lopez lives in {place} by the river.", subject="Ana Lopez")
    memory.dream()
    return memory.curate().proposed


def applied_by_itself(values: Values) -> object:
    clock = Clock()
    memory = opened(values, clock)
    memory.remember("Orion runs on port 8080.")
    clock.now += timedelta(days=3)
    memory.remember("Orion runs on port 8443 now.")
    memory.dream()
    return memory.curate().applied


def ports(values: Values) -> object:
    clock = Clock()
    memory = opened(values, clock)
    memory.remember("The gateway of Orion listens on port 8080.")
    clock.now += timedelta(days=3)
    memory.remember("The gateway of Orion has been moved and listens on port 8443 now.")
    return [hit.text for hit in memory.recall("Which port does the gateway of Orion listen on?")]


CLOCK = "Was the clock repaired?"
KETTLE = "Who bought the kettles?"
SEVERAL_HOPS = "What relates to the red kettle?"
NONSENSE = "Xyzzy quantum banana telescope of Quux"
DOCUMENTED = {"activation.dynamics": "synapse.documented"}
PAPER = {"activation.dynamics": "synapse.paper"}
DIFFUSION = {"activation.dynamics": "diffusion"}
WEIGHED = {"abstention.threshold": 0.5}
RRF = {"fusion.method": "rrf"}
FEW = {"dream.neighbours": 1}
CALENDAR = {"decay.clock": "calendar"}
UNUSED = {**CALENDAR, "retention.days": 100}
ALIKE = {"edge_score_threshold": 0.1, "edge_score.minimum_cosine": 0.05, "edge_degree_cap": 100}

SHADOWED = {"shadow.enabled": True}
BRIDGED = {"bridges.enabled": True}


def forgotten(values: Values) -> object:
    """How long a receipt lasts."""
    memory = Memory(":memory:", embedder=None, settings=values, clock=Clock())
    receipt = memory.forget(memory.remember("Tea at four.")).receipt
    return receipt and receipt.expires - receipt.made


def recall_is_named(values: Values) -> object:
    return bool(told(values).recall("kettle").id)


def recalls_kept(values: Values) -> object:
    """How many of three recalls can still be told what helped."""
    memory = told(values)
    found = [memory.recall("kettle") for _ in range(3)]
    memory.remember("A writing takes the log along.")
    return sum(memory._opened.context.store.read_recall(one.id) is not None for one in found)


def strengthened(values: Values) -> object:
    memory = told(values)
    memory.recall("kettle")
    return len(memory.edges(kind="hebbian"))


def dreamed_scores(values: Values) -> object:
    return [(hit.text, hit.score) for hit in filled(values).recall("red kettle")]


def fared_scores(values: Values) -> object:
    memory = told(values)
    found = memory.recall("red kettle")
    memory.feedback(found, helped=found.ids[-1])
    return [(hit.text, hit.score) for hit in memory.recall("red kettle")]


PROOFS: dict[str, Proof] = {
    "forget.undo_days": Proof(7, forgotten),
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
    "fusion.coverage": Proof(0.0, scores),
    "fusion.rrf_k": Proof(5, scores, RRF),
    "entity.enabled": Proof(False, about),
    "entity.weight": Proof(5.0, about),
    "temporal.enabled": Proof(False, of_a_day),
    "temporal.weight": Proof(5.0, of_a_day),
    "context.enabled": Proof(False, asked(CLOCK)),
    "strategy.enabled": Proof(True, wandered(SEVERAL_HOPS)),
    "spreading_activation.enabled": Proof(False, wandered(KETTLE)),
    "spreading_activation.alpha": Proof(0.2, asked(CLOCK), DOCUMENTED),
    "spreading_activation.delta": Proof(0.1, asked(CLOCK), DOCUMENTED),
    "spreading_activation.spreading_factor": Proof(0.3, asked(CLOCK), DOCUMENTED),
    "spreading_activation.theta": Proof(0.9, asked(CLOCK), DOCUMENTED),
    "spreading_activation.top_m": Proof(2, asked(CLOCK), DOCUMENTED),
    "spreading_activation.max_iterations": Proof(1, asked(CLOCK), DOCUMENTED),
    "spreading_activation.tau_gate": Proof(0.99, asked(CLOCK), DOCUMENTED),
    "synapse.slope": Proof(1.0, asked(CLOCK), PAPER),
    "synapse.inhibition": Proof(0.9, asked(CLOCK), PAPER),
    "activation.dynamics": Proof("energy", wandered(KETTLE)),
    "activation.weight": Proof(3.0, asked(CLOCK), DIFFUSION),
    "activation.most_links": Proof(1, asked(CLOCK), DIFFUSION),
    "graph_recall.enabled": Proof(False, wandered(SEVERAL_HOPS), {"graph_assist.enabled": False}),
    "graph_recall.steps": Proof(1, wandered(KETTLE)),
    "graph_recall.seeds": Proof(1, wandered(KETTLE)),
    "graph_recall.expanded": Proof(1, wandered(KETTLE)),
    "graph_recall.min_seed_score": Proof(0.9, wandered(KETTLE)),
    "graph_recall.confidence_floor": Proof(0.6, doubted),
    "graph_recall.explain": Proof(False, wandered(KETTLE)),
    "graph_recall.explain_doors": Proof(False, explained),
    "graph_assist.enabled": Proof(False, wandered(KETTLE, mode="full")),
    "graph_assist.min_seed_results": Proof(1_000, wandered(KETTLE, mode="full")),
    "diffusion.decay": Proof(0.2, asked(CLOCK), DIFFUSION),
    "diffusion.iterations": Proof(0, asked(CLOCK), DIFFUSION),
    "diffusion.damping": Proof(0.2, asked(CLOCK), DIFFUSION),
    "abstention.rule": Proof("off", judgement(NONSENSE)),
    "abstention.threshold": Proof(2.0, judgement("Does water boil in the kettle?")),
    "abstention.words": Proof(2.0, judgement("Does water boil?"), WEIGHED),
    "abstention.rarity": Proof(0.5, judgement("Does water boil?"), WEIGHED),
    "abstention.size": Proof(0.5, judgement("Does water boil?"), WEIGHED),
    "abstention.unknown": Proof(0.9, judgement(NONSENSE), WEIGHED),
    "abstention.lexical_threshold": Proof(0.9, by_words),
    "bridges.enabled": Proof(True, bridged),
    "bridges.most": Proof(1, bridged, BRIDGED),
    "bridges.decay": Proof(0.5, bridged, BRIDGED),
    "shadow.enabled": Proof(True, shadowed),
    "shadow.preset": Proof("documented-rrf", shadowed, SHADOWED),
    "shadow.settings": Proof("recall.budget=20", shadowed, SHADOWED),
    "shadow.assist": Proof(True, shadowed),
    "snapshots.enabled": Proof(True, shadowed),
    "snapshots.most": Proof(1, shadowed, {"snapshots.enabled": True}),
    "snapshots.folder": Proof(str(Path(gettempdir()) / f"cofire-proof-{getpid()}"), shadowed, SHADOWED),
    "statistics.growth": Proof(10.0, counted),
    "statistics.sample": Proof(3, counted),
    "store.answer_seconds": Proof(0.2, waits_for_a_server),
    "store.busy_seconds": Proof(0.0, waits_for_others),
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
    "recall_log.enabled": Proof(False, recall_is_named),
    "recall_log.most": Proof(1, recalls_kept),
    "hebbian.rule": Proof("documented", strengthened),
    "prior.pagerank": Proof(1.0, dreamed_scores),
    "prior.community": Proof(1.0, dreamed_scores),
    "prior.success": Proof(1.0, fared_scores),
    "prior.occasion": Proof(0.0, fared_scores),
    "reading.tags": Proof(True, proposed_tags),
    "reading.reader": Proof("llm:tiny@http://127.0.0.1:9/v1", reader_at_work),
    "decay.clock": Proof("calendar", curated),
    "decay.grace_days": Proof(300, curated, CALENDAR),
    "decay.rate": Proof(0.002, curated, CALENDAR),
    "decay.end_below": Proof(0.01, curated, CALENDAR),
    "decay.confidence_grace_days": Proof(300, curated, CALENDAR),
    "decay.confidence_days": Proof(50, curated, CALENDAR),
    "decay.confidence_step": Proof(0.3, curated, CALENDAR),
    "decay.confidence_floor": Proof(0.95, curated, CALENDAR),
    "edge_prune_threshold": Proof(0.5, curated),
    "retention.days": Proof(100, curated, CALENDAR),
    "retention.keep": Proof("knowledge", curated, UNUSED),
    "budget.facts": Proof(2, curated),
    "budget.bytes": Proof(300, curated),
    "recall.newer_first": Proof(False, ports),
    "review.enabled": Proof(False, reviewed),
    "review.apply_clear": Proof(True, applied_by_itself),
    "curate.every_hours": Proof(5.0, dreamers),
}

# Knobs that are known not to act, and why. A gap that is closed fails its test and is taken out here.
GAPS: dict[str, str] = {}
