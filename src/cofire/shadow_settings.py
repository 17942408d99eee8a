"""The knobs of shadow recalls and snapshots: what is tried and kept beside an answer without changing it. Declared once."""

from __future__ import annotations

from cofire.knobs import Knob, declare
from cofire.presets import PRESETS

SHADOW = declare(
    Knob(
        "shadow.enabled",
        False,
        "Whether each recall is run once more under a second configuration and compared, without changing the answer.",
        "001",
        alias="graphRecallShadowEnabled",
    )
)
SHADOW_PRESET = declare(
    Knob("shadow.preset", "research-max", "The preset of that second configuration.", "cofire", choices=tuple(PRESETS))
)
SHADOW_SETTINGS = declare(
    Knob(
        "shadow.settings",
        "",
        "Settings that lie over that preset: NAME=VALUE, separated by commas, or an object in JSON.",
        "cofire",
    )
)
SHADOW_ASSIST = declare(
    Knob(
        "shadow.assist",
        False,
        "Whether each recall is run once more with graph_assist.enabled the other way round and compared.",
        "001",
        alias="graphAssistShadowEvalEnabled",
    )
)
SNAPSHOTS = declare(
    Knob(
        "snapshots.enabled",
        False,
        "Whether each recall leaves a snapshot: the question, and the ids that came back by which way.",
        "001",
        alias="graphRecallSnapshotEnabled",
    )
)
SNAPSHOTS_MOST = declare(
    Knob(
        "snapshots.most",
        200,
        "Snapshots, and comparisons, that are kept; older ones go.",
        "cofire",
        low=1,
        high=100_000,
    )
)
SNAPSHOTS_FOLDER = declare(
    Knob(
        "snapshots.folder",
        "",
        "Where snapshots and comparisons are kept; empty is beside the store, in a folder of its name and .snapshots.",
        "cofire",
    )
)
