"""The quality benchmark measures what it says, on sets small enough to reckon by hand."""

import json
from pathlib import Path

import pytest

from cofire.errors import InvalidInput
from cofire.evaluation import baselines, datasets, metrics, provenance, store_setup
from cofire.evaluation.recall_quality import QualityOptions, is_passing, measure_quality
from cofire.settings.ranking import current_constants, default_constants, override_constants
from tests.benchmarks.making import ISLES, NOTES, OF_ISLES, OF_TURNS, QUESTIONS, TURNS, write_set
from tests.benchmarks.measuring import figures_of
from tests.conftest import HashedWords


def test_every_arm_is_measured_on_the_same_store(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    found = figures_of(tmp_path)["sets"]["notes"]["arms"]
    assert list(found) == list(baselines.make_arms())
    # “Which car?” shares no word with the row that says automobile; only meaning finds it.
    assert found["bm25"]["categories"]["one"]["R@10"] == 50.0
    assert found["dense"]["categories"]["one"]["R@10"] == 100.0
    assert all(0 <= one["all"][metric] <= 100 for one in found.values() for metric in metrics.METRICS)
    assert all(one["recall_ms_p95"] >= one["recall_ms"] > 0 for one in found.values())


def test_arms_are_chosen_by_name(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    found = figures_of(tmp_path, arms=["default", "bm25"])
    assert list(found["sets"]["notes"]["arms"]) == ["bm25", "default"]
    with pytest.raises(InvalidInput, match="no arm 'bm52'"):
        figures_of(tmp_path, arms=["bm52"])


def test_the_graph_brings_what_a_name_leads_to(tmp_path: Path) -> None:
    write_set(tmp_path / "isles", ISLES, OF_ISLES)
    found = figures_of(tmp_path, arms=["bm25", "graph-off", "default"])["sets"]["isles"]
    assert found["arms"]["default"]["categories"]["bridge"]["all@5"] == 100.0
    assert found["arms"]["default"]["all"]["nDCG@10"] >= found["arms"]["graph-off"]["all"]["nDCG@10"]
    assert found["harm"] == []


def test_adversarial_questions_and_those_without_gold_are_left_out(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, [*QUESTIONS, {"id": "q4", "text": "Why?", "gold": []}])
    notes = figures_of(tmp_path, arms=["default"])["sets"]["notes"]
    assert notes["questions"] == 3
    assert set(notes["arms"]["default"]["categories"]) == {"one", "two"}


def test_rows_that_are_one_fact_are_found_together(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    notes = figures_of(tmp_path, arms=["bm25"])["sets"]["notes"]
    assert (notes["rows"], notes["facts"]) == (5, 4)
    two = notes["arms"]["bm25"]["categories"]["two"]
    assert (two["R@2"], two["all@5"], two["nDCG@10"]) == (100.0, 100.0, 100.0)


def test_a_question_is_answered_from_its_own_scope(tmp_path: Path) -> None:
    write_set(tmp_path / "locomo", TURNS, OF_TURNS)
    words = figures_of(tmp_path, arms=["bm25"])["sets"]["locomo"]["arms"]["bm25"]
    assert (words["all"]["questions"], words["all"]["R@5"], words["all"]["MRR"]) == (2, 100.0, 100.0)
    assert (words["tuning"]["questions"], words["other"]["questions"]) == (1, 1)


def test_one_half_may_be_asked_alone(tmp_path: Path) -> None:
    write_set(tmp_path / "locomo", TURNS, OF_TURNS)
    found = figures_of(tmp_path, arms=["bm25"], half="other")["sets"]["locomo"]
    assert [one["id"] for one in found["asked"]] == ["y"]
    assert found["arms"]["bm25"]["tuning"]["R@5"] is None


def test_what_is_not_found_lowers_the_figure(tmp_path: Path) -> None:
    wrong = [{**QUESTIONS[0], "gold": ["r4"]}, QUESTIONS[1]]
    write_set(tmp_path / "notes", NOTES, wrong)
    found = figures_of(tmp_path, arms=["bm25"])["sets"]["notes"]["arms"]["bm25"]
    assert found["all"]["R@10"] == 50.0
    assert found["shares"]["R@10"] == [0.0, 1.0]
    # Of two questions one is answered: a draw of two has 0, 1 or 2 of it, each often enough.
    assert found["all"]["intervals"]["R@10"] == [0.0, 100.0]


def test_figures_say_where_they_come_from(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    figures = figures_of(tmp_path, limit=1, arms=["default"], settings={"keyword.k1": "1.2"})
    assert figures["sets"]["notes"]["questions"] == 1
    assert figures["settings"]["fusion.method"] == "calibrated"
    assert figures["settings"]["keyword.k1"] == 1.2
    assert figures["machine"]["cores"] >= 1
    assert (figures["embedder"], figures["run"]["limit"], figures["run"]["titles"]) == ("hashed-words", 1, True)
    assert json.loads(provenance.format_json(figures)) == figures


def test_only_the_sets_named_are_measured(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    write_set(tmp_path / "locomo", TURNS, OF_TURNS)
    assert list(figures_of(tmp_path, sets=["locomo"], arms=["bm25"])["sets"]) == ["locomo"]
    with pytest.raises(InvalidInput, match="no set 'lokomo'"):
        figures_of(tmp_path, sets=["lokomo"])


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"No corpus\.jsonl"):
        datasets.find_sets([tmp_path])


@pytest.mark.parametrize(
    ("rows", "questions", "said"),
    [
        ([{"id": "r0"}], [], "cannot be read: 'text'"),
        ([{"id": "r0", "text": "Tea."}], [{"id": "q", "text": "Tea?", "gold": ["r9"]}], "answered by r9"),
    ],
)
def test_a_broken_set_is_refused(tmp_path: Path, rows: list[dict], questions: list[dict], said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InvalidInput, match=said):
        datasets.load_set(write_set(tmp_path / "broken", rows, questions), limit=None)


def test_a_fact_is_made_of_everything_a_row_says(tmp_path: Path) -> None:
    loaded = datasets.load_set(write_set(tmp_path / "locomo", TURNS, OF_TURNS), limit=None)
    assert loaded.facts[1] == {
        "text": "Ben: I sail too.",
        "scope": "conv-50",
        "session": "s1",
        "at": "2023-05-08T13:56:00",
        "metadata": {"row": "b1"},
    }


def test_titles_are_subjects_unless_withheld(tmp_path: Path) -> None:
    loaded = datasets.load_set(write_set(tmp_path / "notes", NOTES, QUESTIONS), limit=None)
    assert loaded.facts[0]["subject"] == "PgBouncer"
    assert "subject" not in datasets.withhold_titles(loaded).facts[0]
    assert figures_of(tmp_path, titles=False, arms=["bm25"])["sets"]["notes"]["arms"]["bm25"]["all"]["R@5"] < 100.0


def test_sessions_are_withheld_or_told_as_one_fact(tmp_path: Path) -> None:
    turns = [
        {"id": "a1", "text": "Ana: I sail.", "session": "s1", "speaker": "Ana", "timestamp": "2023-05-08T13:56:00"},
        {"id": "a2", "text": "Ben: I sail too.", "session": "s1", "speaker": "Ben", "timestamp": "2023-05-08T13:57:00"},
        {"id": "n", "text": "A note."},
    ]
    asked = [{"id": "q", "text": "Who sails?", "gold": ["a1", "a2", "n"]}]
    loaded = datasets.load_set(write_set(tmp_path / "chat", turns, asked), limit=None)
    bare = datasets.withhold_sessions(loaded)
    assert all(set(fact) == {"text", "scope", "metadata"} for fact in bare.facts)
    assert bare.rows == loaded.rows
    whole = datasets.merge_sessions(loaded)
    assert [(fact["text"], fact.get("at")) for fact in whole.facts] == [
        ("Ana: I sail.\nBen: I sail too.", "2023-05-08T13:56:00"),
        ("A note.", None),
    ]
    assert (whole.rows, whole.questions[0].gold) == (("a1", "n"), ("a1", "n"))
    found = figures_of(tmp_path, sessions="whole", arms=["bm25"])
    assert (found["sets"]["chat"]["facts"], found["run"]["sessions"]) == (2, "whole")


def test_joined_sets_share_scopes_by_their_kind(tmp_path: Path) -> None:
    year = [{"id": "d1", "text": "Ben: bread is here.", "session": "bakery"}]
    written = [
        write_set(tmp_path / "notes", NOTES, QUESTIONS),
        write_set(tmp_path / "locomo", TURNS, OF_TURNS),
        write_set(tmp_path / "year", year, [{"id": "z", "text": "Who has bread?", "gold": ["d1"]}]),
    ]
    notes, turns, chat = datasets.join_sets([datasets.load_set(one, limit=None) for one in written])
    assert {fact["scope"] for fact in notes.facts} == {"documents"}
    assert [fact["scope"] for fact in turns.facts] == ["conv-26", "conv-50"]
    assert (chat.facts[0]["scope"], chat.questions[0].scope) == ("chats", ("chats",))
    assert [one.scope for one in turns.questions] == [("conv-26",), ("conv-50",)]
    found = figures_of(tmp_path, joined=True)["sets"]
    assert list(found) == ["locomo", "notes", "year"]
    assert all(one["arms"]["dense"]["all"]["R@10"] == 100.0 for one in found.values())


def test_a_kept_store_serves_the_next_run(tmp_path: Path) -> None:
    write_set(tmp_path / "sets" / "notes", NOTES, QUESTIONS)
    first = figures_of(tmp_path / "sets", keep=tmp_path / "kept", arms=["dense"])
    [store] = (tmp_path / "kept").glob("*.db")
    made = store.stat().st_ino
    again = figures_of(tmp_path / "sets", keep=tmp_path / "kept", arms=["dense"])
    assert again["sets"]["notes"]["arms"]["dense"]["all"] == first["sets"]["notes"]["arms"]["dense"]["all"]
    assert [one.stat().st_ino for one in (tmp_path / "kept").glob("*.db")] == [made]
    figures_of(tmp_path / "sets", keep=tmp_path / "kept", arms=["dense"], titles=False)
    assert len(list((tmp_path / "kept").glob("*.db"))) == 2


def test_a_store_that_was_never_finished_is_made_anew(tmp_path: Path) -> None:
    write_set(tmp_path / "sets" / "notes", NOTES, QUESTIONS)
    figures_of(tmp_path / "sets", keep=tmp_path / "kept", arms=["dense"])
    [rows] = (tmp_path / "kept").glob("*.rows.json")
    rows.unlink()
    found = figures_of(tmp_path / "sets", keep=tmp_path / "kept", arms=["dense"])
    assert found["sets"]["notes"]["arms"]["dense"]["all"]["R@5"] == 100.0
    assert rows.exists()


def test_a_dream_comes_before_the_questions(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "isles", ISLES, OF_ISLES)
    chosen, seen = datasets.load_set(folder, limit=None), list[str]()
    for dream in (False, True):
        manner = store_setup.LoadOptions({}, dream=dream, keep=None)
        with store_setup.open_loaded_memory(
            "isles", [chosen], None, manner, lambda doing, *_: seen.append(doing)
        ) as stock:
            assert (stock.memory.stats().size.waiting == 0) == dream
    assert {"remembering", "dreaming"} == set(seen)


def test_questions_are_asked_when_the_last_fact_was_told_on_whatever_day_they_are_measured(tmp_path: Path) -> None:
    rows = [
        {"id": "a1", "text": "I painted the old boat.", "timestamp": "2023-05-07T13:56:00"},
        {"id": "a2", "text": "I painted the new house.", "timestamp": "2023-04-02T13:56:00"},
        {"id": "a3", "text": "It rains.", "timestamp": "2023-05-08T13:56:00"},
    ]
    chosen = datasets.load_set(
        write_set(tmp_path / "paint", rows, [{"id": "q", "text": "x", "gold": ["a1"]}]), limit=None
    )
    manner = store_setup.LoadOptions({"abstention.rule": "off"}, dream=False, keep=None)
    with store_setup.open_loaded_memory("paint", [chosen], None, manner, lambda *_: None) as stock:
        assert stock.memory.recall("What was painted yesterday?", scope="paint").hits[0].text == rows[0]["text"]
        assert stock.memory.recall("What was painted last month?", scope="paint").hits[0].text == rows[1]["text"]


def test_a_default_below_its_better_channel_is_named() -> None:
    found = {
        name: {"all": {"R@5": five, "R@10": ten}}
        for name, five, ten in [("bm25", 50.0, 70.0), ("dense", 60.0, 65.0), ("default", 59.0, 70.0)]
    }
    assert metrics.find_shortfalls(found, arm="default", singles=("bm25", "dense")) == ["R@5 59.0 < 60.0 of dense"]
    assert metrics.find_shortfalls({"default": found["default"]}, arm="default", singles=("bm25", "dense")) == []


def test_a_graph_that_costs_more_than_half_a_point_does_harm() -> None:
    found = {
        name: {"all": {"R@5": five, "R@10": ten}}
        for name, five, ten in [("graph-off", 60.5, 70.6), ("default", 60.0, 70.0)]
    }
    said = metrics.find_harm(found, arm="default", without="graph-off")
    assert said == ["R@10 is 0.60 lower than graph-off"]
    assert is_passing({"sets": {"notes": {"shortfalls": [], "harm": []}}})
    assert not is_passing({"sets": {"notes": {"shortfalls": [], "harm": said}}})


def test_other_constants_hold_only_for_a_while() -> None:
    with override_constants(baselines.remove_feature(current_constants(), "adds")):
        assert current_constants().features["adds"] == 0.0
    assert current_constants() is default_constants()
    assert current_constants().features["adds"] != 0.0


def test_an_ablation_tells_what_it_loses(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS)
    figures = figures_of(tmp_path, ablate=True)
    notes = figures["sets"]["notes"]
    assert list(notes["arms"]) == ["default"]
    assert set(notes["ablations"]) == set(baselines.make_ablations())
    assert {f"feature {name}" for name in current_constants().features} < set(notes["ablations"])
    for name, one in notes["ablations"].items():
        assert one["loss"]["R@5"]["points"] == pytest.approx(
            notes["arms"]["default"]["all"]["R@5"] - one["all"]["R@5"], abs=0.01
        )
        assert figures["ablations"][name]["R@5"] == one["loss"]["R@5"]["points"]


def test_taking_the_meaning_away_loses_what_only_meaning_finds(tmp_path: Path) -> None:
    write_set(tmp_path / "notes", NOTES, QUESTIONS[2:3])
    figures = figures_of(tmp_path, ablate=True, embedder=HashedWords(), settings={"abstention.rule": "off"})
    assert figures["ablations"]["channel semantic"]["R@10"] == 100.0
    assert figures["ablations"]["channel temporal"]["R@10"] == 0.0


def test_a_half_without_questions_is_no_accident(tmp_path: Path) -> None:
    write_set(tmp_path / "locomo", TURNS[:1], OF_TURNS[:1])
    figures = figures_of(tmp_path, half="other", ablate=True)
    assert figures["sets"]["locomo"]["questions"] == 0
    assert figures["ablations"]["context"]["R@5"] == 0.0


def test_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    folders = [write_set(tmp_path / name / "notes", NOTES, QUESTIONS) for name in ("one", "two")]
    with pytest.raises(InvalidInput, match="Two sets are called notes"):
        measure_quality(QualityOptions(folders), lambda *_: None, None)


def test_a_kept_store_serves_other_settings_of_recall(tmp_path: Path) -> None:
    write_set(tmp_path / "sets" / "notes", NOTES, QUESTIONS)
    for settings in ({}, {"keyword.k1": "1.2"}, {"multi_graph.time": "false"}):
        figures_of(tmp_path / "sets", keep=tmp_path / "kept", arms=["bm25"], settings=settings)
    assert len(list((tmp_path / "kept").glob("*.db"))) == 2
