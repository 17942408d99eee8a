"""The knobs of learning by use: the log of what was shown, what exposure teaches, and what importance counts. Declared once."""

from __future__ import annotations

from cofire.knobs import Knob, declare

RECALL_LOG = declare(
    Knob(
        "recall_log.enabled",
        True,
        "Whether it is logged which facts a recall showed, so that feedback can name the recall.",
        "cofire",
    )
)
RECALL_LOG_MOST = declare(
    Knob(
        "recall_log.most",
        10_000,
        "Recalls that the log keeps; older ones go.",
        "cofire",
        low=1,
        high=10_000_000,
        kept=True,
    )
)
HEBBIAN_RULE = declare(
    Knob(
        "hebbian.rule",
        "earned",
        "What exposure teaches: earned (a pair shown in three sessions is strengthened), documented (every recall strengthens "
        "all pairs), or off.",
        "000; measured",
        choices=("earned", "documented", "off"),
        kept=True,
    )
)
PRIOR_PAGERANK = declare(
    Knob("prior.pagerank", 0.0, "Weight in fusion of a fact's PageRank beside the highest.", "000", low=0, high=100)
)
PRIOR_COMMUNITY = declare(
    Knob(
        "prior.community",
        0.0,
        "Weight in fusion of how many of the best facts are of a fact's own community.",
        "000",
        low=0,
        high=100,
    )
)
PRIOR_SUCCESS = declare(
    Knob(
        "prior.success",
        0.0,
        "Weight in fusion of how often a fact helped rather than hurt.",
        "cofire",
        low=0,
        high=100,
    )
)
PRIOR_OCCASION = declare(
    Knob(
        "prior.occasion",
        0.6,
        "Weight in fusion of how surely a fact helped before, when much the same facts came to mind.",
        "cofire; measured",
        low=0,
        high=100,
    )
)
