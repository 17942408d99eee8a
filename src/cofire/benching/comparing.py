"""Comparing: two runs, question by question, and which differences are beyond chance. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cofire.benching.intervals import Shares, beyond_chance, paired
from cofire.benching.scoring import METRICS
from cofire.errors import InvalidInput

Figures = Mapping[str, Any]


def differences(before: Shares, after: Shares) -> dict[str, Any]:
    """By how many points each metric rises, between what that lies with 95 %, and whether it is beyond chance."""
    if not len(before):
        return {metric: _told(0.0, 0.0, 0.0) for metric in METRICS}
    points, (low, high) = paired(before, after)
    return {metric: _told(points[at], low[at], high[at]) for at, metric in enumerate(METRICS)}


def compare(before: Figures, after: Figures) -> dict[str, Any]:
    """What changes from one run to another: by set, arm and half, over the questions that both asked."""
    shared = [name for name in before["sets"] if name in after["sets"]]
    found = {name: _compared(before["sets"][name], after["sets"][name]) for name in shared}
    found = {name: one for name, one in found.items() if one["questions"]}
    if not found:
        raise InvalidInput("The two runs have no question in common.", way_out="Compare runs over the same sets.")
    return {"before": _origin(before), "after": _origin(after), "sets": found}


def _compared(before: Figures, after: Figures) -> dict[str, Any]:
    places = {one["id"]: at for at, one in enumerate(after["asked"])}
    pairs = [(at, places[one["id"]]) for at, one in enumerate(before["asked"]) if one["id"] in places]
    tuning = np.array([before["asked"][at]["tuning"] for at, _ in pairs], np.bool_)
    halves = {"all": np.full(len(pairs), True), "tuning": tuning, "other": ~tuning}
    return {
        "questions": len(pairs),
        "arms": {
            name: {
                half: differences(_shares(arm, pairs, 0)[chosen], _shares(after["arms"][name], pairs, 1)[chosen])
                for half, chosen in halves.items()
                if chosen.any()
            }
            for name, arm in before["arms"].items()
            if name in after["arms"]
        },
    }


def _shares(arm: Figures, pairs: list[tuple[int, int]], side: int) -> Shares:
    every = np.array([arm["shares"][metric] for metric in METRICS], np.float64).T
    return np.asarray(every[[pair[side] for pair in pairs]])


def _told(points: float, low: float, high: float) -> dict[str, Any]:
    return {
        "points": round(100 * float(points), 2),
        "interval": [round(100 * float(low), 2), round(100 * float(high), 2)],
        "beyond_chance": beyond_chance(float(low), float(high)),
    }


def _origin(figures: Figures) -> dict[str, Any]:
    return {name: figures[name] for name in ("cofire", "commit", "modified", "measured")}
