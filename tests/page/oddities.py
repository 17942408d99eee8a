"""What a page can stumble over, told to a memory: tags with commas, words without an end, late words, scopes alike. Facts only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cofire

_ENDLESS = "Donaudampfschifffahrtsgesellschaft" * 8

FACTS: tuple[dict[str, Any], ...] = (
    {"text": "The lease of the second office ends in June.", "tags": ["berlin, germany", "office"]},
    {"text": f"The ship is called {_ENDLESS}.", "tags": [_ENDLESS[:100]], "speaker": _ENDLESS[:100]},
    {"text": f"The ship called {_ENDLESS} sails on Sundays."},
    {
        "text": "The minutes of the meeting in March are long, and what they say about the budget "
        "of the coming year stands on the last page, below a drawing of a zeppelin."
    },
    {"text": "The garden gate is painted green.", "scope": "garden"},
    {"text": "The garden gate was painted by Mei.", "scope": "garden"},
    {"text": "The green paint of the garden gate is in the shed.", "scope": "garden"},
    {"text": "The cellar is locked at night.", "scope": "cellar"},
)


def tell(store: Path) -> None:
    """Write them into a new store, and dream, so that every scope has its own communities."""
    with cofire.Memory(store) as memory:
        memory.remember(FACTS)
        for scope in ("default", "garden", "cellar"):
            memory.dream(scope=scope)
