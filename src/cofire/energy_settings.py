"""The knobs of energy paths, which `explore` follows, declared once under the names of 003: default, range, help, source."""

from __future__ import annotations

from cofire.knobs import Knob, declare

MAX_DEPTH = declare(
    Knob(
        "energy.max_depth",
        5,
        "How many links a path of explore may follow.",
        "003",
        low=1,
        high=100,
        alias="MAX_DEPTH",
    )
)
MIN_ACTIVATION = declare(
    Knob(
        "energy.min_activation",
        0.005,
        "Energy that must be exceeded for a path to go on.",
        "003",
        low=0,
        high=1,
        alias="MIN_ACTIVATION",
    )
)
TAG_FLOOR = declare(
    Knob(
        "energy.tag_floor",
        0.15,
        "What a link without a tag of the question conducts.",
        "003",
        low=0,
        high=1,
        alias="TAG_SIM_FLOOR",
    )
)
BRANCHES = declare(
    Knob(
        "energy.branches",
        3,
        "How many neighbours each fact passes energy to.",
        "003",
        low=1,
        high=1_000,
        alias="MAX_BRANCHES",
    )
)
SEEDS = declare(
    Knob("energy.seeds", 5, "How many facts explore starts from when it is asked a question.", "003", low=1, high=100)
)
