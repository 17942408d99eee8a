"""Why: each stage where a fact can be lost is named, and each remedy really brings it back."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from cofire import AsyncMemory
from cofire.errors import InvalidQuestion
from cofire.memory import Memory
from cofire.model import Change, Fact, FactWrite
from cofire.recall.counterfactuals import MAX_ATTEMPTS, MAX_NUDGES
from cofire.results import WhyResult
from cofire.settings import table
from cofire.stores.base import Store
from tests.conftest import START, Clock, HashedWords, Lent, Opening

USES = "We use PostgreSQL 15 for the production database."
POOLS = "PostgreSQL connection pooling is configured via PgBouncer."
MODE = "PgBouncer sessions should be set to transaction mode for serverless."
LUNCH = "Lunch is at noon in the kitchen."
QUESTION = "What database configuration do we use?"


def told(memory: Memory, texts: list[str]) -> dict[str, str]:
    return dict(zip(texts, memory.remember(texts), strict=True))


@pytest.fixture
def ids(wordy: Memory) -> dict[str, str]:
    return told(wordy, [USES, POOLS, MODE, LUNCH])


def brought_back(memory: Memory, why: WhyResult, **asked: Any) -> bool:
    """Whether each remedy without a link does what it says."""
    for remedy in why.remedies:
        if remedy.link is None:
            both = {**asked, **remedy.asked}
            both["settings"] = {**asked.get("settings", {}), **remedy.asked.get("settings", {})}
            found = memory.recall(remedy.query or why.question, **both)
            if found.ids.index(why.id) + 1 != remedy.place:
                return False
    return bool(why.remedies)


def test_a_fact_that_came_back_is_told_why_in_a_few_sentences(wordy: Memory, ids: dict[str, str]) -> None:
    why, found = wordy.why(QUESTION, ids[USES]), wordy.recall(QUESTION)
    place = found.ids.index(ids[USES]) + 1
    assert (why.returned, why.stage, why.place, why.remedies) == (True, "returned", place, ())
    assert why.explanation.startswith(f"It is at place {place} of 3, with a score of {found[place - 1].score:.2f}.")
    assert why.likeness is not None
    assert why.likeness.words == ("database", "use")
    assert why.hit == found[place - 1]


def test_a_fact_that_the_graph_led_to_is_told_the_way(wordy: Memory, ids: dict[str, str]) -> None:
    why = wordy.why(QUESTION, ids[MODE])
    assert why.returned
    assert "The graph led to it over " in why.explanation
    assert why.explanation.endswith(f"from: {POOLS}")


def test_an_id_that_nobody_has_is_not_stored(wordy: Memory, ids: dict[str, str]) -> None:
    why = wordy.why(QUESTION, "nowhere")
    assert (why.stage, why.returned, why.hit, why.remedies) == ("not_stored", False, None, ())
    json.dumps(why.to_dict(), allow_nan=False)


@pytest.mark.parametrize("id", ["", None, 7])
def test_an_id_that_is_none_is_refused(wordy: Memory, id: Any) -> None:
    with pytest.raises(InvalidQuestion):
        wordy.why(QUESTION, id)


def test_a_recall_that_was_switched_off_says_so(wordy: Memory, ids: dict[str, str]) -> None:
    why = wordy.why(QUESTION, ids[USES], mode="no_recall")
    assert why.stage == "switched_off"
    assert brought_back(wordy, why, mode="no_recall")


FILTERED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "scope": ({"scope": "secret"}, {}),
    "tags": ({"tags": ["a"]}, {"tags": ["a", "b"]}),
    "category": ({"category": "note"}, {"category": "log"}),
    "speaker": ({"speaker": "Ana"}, {"speaker": "Ben"}),
    "session": ({"session": "s1"}, {"session": ["s2", "s3"]}),
    "since": ({"at": "2026-01-01"}, {"since": "2026-02-01"}),
    "until": ({"at": "2026-02-01"}, {"until": "2026-01-01"}),
    "as_of": ({}, {"as_of": "2026-01-01"}),
    "community": ({}, {"community": 3}),
    "valid_from": ({"valid_from": "2027-01-01"}, {}),
    "valid_until": ({"valid_until": "2026-03-02"}, {}),
    "expires": ({"expires": "2026-03-02"}, {}),
}


@pytest.mark.parametrize("filter", FILTERED)
def test_the_filter_that_a_fact_does_not_pass_is_named_and_loosened(wordy: Memory, clock: Clock, filter: str) -> None:
    parts, asked = FILTERED[filter]
    id = wordy.remember("Tea at four.", **parts)
    clock.now = datetime(2026, 4, 1, tzinfo=UTC)
    why = wordy.why("When is tea?", id, **asked)
    assert why.stage == "filtered"
    assert [one.filter for one in why.refusals] == [filter]
    assert why.refusals[0].has in why.explanation or filter == "community"
    assert brought_back(wordy, why, **asked)
    json.dumps(why.to_dict(), allow_nan=False)


def test_every_filter_that_fails_is_named_and_all_are_loosened_together(wordy: Memory) -> None:
    id = wordy.remember("Tea at four.", speaker="Ana", scope="secret")
    why = wordy.why("When is tea?", id, speaker="Ben")
    assert [one.filter for one in why.refusals] == ["scope", "speaker"]
    assert why.remedies[0].asked == {"scope": ["default", "secret"], "speaker": ["Ana", "Ben"]}
    assert brought_back(wordy, why, speaker="Ben")


def test_an_archived_fact_is_said_to_be_archived(wordy: Memory, store: Store) -> None:
    fact = Fact("Tea at four.", id="00000000000000000000000001", stored_at=START, archived=True)
    store.write(Change(START, facts=(FactWrite(fact, {"tea": 1, "four": 1}),)), {})
    why = wordy.why("When is tea?", fact.id)
    assert (why.stage, why.refusals[0].filter, why.remedies) == ("filtered", "archived", ())
    assert "it is archived" in why.explanation


def test_a_silent_memory_is_told_with_the_threshold_that_would_do(wordy: Memory, ids: dict[str, str]) -> None:
    chosen = {"abstention.lexical_threshold": 0.9}
    why = wordy.why(QUESTION, ids[MODE], settings=chosen)
    assert why.stage == "silent"
    assert "Otherwise it would be at place 3 of 3." in why.explanation
    assert list(why.remedies[0].asked["settings"]) == ["abstention.lexical_threshold"]
    assert brought_back(wordy, why, settings=chosen)


@pytest.mark.parametrize(
    ("chosen", "remedy"),
    [
        ({"abstention.threshold": 1.9}, "abstention.threshold"),
        ({"abstention.rule": "gate", "spreading_activation.tau_gate": 1.0}, "spreading_activation.tau_gate"),
    ],
)
def test_the_threshold_that_decided_is_the_one_that_is_lowered(
    memory: Memory, chosen: dict[str, Any], remedy: str
) -> None:
    ids = told(memory, [USES, POOLS, MODE, LUNCH])
    why = memory.why(QUESTION, ids[USES], settings=chosen)
    assert why.stage == "silent"
    assert list(why.remedies[0].asked["settings"]) == [remedy]
    assert brought_back(memory, why, settings=chosen)


def test_a_fact_that_nothing_leads_to_is_no_candidate(wordy: Memory, ids: dict[str, str]) -> None:
    why = wordy.why(QUESTION, ids[LUNCH])
    assert (why.stage, why.place, why.hit) == ("not_a_candidate", None, None)
    assert why.likeness is not None
    assert why.likeness.words == ()
    assert "it shares no word with the question" in why.explanation
    assert "semantic (no_embedder)" in why.explanation
    [remedy] = [remedy for remedy in why.remedies if remedy.query]
    assert remedy.query in (f"{QUESTION} {word}" for word in ("Lunch", "noon", "kitchen"))
    assert brought_back(wordy, why)


def test_a_fact_that_no_channel_proposed_is_told_its_cosine(memory: Memory) -> None:
    chosen = {"recall.headroom": 1, "spreading_activation.enabled": False, "graph_assist.enabled": False}
    ids = told(memory, ["Tea tea tea.", "Tea tea.", "Tea and a long story of a red kettle."])
    why = memory.why("tea", ids["Tea and a long story of a red kettle."], k=1, settings=chosen)
    assert why.stage == "not_a_candidate"
    assert why.likeness is not None
    assert why.likeness.cosine is not None
    assert why.likeness.words == ("tea",)
    assert f"Its cosine is {why.likeness.cosine:.2f}, and it shares tea." in why.explanation
    assert {"settings": {"recall.headroom": 5000}, "k": 3} in [remedy.asked for remedy in why.remedies]
    assert brought_back(memory, why, k=1, settings=chosen)


def test_a_fact_that_stronger_ones_silenced_is_cut_by_inhibition(wordy: Memory) -> None:
    ids = told(
        wordy,
        [
            "Ana Lopez keeps the key of the cellar.",
            "The cellar key of Ana Lopez is red.",
            "Ana Lopez lives in Porto.",
            "Ana Lopez sings on Sundays.",
        ],
    )
    chosen = {"activation.dynamics": "synapse.documented", "spreading_activation.top_m": 2, "entity.enabled": False}
    question = "Where is the cellar key?"
    lost = [text for text in ids if wordy.why(question, ids[text], settings=chosen).stage == "cut_by_inhibition"]
    assert lost
    why = wordy.why(question, ids[lost[0]], settings=chosen)
    assert "stronger facts silenced it: 2 count there." in why.explanation
    assert any("spreading_activation.top_m" in remedy.asked.get("settings", {}) for remedy in why.remedies)
    assert brought_back(wordy, why, settings=chosen)


def test_a_fact_beyond_what_activation_keeps_is_told_so(wordy: Memory) -> None:
    texts = [
        "Ana Lopez keeps the key of the cellar.",
        "Ana Lopez lives in Porto.",
        "Ana Lopez sings on Sundays.",
        "Ana Lopez was born in May.",
    ]
    ids = told(wordy, texts)
    chosen = {"activation.dynamics": "diffusion", "graph_recall.expanded": 1, "entity.enabled": False}
    stages = {text: wordy.why("Where is the cellar key?", ids[text], settings=chosen).stage for text in texts}
    assert sorted(stages.values()) == ["beyond_expanded", "beyond_expanded", "returned", "returned"]
    lost = next(text for text in texts if stages[text] == "beyond_expanded")
    why = wordy.why("Where is the cellar key?", ids[lost], settings=chosen)
    assert "only the 1 strongest are kept" in why.explanation
    assert brought_back(wordy, why, settings=chosen)


def test_a_fact_that_is_next_in_line_is_beyond_k(wordy: Memory, ids: dict[str, str]) -> None:
    why = wordy.why(QUESTION, ids[MODE], k=2)
    assert (why.stage, why.place) == ("beyond_k", 3)
    assert {rival.id for rival in why.rivals} == {ids[USES], ids[POOLS]}
    assert why.hit is not None
    assert why.margin == pytest.approx(why.rivals[-1].score - why.hit.score)
    assert why.remedies[0].asked == {"k": 3}
    assert brought_back(wordy, why, k=2)


def test_a_fact_that_many_beat_is_outranked(wordy: Memory) -> None:
    ids = wordy.remember([f"Tea {'tea ' * (9 - number)}with biscuit {number}." for number in range(9)])
    why = wordy.why("tea", wordy.recall("tea").ids[-1], k=2)
    assert (why.stage, why.place, len(why.rivals)) == ("outranked", 9, 2)
    assert why.explanation.startswith("8 of 9 candidates score higher, and k is 2.")
    assert {"k": 9} in [remedy.asked for remedy in why.remedies]
    assert brought_back(wordy, why, k=2)
    assert len(ids) == 9


def test_a_fact_that_the_budget_has_no_room_for_is_told_the_budget_it_needs(wordy: Memory, ids: dict[str, str]) -> None:
    second = wordy.recall(QUESTION).ids[1]
    why = wordy.why(QUESTION, second, budget=16)
    assert (why.stage, why.place) == ("beyond_budget", 2)
    assert list(why.remedies[0].asked) == ["budget"]
    assert brought_back(wordy, why, budget=16)
    assert second not in wordy.recall(QUESTION, budget=why.remedies[0].asked["budget"] - 1).ids


@pytest.mark.parametrize("dynamics", table.ACTIVATION_DYNAMICS.choices)
def test_a_link_is_supposed_and_nothing_is_written(wordy: Memory, ids: dict[str, str], dynamics: str) -> None:
    chosen = {"activation.dynamics": dynamics}
    before = wordy.edges()
    why = wordy.why(QUESTION, ids[LUNCH], settings=chosen)
    assert wordy.edges() == before
    [remedy] = [remedy for remedy in why.remedies if remedy.link]
    assert remedy.link is not None
    wordy.connect(*remedy.link, kind="supports", weight=1.0, confidence=1.0)
    assert wordy.recall(QUESTION, settings=chosen).ids.index(ids[LUNCH]) + 1 == remedy.place


def test_what_was_tried_in_vain_is_told(wordy: Memory, ids: dict[str, str]) -> None:
    why = wordy.why(QUESTION, ids[LUNCH])
    assert "recall.headroom=5000" in why.in_vain
    assert "tried without success: recall.headroom=5000" in why.text()


def test_a_channel_that_was_switched_off_is_tried(memory: Memory) -> None:
    id = memory.remember("A red automobile.")
    memory.remember("The car is blue.")
    why = memory.why("car", id, mode="minimal")
    assert why.stage == "not_a_candidate"
    assert {"mode": "full"} in [remedy.asked for remedy in why.remedies]
    assert brought_back(memory, why, mode="minimal")


def test_why_explains_even_where_recall_keeps_no_paths(open_memory: Opening) -> None:
    memory = open_memory(None, settings={"graph_recall.explain": False})
    ids = told(memory, [USES, POOLS, MODE])
    why = memory.why(QUESTION, ids[POOLS])
    assert why.hit is not None
    assert why.hit.path == (ids[USES], ids[POOLS])
    assert [why.texts[id] for id in why.hit.path] == [USES, POOLS]


def test_all_of_it_is_told_as_text_and_json(wordy: Memory, ids: dict[str, str]) -> None:
    why = wordy.why(QUESTION, ids[MODE], k=2)
    text, shown = why.text(), json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert text.startswith("beyond_k: It is at place 3 of 3, and k is 2.")
    assert "remedy: k=3 (then rank 3)" in text
    assert f"ranked above: {why.rivals[0].score:.3f} {why.rivals[0].id} {why.rivals[0].text}" in text
    assert (shown["stage"], shown["returned"], shown["remedies"][0]["asked"]) == ("beyond_k", False, {"k": 3})
    assert shown["hit"]["channels"]["activation"]["rank"] is not None
    assert shown["fact"]["text"] == MODE


def test_remedies_are_tried_a_bounded_number_of_times(memory: Memory, embedder: HashedWords) -> None:
    ids = memory.remember([f"Tea {'tea ' * (9 - number)}with biscuit {number}." for number in range(9)])
    before = len(embedder.calls)
    for id in ids:
        memory.why("tea", id, k=1)
    assert len(embedder.calls) - before <= len(ids) * (3 + MAX_ATTEMPTS * (MAX_NUDGES + 1))


def test_why_can_be_awaited(store: Store) -> None:
    async def asked() -> WhyResult:
        async with AsyncMemory(Lent(store), embedder=None, clock=Clock()) as memory:
            id = await memory.remember("Tea at four.")
            return await memory.why("When is tea?", id)

    assert asyncio.run(asked()).returned


def test_why_changes_nothing(wordy: Memory, ids: dict[str, str]) -> None:
    before = wordy.facts(), wordy.edges()
    wordy.why(QUESTION, ids[LUNCH], settings={"activation.dynamics": "energy"})
    assert (wordy.facts(), wordy.edges()) == before
