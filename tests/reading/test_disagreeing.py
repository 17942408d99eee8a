"""Disagreement by structure, on labelled pairs: what is proposed must nearly always be worth a look."""

from __future__ import annotations

import pytest

from cofire.reading.disagreeing import disagreement

# Pairs of which both cannot hold at once.
OTHERWISE = [
    ("Ana lives in Porto.", "Ana lives in Lisbon now."),
    ("The production database is PostgreSQL 14.", "The production database is PostgreSQL 16."),
    ("The deadline is 3 May.", "The deadline is 10 May."),
    ("Ben works at Acme.", "Ben works at Globex."),
    ("The API rate limit is 100 requests a minute.", "The API rate limit is 250 requests a minute."),
    ("The weekly meeting is on Monday.", "The weekly meeting is on Thursday."),
    ("Ana prefers tea in the morning.", "Ana prefers coffee in the morning."),
    ("The build uses npm.", "The build uses pnpm."),
    ("The project's license is MIT.", "The project's license is Apache."),
    ("The office opens at 8:00.", "The office opens at 9:30."),
    ("Maria's phone number is 555-1234.", "Maria's phone number is 555-9876."),
    ("The service listens on port 8080.", "The service listens on port 9090."),
    ("Tom is 34 years old.", "Tom is 35 years old."),
    ("The team lead is Priya.", "The team lead is Jonas."),
    ("Backups are stored in Frankfurt.", "Backups are stored in Dublin."),
    ("PgBouncer runs in session mode.", "PgBouncer runs in transaction mode."),
    ("Ana has two children.", "Ana has three children."),
    ("The flight to Oslo is on Friday.", "The flight to Oslo is on Saturday."),
    ("The staging server is down.", "The staging server is not down."),
    ("Ben eats meat.", "Ben never eats meat."),
    ("The logs are kept for 30 days.", "The logs are kept for 90 days."),
    ("The rent costs 900 euros.", "The rent costs 1100 euros."),
    ("Our CI runs on Jenkins.", "Our CI runs on GitHub."),
    ("The contract expires in June.", "The contract expires in September."),
    ("Ana reports to Jonas.", "Ana reports to Priya."),
    ("The cache timeout is set to 60 seconds.", "As of now the cache timeout is set to 300 seconds."),
]
# Pairs that may both be true, however alike.
BOTH = [
    ("Ana visited Porto.", "Ana visited Lisbon."),
    ("Ana likes tea.", "Ana likes coffee."),
    ("Ana lives in Porto.", "Ben lives in Porto with Ana."),
    ("Ben bought 3 apples.", "Ben bought 5 apples."),
    ("The kettle is red.", "The kettle is heavy."),
    ("Ana speaks Portuguese.", "Ana speaks English."),
    ("On Monday Ana met Ben.", "On Tuesday Ana met Tom."),
    ("We released version 1.2 in May.", "We released version 1.3 in June."),
    ("Is the deadline 3 May?", "The deadline is 10 May."),
    ("PgBouncer runs in transaction mode.", "Serverless functions need transaction mode."),
    ("Ana lives in Porto.", "Ana lives in Porto."),
    ("Ana lives in Porto.", "Ana lives in Porto near the river."),
    ("The API supports JSON.", "The API supports XML."),
    ("Ben wrote the parser.", "Ben wrote the tests."),
    ("Tom plays the piano.", "Tom plays the violin."),
    ("The team fixed bug 412.", "The team fixed bug 518."),
    ("Ana works at Acme.", "Ana works on the parser."),
    ("The database contains users.", "The database contains orders."),
    ("Maria read Emma last week.", "Maria read Persuasion last week."),
    ("The garden needs water.", "The garden needs sun."),
    ("Ana is a doctor.", "Ana is a mother."),
    ("Paris is the capital of France.", "Paris is known for its cafes and museums."),
    ("The server was restarted at 8:00.", "Disk usage on the server reached 80 percent."),
    ("Ben has a dog.", "Ben has a cat."),
    ("Ana paid 20 euros for lunch.", "Ana paid 35 euros for lunch."),
    ("The train left at noon.", "The train left at midnight."),
    ("Tom called Ana on Friday.", "Tom called Ana on Sunday."),
]


def test_what_is_proposed_is_nearly_always_right(capsys: pytest.CaptureFixture[str]) -> None:
    right = sum(disagreement(*pair) is not None for pair in OTHERWISE)
    wrong = [pair for pair in BOTH if disagreement(*pair) is not None]
    precision, found = right / (right + len(wrong)), right / len(OTHERWISE)
    with capsys.disabled():
        print(f"\n{len(OTHERWISE) + len(BOTH)} pairs: precision {precision:.3f}, found {found:.3f}")
    assert precision >= 0.95, wrong
    assert found >= 0.8, [pair for pair in OTHERWISE if disagreement(*pair) is None]


@pytest.mark.parametrize("pair", [*OTHERWISE, *BOTH])
def test_it_does_not_matter_which_comes_first(pair: tuple[str, str]) -> None:
    assert (disagreement(*pair) is None) == (disagreement(*reversed(pair)) is None)


def test_it_says_which_values_they_are() -> None:
    assert disagreement("The deadline is 3 May.", "The deadline is 10 May.") == "3 or 10"
    assert disagreement("The staging server is down.", "The staging server is not down.") == "one says: not"


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Ana lives in Berlin.", "Ana does not live in Berlin."),
        ("Ana works from Porto.", "Ana doesn't work from Porto."),
        ("We use Redis for sessions.", "We don't use Redis for sessions."),
        ("The VPN is enabled.", "The VPN isn’t enabled."),
        ("The badge carries a chip.", "The badge does not carry a chip."),
        ("Guests can book the hall.", "Guests cannot book the hall."),
    ],
)
def test_a_denial_is_found_however_it_is_put(said: str, denied: str) -> None:
    assert disagreement(said, denied) == disagreement(denied, said) == "one says: not"


def test_what_is_denied_of_two_values_can_both_be_true() -> None:
    assert disagreement("Ana does not live in Berlin.", "Ana does not live in Porto.") is None


def test_nothing_disagrees_with_nothing() -> None:
    assert disagreement("", "Ana lives in Porto.") is None
