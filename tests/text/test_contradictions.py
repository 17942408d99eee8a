"""Contradictions by their wording, on labelled pairs of similar texts."""

from __future__ import annotations

import pytest

from cofire.settings.ranking import current_constants
from cofire.text.contradictions import bound_evidence, explain_contradiction, extract_pair_features, weigh_features
from cofire.text.versions import read_wording

SIMILARITY = 0.75  # of texts like these, by the bundled embedder

CONTRADICTIONS = [
    ("Ana lives in Porto.", "Ana lives in Lisbon now."),
    ("The production database is PostgreSQL 14.", "The production database is PostgreSQL 16."),
    ("The deadline is 3 May.", "The deadline is 10 May."),
    ("Ben works at Acme.", "Ben works at Globex."),
    ("The weekly meeting is on Monday.", "The weekly meeting is on Thursday."),
    ("The build uses npm.", "The build uses pnpm."),
    ("The office opens at 8:00.", "The office opens at 9:30."),
    ("The service listens on port 8080.", "The service listens on port 9090."),
    ("The team lead is Priya.", "The team lead is Jonas."),
    ("Node is pinned to 18.19.", "Node is pinned to 20.11."),
    ("The standup is at 9:30.", "The standup moved to 10:00."),
    ("My daughter attends Hill School.", "My daughter changed to River School."),
    ("The staging server is down.", "The staging server is not down."),
    ("Our message broker is RabbitMQ.", "NATS is our message broker."),
    ("The alarm is armed.", "The alarm is disarmed."),
    ("The jury has five members.", "The jury has seven members."),
    ("Sessions expire after 24 hours (3.1).", "Sessions expire after 8 hours (3.3)."),
]
BOTH_VALID = [
    ("db-1 listens on port 5432.", "db-2 listens on port 5433."),
    ("The museum opens at 10.", "The museum closes at 17:30."),
    ("The NAS in the cellar is at 192.168.7.10.", "The NAS in the attic is at 192.168.7.20."),
    ("Rasmus's class teacher is Mr. Holt.", "Signe's class teacher is Ms. Voss."),
    ("In May the shop sold 210 lamps.", "In June the shop sold 188 lamps."),
    ("The Bakers live in Kent.", "The Bakers are thinking about moving to Wales."),
    ("Weight on 1 May: 82.4 kg.", "Weight on 1 June: 80.9 kg."),
    ("Ana lives in Porto.", "Ana lives in Porto."),
    ("Ana lives in Porto.", "The kettle is heavy."),
    ("Paris is the capital of France.", "Paris is known for its cafes and museums."),
    ("The parrot is called Rico.", "The parrot is eleven years old."),
    ("The contract with Solaris costs 4,000 a month.", "The contract with Solaris ends in May."),
    ("The VPN gateway is in Zurich.", "The VPN gateway is monitored by Icinga."),
    ("Dunnock supports Postgres.", "Dunnock supports MySQL."),
    ("The hotel in Split has a pool.", "The hotel in Split has a sauna."),
    ("mail-in runs Debian 11.", "mail-out runs Debian 12."),
    ("The orchestra has 55 members.", "The string section of the orchestra has 30 members."),
    ("The server was restarted at 8:00.", "Disk usage on the server reached 80 percent."),
]


def contradicts(older: str, newer: str) -> bool:
    old, new = read_wording(older, None), read_wording(newer, None)
    assert old is not None
    assert new is not None
    weights = current_constants().contradictions
    if bound_evidence(old, new, SIMILARITY, {}, weights) <= weights.least:
        return False
    return weigh_features(extract_pair_features(old, new, similarity=SIMILARITY, rarity={}), weights) > weights.least


@pytest.mark.parametrize(("older", "newer"), CONTRADICTIONS)
def test_another_value_of_the_same_thing_is_a_contradiction(older: str, newer: str) -> None:
    assert contradicts(older, newer)


@pytest.mark.parametrize(("older", "newer"), BOTH_VALID)
def test_facts_about_two_things_are_none(older: str, newer: str) -> None:
    assert not contradicts(older, newer)


@pytest.mark.parametrize(("older", "newer"), [*CONTRADICTIONS, *BOTH_VALID])
def test_the_quick_look_is_never_below_the_evidence(older: str, newer: str) -> None:
    old, new = read_wording(older, None), read_wording(newer, None)
    assert old is not None
    assert new is not None
    weights = current_constants().contradictions
    evidence = weigh_features(extract_pair_features(old, new, similarity=SIMILARITY, rarity={}), weights)
    most = bound_evidence(old, new, SIMILARITY, {}, weights)
    assert most >= evidence or not set(old.tokens) & set(new.tokens) or old.tokens == new.tokens


def test_the_reason_names_the_values_or_the_change() -> None:
    assert (
        explain_contradiction("The service listens on port 8080.", "The service listens on port 8443.")
        == "8080 or 8443"
    )
    assert explain_contradiction("The standup is at 9:30.", "The standup moved to 10:00.") == "moved to 10:00"
    assert explain_contradiction("Ana lives in Porto.", "Ana lives in Lisbon.") == "Porto or Lisbon"
    assert explain_contradiction("The staging server is down.", "The staging server is not down.") == "not down"
