"""The knobs that decide when memory says that it knows nothing. Declared once: name, default, range, help, source."""

from __future__ import annotations

from cofire.knobs import Knob, declare

RULE = declare(
    Knob(
        "abstention.rule",
        "evidence",
        "When memory says that it knows nothing: too little evidence, the documented gate on activation, or never (off).",
        "000; measured",
        choices=("evidence", "gate", "off"),
    )
)
THRESHOLD = declare(
    Knob(
        "abstention.threshold",
        0.0,
        "Evidence below which memory is silent; 0 is the embedding model's own calibrated value.",
        "measured",
        low=0,
        high=2,
    )
)
LEXICAL_WEIGHT = declare(
    Knob(
        "abstention.words",
        0.1,
        "What the share of the question's words counts beside the cosine.",
        "measured",
        low=0,
        high=10,
    )
)
RARITY_WEIGHT = declare(
    Knob(
        "abstention.rarity",
        0.003,
        "What the rarity of those words of the question that a fact holds counts beside that, all added up.",
        "measured",
        low=0,
        high=1,
    )
)
SIZE_PENALTY = declare(
    Knob("abstention.size", 0.018, "What the logarithm of the number of facts takes away.", "measured", low=0, high=1)
)
UNKNOWN_PENALTY = declare(
    Knob(
        "abstention.unknown",
        0.012,
        "What words that memory has never met add to that; naming one who speaks in it, or what facts are about, takes as much off.",
        "measured",
        low=0,
        high=1,
    )
)
LEXICAL_THRESHOLD = declare(
    Knob(
        "abstention.lexical_threshold",
        0.1,
        "Evidence by words alone below which memory is silent, where there is no calibrated embedder.",
        "measured",
        low=0,
        high=1,
    )
)
