"""The threshold of the bundled model: a small memory answers real questions and abstains on nonsense."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.strangers import OTHER_LANGUAGES, salads
from cofire import Memory
from cofire.embedders.bundled import BundledEmbedder
from cofire.results import AbstentionVerdict

MARGIN = 0.03

ANSWERED = {
    "We use PostgreSQL 15 for the production database.": "Which database do we use?",
    "PgBouncer runs in transaction mode.": "In which mode does the pooler run?",
    "Ana leads the platform team.": "Who is in charge of platform?",
    "Lunch on Friday is at half past twelve.": "When is lunch?",
    "The spare key is under the blue pot.": "Where can I find the spare key?",
    "Backups run every night at two and are kept for thirty days.": "How long do we keep backups?",
    "Ben is allergic to hazelnuts.": "What must Ben not eat?",
    "The office in Porto closes at the end of June.": "Which office is going to close?",
    "Deploys go to staging first and need a person to approve them.": "Who may approve a release?",
    "My flight to Oslo leaves on Tuesday at nine.": "When do I fly to Oslo?",
    "The printer on the second floor is out of toner.": "Why does the printer not work?",
    "Clara prefers short reports with the decision on top.": "How does Clara like her reports?",
    "The API accepts at most a hundred requests a minute.": "What is the rate limit of the API?",
    "We adopted a grey cat called Moss in March.": "What is the name of our cat?",
    "The lease of the flat ends in September next year.": "When does the lease run out?",
    "Tom broke his wrist while skating.": "What happened to Tom?",
    "Invoices are sent on the first working day of the month.": "When are customers billed?",
    "The wifi password is changed every quarter.": "How often does the wifi password change?",
    "Grandmother's soup needs two spoons of vinegar at the end.": "What goes into grandmother's soup?",
    "The team meets on Mondays in the small room.": "Where does the team meet?",
}
NONSENSE = ("xyzzy quantum banana telescope", *salads(40))


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory(":memory:", embedder=BundledEmbedder()) as opened:
        opened.remember(list(ANSWERED))
        yield opened


def judgement(memory: Memory, question: str) -> AbstentionVerdict:
    found = memory.recall(question).judgement
    assert found is not None
    return found


@pytest.mark.parametrize("question", ANSWERED.values())
def test_real_questions_are_answered(memory: Memory, question: str) -> None:
    assert judgement(memory, question).known


def test_what_only_knowledge_of_the_world_connects_is_refused(memory: Memory) -> None:
    """A limit: neither the words nor the model know that PgBouncer pools connections, so it is no nearer than nonsense."""
    assert not judgement(memory, "How is connection pooling set up?").known


@pytest.mark.parametrize("question", NONSENSE)
def test_nonsense_is_refused_by_far(memory: Memory, question: str) -> None:
    found = judgement(memory, question)
    assert found.evidence <= found.threshold - MARGIN


def test_other_languages_are_nearly_always_refused(memory: Memory) -> None:
    refused = [question for question in OTHER_LANGUAGES if not judgement(memory, question).known]
    assert len(refused) >= 0.9 * len(OTHER_LANGUAGES)


def test_the_threshold_is_that_of_the_model(memory: Memory) -> None:
    assert judgement(memory, "When is lunch?").threshold == BundledEmbedder().silent_below
