"""Activating: under every dynamics the graph brings facts that no other channel hears, and never one that may not be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cofire import Memory
from cofire.results import Hit, Recollection
from cofire.settings.table import ACTIVATION_DYNAMICS
from cofire.stores.base import Store
from tests.conftest import Opening
from tests.verbs.watching import Watched

DOCUMENTED = [name for name in ACTIVATION_DYNAMICS.choices if name != "cofire"]

KETTLE, SHELF, ATTIC = "The kettle whistles.", "Someone moved everything upstairs.", "Dust lies there."
QUESTION = "Which kettle whistles?"


def asked(memory: Memory, dynamics: str, question: str = QUESTION, **others: Any) -> Recollection:
    return memory.recall(question, settings={"activation.dynamics": dynamics}, **others)


def hit_of(found: Recollection, id: str) -> Hit:
    return next(hit for hit in found if hit.id == id)


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
def test_an_edge_from_the_best_fact_brings_what_shares_no_word(wordy: Memory, dynamics: str) -> None:
    kettle, shelf, attic = wordy.remember([KETTLE, SHELF, ATTIC])
    wordy.connect(kettle, shelf, kind="supports", weight=0.9)
    found = asked(wordy, dynamics)
    assert kettle in found.ids
    assert shelf in found.ids
    assert attic not in found.ids
    brought = hit_of(found, shelf)
    assert brought.channels["keyword"].rank is None
    assert brought.channels["activation"].gives > 0
    assert (brought.path, [hop.kind for hop in brought.hops]) == ((kettle, shelf), ["supports"])


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
def test_two_edges_are_two_hops(wordy: Memory, dynamics: str) -> None:
    kettle, shelf, attic = wordy.remember([KETTLE, SHELF, ATTIC])
    wordy.connect(kettle, shelf, kind="supports", weight=0.9)
    wordy.connect(shelf, attic, kind="causes", weight=0.9, confidence=0.8)
    found = asked(wordy, dynamics, mode="graph")
    assert hit_of(found, attic).path == (kettle, shelf, attic)
    assert hit_of(found, attic).weakest == 0.8


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
def test_a_fact_without_a_likeness_comes_by_an_edge_with_an_embedder_too(memory: Memory, dynamics: str) -> None:
    """With so many others no channel would propose it."""
    kettle, shelf = memory.remember([KETTLE, SHELF])
    memory.remember([f"Kettle number {number} whistles." for number in range(30)])
    memory.connect(kettle, shelf, kind="supports", weight=1.0)
    found = memory.recall(KETTLE, k=5, settings={"activation.dynamics": dynamics, "recall.headroom": 1})
    assert found.ranking is not None
    assert shelf in found.ranking.ids


def test_names_lead_from_the_best_fact_to_what_is_about_them(wordy: Memory) -> None:
    bought = wordy.remember("The kettle was bought by Ana Lopez.")
    lives = wordy.remember("She has lived abroad since spring.", subject="Ana Lopez")
    wordy.remember("He collects stamps.", subject="Tom Ashe")
    found = asked(wordy, "cofire", "Who bought the kettle?")
    assert set(found.ids) == {bought, lives}
    brought = hit_of(found, lives)
    assert (brought.path, brought.hops[0].kind, brought.hops[0].via) == ((bought, lives), "about", "ana lopez")
    assert sum(brought.parts.values()) == pytest.approx(brought.channels["activation"].gives)


def test_a_second_pass_goes_on_from_what_the_first_found(wordy: Memory) -> None:
    bought = wordy.remember("The kettle was bought by Ana Lopez.")
    lives = wordy.remember("She has lived in Porto since spring.", subject="Ana Lopez")
    ends = wordy.remember("It lies where a river ends.", subject="Porto")
    once = asked(wordy, "cofire", "Who bought the kettle?", mode="full")
    twice = asked(wordy, "cofire", "Who bought the kettle?", mode="graph")
    assert ends not in once.ids
    assert hit_of(twice, ends).path == (bought, lives, ends)


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
@pytest.mark.parametrize("kind", ["contradicts", "supersedes"])
def test_what_contradicts_never_conducts(wordy: Memory, dynamics: str, kind: str) -> None:
    kettle, shelf = wordy.remember([KETTLE, SHELF])
    wordy.connect(kettle, shelf, kind=kind, weight=1.0)
    assert asked(wordy, dynamics).ids == (kettle,)


@pytest.mark.parametrize("dynamics", DOCUMENTED)
def test_a_cause_conducts_to_its_effect_and_not_back(wordy: Memory, dynamics: str) -> None:
    kettle, shelf = wordy.remember([KETTLE, SHELF])
    wordy.connect(shelf, kettle, kind="causes", weight=1.0)
    assert asked(wordy, dynamics).ids == (kettle,)
    assert set(asked(wordy, dynamics, "Who moved everything?").ids) == {kettle, shelf}


HIDDEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "session": ({"session": "other"}, {"session": "ours"}),
    "tags": ({"tags": ["b"]}, {"tags": ["a"]}),
    "category": ({"category": "log"}, {"category": "note"}),
    "speaker": ({"speaker": "Ben"}, {"speaker": "Ana"}),
    "since": ({"at": "2020-01-01"}, {"since": "2021-01-01"}),
    "expires": ({"expires": "2026-01-01"}, {}),
    "valid": ({"valid_until": "2026-01-01"}, {}),
}
SEEN = {"session": "ours", "tags": ["a"], "category": "note", "speaker": "Ana", "at": "2026-02-01"}


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
@pytest.mark.parametrize("filter", HIDDEN)
def test_nothing_that_is_filtered_returns_by_the_graph(open_memory: Opening, dynamics: str, filter: str) -> None:
    """Neither at the end of a path nor as a step on the way."""
    wordy = open_memory(None, settings={"multi_graph.time": False, "context.enabled": False})
    parts, filters = HIDDEN[filter]
    kettle = wordy.remember("The kettle was bought by Ana Lopez.", **SEEN)
    expires = parts.get("expires")
    told = {**SEEN, **parts, "expires": None}
    hidden = wordy.remember("She has lived in Porto since spring.", subject="Ana Lopez", **told)
    beyond = wordy.remember("It lies where a river ends.", subject="Porto", **SEEN)
    for source, target in ((kettle, hidden), (hidden, beyond)):
        wordy.connect(source, target, kind="supports", weight=1.0)
    if expires:
        wordy.update(hidden, expires=expires)
    found = asked(wordy, dynamics, "Who bought the kettle?", mode="graph", **filters)
    assert found.ranking is not None
    assert hidden not in found.ranking.ids
    assert all(hidden not in hit.path for hit in found)
    assert beyond not in found.ids


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
def test_another_scope_is_not_reached(wordy: Memory, dynamics: str) -> None:
    wordy.remember("The kettle was bought by Ana Lopez.")
    secret = wordy.remember("She has lived in Porto since spring.", subject="Ana Lopez", scope="secret")
    found = asked(wordy, dynamics, "Who bought the kettle?")
    assert found.ranking is not None
    assert secret not in found.ranking.ids


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
def test_where_there_is_nothing_to_start_from_activation_says_so(wordy: Memory, dynamics: str) -> None:
    report = asked(wordy, dynamics).channels[-1]
    assert (report.name, report.status, report.note) == ("activation", "empty", "nothing to start from")


@pytest.mark.parametrize("dynamics", ACTIVATION_DYNAMICS.choices)
def test_both_ways_of_asking_go_the_same_way_every_time(open_memory: Opening, dynamics: str) -> None:
    memory = open_memory()
    memory.remember(["The kettle was bought by Ana Lopez.", "Ana Lopez repaired a clock.", SHELF, ATTIC])
    first, second = (asked(memory, dynamics, "Who bought the kettle?").to_dict() for _ in range(2))
    assert {**first, "id": None} == {**second, "id": None}


def test_the_gate_of_synapse_silences_activation(wordy: Memory) -> None:
    kettle, shelf = wordy.remember([KETTLE, SHELF])
    wordy.connect(kettle, shelf, kind="supports")
    settings = {"activation.dynamics": "synapse.documented", "spreading_activation.tau_gate": 0.99}
    found = wordy.recall(QUESTION, settings=settings)
    assert (found.ids, found.channels[-1].note) == ((kettle,), "below the feeling of knowing")


def test_a_link_below_the_floor_is_not_followed_by_diffusion(wordy: Memory) -> None:
    kettle, shelf = wordy.remember([KETTLE, SHELF])
    wordy.connect(kettle, shelf, kind="supports", weight=1.0, confidence=0.1)
    assert asked(wordy, "diffusion").ids == (kettle,)
    low = {"activation.dynamics": "diffusion", "graphTraversalConfidenceFloor": 0.05}
    assert set(wordy.recall(QUESTION, settings=low).ids) == {kettle, shelf}


def test_an_edge_made_by_hand_is_not_crowded_out_by_likeness(wordy: Memory) -> None:
    kettle, shelf = wordy.remember([KETTLE, SHELF])
    for other in wordy.remember([f"Note {number} says nothing." for number in range(25)]):
        wordy.connect(kettle, other, kind="similar", weight=0.95)
    wordy.connect(kettle, shelf, kind="supports", weight=0.6)
    assert shelf in asked(wordy, "cofire", k=50).ids


class Forgetful(Watched):
    """A store in which somebody forgets a fact while a recall is under way."""

    gone = ""

    def fetch_features(self, ids: Sequence[str], *others: Any) -> Any:
        return self.store.fetch_features([id for id in ids if id != self.gone], *others)


@pytest.mark.parametrize("dynamics", ["cofire", *DOCUMENTED])
def test_a_fact_that_is_forgotten_on_the_way_is_left_out(store: Store, dynamics: str) -> None:
    forgetful = Forgetful(store)
    memory = Memory(forgetful, embedder=None)
    bought = memory.remember("The kettle was bought by Ana Lopez.")
    forgetful.gone = memory.remember("She has lived abroad since spring.", subject="Ana Lopez")
    assert asked(memory, dynamics, "Who bought the kettle?").ids == (bought,)


def test_a_name_says_less_of_a_long_fact_that_merely_mentions_it(wordy: Memory) -> None:
    met = "Yesterday we met Ottilie Brand on the ferry."
    _, short, long = wordy.remember(
        [
            "The survey of Quentin Harbour was made by Ottilie Brand.",
            met,
            f"{met} {' '.join(f'word{number}' for number in range(396))}",
        ]
    )
    found = wordy.recall("Who made the survey of Quentin Harbour?")
    little, much = (hit_of(found, id).parts for id in (long, short))
    assert {name for name in much if much[name] > 0} >= {"shared", "rare", "fits"}
    assert all(0 < little[name] < much[name] / 3 for name in ("shared", "rare", "fits"))


def test_a_question_of_one_word_holds_nothing_against_facts_that_say_it(wordy: Memory) -> None:
    """There is nothing that a linked fact could add to a seed that says it all."""
    clinics = ["Brightwater Clinic", "Hilltop Vets", "Greenfield Equine"]
    told = [f"Ticket {number} from {clinics[number % 3]}: the list is old." for number in range(12)]
    ids = wordy.remember([*told, "Greenfield Equine treats horses."])
    found = wordy.recall("Equine", k=10)
    assert set(found.ids[:5]) == {*ids[2:12:3], ids[12]}
    assert found.ranking is not None
    assert not found.ranking.parts["repeats"].any()


class Curious(Watched):
    """A store that notes whose edges and whose names it was asked for."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.expanded: list[str] = []
        self.named: list[str] = []

    def expand_links(self, ids: Sequence[str], *others: Any) -> Any:
        self.expanded += ids
        return self.store.expand_links(ids, *others)

    def fetch_name_links(self, ids: Sequence[str], *others: Any) -> Any:
        self.named += ids
        return self.store.fetch_name_links(ids, *others)


def test_the_edges_and_the_names_of_a_seed_are_asked_for_once_however_many_passes(store: Store) -> None:
    curious = Curious(store)
    memory = Memory(curious, embedder=None)
    kettle, shelf, attic = memory.remember([KETTLE, SHELF, ATTIC])
    memory.connect(kettle, shelf, kind="supports", weight=0.9)
    memory.connect(shelf, attic, kind="supports", weight=0.9)
    found = asked(memory, "cofire", mode="graph")
    assert hit_of(found, attic).path == (kettle, shelf, attic)
    assert {kettle, shelf} <= set(curious.expanded)
    assert len(curious.expanded) == len(set(curious.expanded))
    assert curious.named == curious.expanded
