"""The knob of forgetting: how long it can be undone. Declared once."""

from __future__ import annotations

from cofire.knobs import Knob, declare

UNDO_DAYS = declare(
    Knob(
        "forget.undo_days",
        30,
        "Days for which what is forgotten can be brought back by its receipt; 0 writes none.",
        "cofire",
        low=0,
        high=10_000,
    )
)
