"""The knobs of recall by the graph, under the names that the documents give them. Declared once: name, default, range, help, source."""

from __future__ import annotations

from cofire.knobs import Knob, declare

ACTIVATION = declare(
    Knob("spreading_activation.enabled", True, "Whether activation takes part in fusion as a channel.", "000")
)
SEEDS = declare(
    Knob(
        "graph_recall.seeds",
        5,
        "Facts that activation starts from (documented: 10).",
        "001; measured",
        low=1,
        high=100,
        alias="graphRecallMaxSeedNodes",
    )
)
LEAST_SEED = declare(
    Knob(
        "graph_recall.min_seed_score",
        0.0,
        "What a seed must count beside the best one, from 0 to 1 (documented: 0.3).",
        "001; measured",
        low=0,
        high=1,
        alias="graphRecallMinSeedScore",
    )
)
CONFIDENCE_FLOOR = declare(
    Knob(
        "graph_recall.confidence_floor",
        0.2,
        "Confidence below which a link is not followed.",
        "001",
        low=0,
        high=1,
        alias="graphTraversalConfidenceFloor",
    )
)
ASSIST = declare(
    Knob(
        "graph_assist.enabled",
        True,
        "Whether a full recall goes on from its own best results.",
        "001",
        alias="graphAssistInFullModeEnabled",
    )
)
