"""The knobs of curation: how edges fade, what is archived, and when that is done by itself. Declared once."""

from __future__ import annotations

from cofire.knobs import Knob, declare

DECAY_CLOCK = declare(
    Knob(
        "decay.clock",
        "use",
        "Which days count when edges fade and facts lie unused: days on which the memory was in use, or those of the calendar.",
        "000; cofire",
        choices=("use", "calendar"),
        kept=True,
    )
)
DECAY_GRACE = declare(
    Knob(
        "decay.grace_days",
        30,
        "Days without strengthening before an edge's weight fades.",
        "000",
        low=0,
        high=10_000,
        kept=True,
    )
)
DECAY_RATE = declare(
    Knob("decay.rate", 0.01, "What a weight loses a day then, as e^(-rate·days).", "000", low=0, high=1, kept=True)
)
DECAY_END = declare(
    Knob("decay.end_below", 0.05, "Weight below which a faded edge ends.", "000", low=0, high=1, kept=True)
)
CONFIDENCE_GRACE = declare(
    Knob(
        "decay.confidence_grace_days",
        90,
        "Days without being seen again before an edge's confidence falls.",
        "001",
        low=0,
        high=10_000,
        kept=True,
    )
)
CONFIDENCE_PERIOD = declare(
    Knob("decay.confidence_days", 90, "Days for which it falls by one step.", "001", low=1, high=10_000, kept=True)
)
CONFIDENCE_STEP = declare(
    Knob("decay.confidence_step", 0.1, "How far a confidence falls each time.", "001", low=0, high=1, kept=True)
)
CONFIDENCE_FLOOR = declare(
    Knob("decay.confidence_floor", 0.1, "Confidence below which it does not fall.", "001", low=0, high=1, kept=True)
)
PRUNE_THRESHOLD = declare(
    Knob(
        "edge_prune_threshold",
        0.10,
        "Weight below which similarity edges are taken away.",
        "002",
        low=0,
        high=1,
        kept=True,
    )
)
RETENTION_DAYS = declare(
    Knob(
        "retention.days",
        0,
        "Days after which a fact that was neither told again nor recalled is archived; 0 is never.",
        "cofire",
        low=0,
        high=100_000,
        kept=True,
    )
)
RETENTION_KEEP = declare(
    Knob(
        "retention.keep",
        "",
        "Categories that are not archived for lying unused, separated by commas: decision,preference.",
        "cofire",
        kept=True,
    )
)
BUDGET_FACTS = declare(
    Knob(
        "budget.facts",
        0,
        "Facts that may be in recall; curate archives the least valuable of more. 0 is no limit.",
        "cofire",
        low=0,
        high=1_000_000_000,
        kept=True,
    )
)
BUDGET_BYTES = declare(
    Knob(
        "budget.bytes",
        0,
        "Bytes that the texts and vectors of facts in recall may fill; curate archives the least valuable. 0 is no limit.",
        "cofire",
        low=0,
        high=1_000_000_000_000,
        kept=True,
    )
)
REVIEW = declare(
    Knob(
        "review.enabled",
        True,
        "Whether curate looks for facts that seem to say otherwise of the same thing, and proposes them for review.",
        "cofire",
        kept=True,
    )
)
APPLY_CLEAR = declare(
    Knob(
        "review.apply_clear",
        False,
        "Whether curate lets the newer fact supersede the older by itself where the evidence is clear; unsupersede takes it back.",
        "cofire",
        kept=True,
    )
)
CURATE_EVERY_HOURS = declare(
    Knob(
        "curate.every_hours",
        0.0,
        "Hours after which an open memory curates by itself in the background; 0 is never.",
        "cofire",
        low=0,
        high=100_000,
    )
)
