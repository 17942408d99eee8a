"""The story that `cofire demo` tells: what a small team said and wrote down, and what one might ask. Data only."""

from __future__ import annotations

from typing import Any

FACTS: tuple[dict[str, Any], ...] = (
    {"text": "We use PostgreSQL 15 for the production database.", "tags": ["db"], "source": "handbook.md"},
    {"text": "PostgreSQL connection pooling is configured via PgBouncer.", "tags": ["db"], "source": "handbook.md"},
    {
        "text": "PgBouncer sessions should be set to transaction mode for serverless.",
        "tags": ["db"],
        "source": "runbook.md",
    },
    {"text": "The API runs as serverless functions in Frankfurt.", "tags": ["infra"], "source": "handbook.md"},
    {"text": "Invoices are sent on the first working day of the month.", "category": "process"},
    {"text": "Ana leads the platform team and is on call in odd weeks.", "subject": "Ana", "category": "people"},
    {"text": "Tomás moved from support to the billing team in March.", "subject": "Tomás", "category": "people"},
    {
        "text": "The deploy failed again, too many connections to the database.",
        "speaker": "Tomás",
        "session": "deploy-42",
        "at": "2026-05-08T09:12:00Z",
    },
    {
        "text": "That happens when every function opens its own session. Did somebody change the pool mode?",
        "speaker": "Ana",
        "session": "deploy-42",
        "at": "2026-05-08T09:13:00Z",
    },
    {
        "text": "Yes, I did on Tuesday, to try prepared statements. I will change it back.",
        "speaker": "Tomás",
        "session": "deploy-42",
        "at": "2026-05-08T09:15:00Z",
    },
    {
        "text": "Lunch on Friday is at the Vietnamese place, half past twelve.",
        "speaker": "Mei",
        "session": "office",
        "at": "2026-05-08T10:02:00Z",
    },
    {
        "text": "The door code of the old office is 4471.",
        "speaker": "Mei",
        "session": "office",
        "at": "2026-05-08T10:05:00Z",
        "tags": ["secret"],
    },
)

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("What database configuration do we use for serverless?", {"k": 4}),
    ("Who is on call when a deploy goes wrong?", {"k": 2}),
    ("What was changed, and why?", {"k": 1, "speaker": "Tomás"}),
)

# Facts that belong together though the first and the last share no word of substance.
PATH = tuple(str(fact["text"]) for fact in FACTS[:3])

SECRET_QUESTION = "What is the door code?"
SECRET_TAG = "secret"
