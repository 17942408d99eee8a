"""Facts of a small team over two years, for the screenshots and browser tests of the page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import cofire

QUESTION = "What setting lets serverless functions share database connections?"

_BEGIN = datetime(2025, 1, 7, 9, 0, tzinfo=UTC)

# By topic: facts with the same tag were stored within the same weeks.
_TOLD: tuple[tuple[str, str, str], ...] = (
    (
        "db",
        "handbook.md",
        """\
We use PostgreSQL 15 for the production database.
PostgreSQL connection pooling is configured via PgBouncer.
PgBouncer sessions should be set to transaction mode for serverless.
PgBouncer in session mode holds one PostgreSQL connection per client.
PostgreSQL accepts at most 200 connections in production.
Prepared statements need session mode in our version of PgBouncer.
The nightly backup goes to the Frankfurt bucket at two o'clock.
A backup was restored in forty minutes during the March drill.
The orders table is partitioned by month.
Vacuum on the orders table runs every Sunday night.
The read replica lags by less than two seconds on normal days.
Reports query the read replica, never the primary.""",
    ),
    (
        "infra",
        "runbook.md",
        """\
The API runs as serverless functions in Frankfurt.
Every serverless function opens its own database session at start.
Serverless functions scale to 400 copies under load.
The deploy pipeline runs on every merge to main.
A deploy takes six minutes from merge to production.
Canary deploys send five percent of the traffic to the new version first.
The status page is hosted outside of Frankfurt on purpose.
Terraform state lives in the infra repository bucket.
Secrets are rotated every ninety days by a scheduled function.
The CDN caches product images for one day.
Staging is switched off at night to save money.
Load tests run against staging on Thursdays.""",
    ),
    (
        "billing",
        "handbook.md",
        """\
Invoices are sent on the first working day of the month.
The billing service writes invoices to the orders table.
Stripe webhooks arrive at the billing service.
A failed Stripe webhook is tried again for three days.
Northwind pays by bank transfer, not by card.
Northwind asked for one invoice per warehouse.
VAT for Portugal is 23 percent.
Refunds over 500 euros need a second pair of eyes.
The billing service was slow in April because of a missing index.
An index on customer and month made the invoice run ten times faster.
Dunning letters go out fourteen days after the due date.
Tomás wrote the invoice exporter in Kotlin.""",
    ),
    (
        "people",
        "team.md",
        """\
Ana leads the platform team and is on call in odd weeks.
Tomás moved from support to the billing team in March.
Mei runs the office and plans the team offsite.
Jonas joined as a data engineer in September.
Priya owns the search service.
Ana mentors Jonas on PostgreSQL.
Tomás is on call in even weeks.
Priya works from Porto and visits Frankfurt once a month.
Mei speaks Vietnamese, Portuguese and German.
Jonas is allergic to peanuts.
Ana prefers written decisions to meetings.
Tomás plays the cello in a quartet on Wednesdays.""",
    ),
    (
        "search",
        "search.md",
        """\
The search service is built on OpenSearch.
Product search is typo tolerant since version 4.
The search index is rebuilt every night from the read replica.
Priya measured that synonyms raise clicks by eight percent.
A rebuild of the search index takes fifty minutes.
Search latency must stay below 120 milliseconds.
Northwind complained about missing results for umlauts.
Umlauts are folded in the search index since June.
Ranking uses sales of the last thirty days.
The search service falls back to the database when OpenSearch is down.""",
    ),
    (
        "customers",
        "crm.md",
        """\
Northwind is our largest customer, with nine warehouses.
Northwind renewed its contract until the end of 2027.
Contoso wants single sign-on before they sign.
Single sign-on with Contoso failed because of a clock that was off.
Fabrikam left after the outage in February.
The outage in February lasted three hours.
Fabrikam would come back for a better status page.
Contoso has its own security review every spring.
The support inbox gets forty messages a day.
Customers ask most often for exports to Excel.""",
    ),
    (
        "office",
        "office.md",
        """\
The office moved to Hafenstrasse in May.
The door code of the old office is 4471.
Lunch on Friday is at the Vietnamese place, half past twelve.
The plants are watered on Mondays.
The big meeting room is called Aquarium.
The coffee machine is serviced every quarter.
The team offsite is in Porto in October.
Mei booked a boat on the Douro for the offsite.
The Vietnamese place has no peanuts in the kitchen on Fridays.
Bicycles go into the courtyard, not into the hall.""",
    ),
)

_TALKS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "deploy-42": (
        "2026-05-08T09:12:00+00:00",
        (
            ("Tomás", "The deploy failed again, too many connections to the database."),
            ("Ana", "That happens when every function opens its own session. Did somebody change the pool mode?"),
            ("Tomás", "Yes, I switched PgBouncer to session mode on Tuesday, to try prepared statements."),
            ("Ana", "Please put PgBouncer back to transaction mode, and write it into the runbook."),
            ("Tomás", "Done. The deploy went through, and PostgreSQL is at 60 connections."),
        ),
    ),
    "outage-review": (
        "2026-02-19T14:00:00+00:00",
        (
            ("Ana", "The outage in February began with a full disk on the primary database."),
            ("Jonas", "The disk was full because a replication slot of the old read replica was never dropped."),
            ("Ana", "We will alert on replication slots that nobody reads."),
            ("Priya", "Search stayed up, because it falls back to nothing when the database is gone."),
        ),
    ),
    "offsite": (
        "2026-09-02T11:00:00+00:00",
        (
            ("Mei", "Who eats what at the offsite? Jonas, no peanuts, I know."),
            ("Jonas", "Right, and I will bring the cello case for Tomás."),
            ("Priya", "I can show everyone Porto on the first evening."),
        ),
    ),
}


def facts() -> list[dict[str, Any]]:
    """All facts, each with its day."""
    return [*_notes(), *_sayings()]


def tell(store: Path) -> None:
    """Store the facts, dream, recall and give feedback, so that every screen has content."""
    with cofire.Memory(store) as memory:
        ids = dict(zip((one["text"] for one in facts()), memory.remember(facts()), strict=True))
        memory.dream()
        memory.connect(
            ids["Fabrikam left after the outage in February."],
            ids["The outage in February lasted three hours."],
            kind="supports",
            weight=0.9,
        )
        memory.pin(ids["PgBouncer sessions should be set to transaction mode for serverless."])
        memory.recall(QUESTION, settings={"shadow.enabled": True})
        memory.remember("Priya lives in Porto.", at="2025-07-01")
        memory.remember("Priya lives in Lisbon now.", at="2026-10-05")
        memory.curate()


def _notes() -> list[dict[str, Any]]:
    return [
        {
            "text": text,
            "tags": [tag],
            "source": source,
            "at": (_BEGIN + timedelta(days=60 * group + 5 * row)).isoformat(),
        }
        for group, (tag, source, texts) in enumerate(_TOLD)
        for row, text in enumerate(texts.splitlines())
    ]


def _sayings() -> list[dict[str, Any]]:
    return [
        {"text": text, "speaker": speaker, "session": session, "at": _minutes_after(begin, turn)}
        for session, (begin, turns) in _TALKS.items()
        for turn, (speaker, text) in enumerate(turns)
    ]


def _minutes_after(begin: str, minutes: int) -> str:
    return (datetime.fromisoformat(begin) + timedelta(minutes=minutes)).isoformat()
