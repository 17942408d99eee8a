"""Categories derived from the text of a fact."""

import pytest

from cofire.model import Fact
from cofire.text.categories import CATEGORIES
from cofire.text.rule_reader import RuleReader
from tests.conftest import START


def category(text: str, **given: str) -> str:
    return RuleReader().read(Fact(text, at=START, **given)).category


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I prefer tea over coffee.", "preference"),
        ("Ana really likes spicy food.", "preference"),
        ("My favourite colour is green.", "preference"),
        ("The user hates pop-ups.", "preference"),
        ("Ben would rather work from home.", "preference"),
        ("She doesn't like early meetings.", "preference"),
        ("We decided to move to Neo4j.", "decision"),
        ("The team agreed on two-week sprints.", "decision"),
        ("Decision: no feature flags in the CLI.", "decision"),
        ("We will use Postgres for billing.", "decision"),
        ("They settled on the smaller model.", "decision"),
        ("Use transaction mode for serverless.", "instruction"),
        ("Never commit secrets.", "instruction"),
        ("Please run the linter first.", "instruction"),
        ("Passwords must be rotated every ninety days.", "instruction"),
        ("Make sure to close the file.", "instruction"),
        ("Don't restart the primary.", "instruction"),
        ("When does the train leave?", "question"),
        ("Nice! How was the trip?", "question"),
        ("Yesterday I went to the dentist.", "event"),
        ("Ana moved to Oslo in 2019.", "event"),
        ("The server crashed last night.", "event"),
        ("We will visit Rome next week.", "event"),
        ("I met an old friend at the market.", "event"),
        ("Oslo is the capital of Norway.", "knowledge"),
        ("PgBouncer pools connections.", "knowledge"),
        ("Beethoven was a composer born in 1770.", "knowledge"),
        ("HTTP means Hypertext Transfer Protocol.", "knowledge"),
        ("It looks like rain.", "knowledge"),
        ("", "knowledge"),
    ],
)
def test_fact_sounds_like_its_category(text: str, wanted: str) -> None:
    assert category(text) == wanted
    assert wanted in CATEGORIES


def test_turn_that_bids_farewell_is_no_instruction() -> None:
    assert category("Keep up the good work. Take care.", speaker="Ana") == "knowledge"
    assert category("You should rotate the key.", speaker="Ana") == "instruction"


def test_given_category_stays() -> None:
    assert category("I prefer tea.", category="gossip") == "gossip"
