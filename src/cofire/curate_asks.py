"""What a verb may ask when it curates. Answered like all asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cofire.asks import World
from cofire.curating import Fade


@dataclass(frozen=True, slots=True)
class WhatFades:
    """What would a fade do now?"""

    fade: Fade
    now: datetime
    examples: int

    def put(self, world: World) -> Any:
        return world.store.fading(self.fade, self.now, self.examples)


@dataclass(frozen=True, slots=True)
class WhatIsWeak:
    """Which similarity edges are below a weight?"""

    threshold: float
    examples: int

    def put(self, world: World) -> Any:
        return world.store.weak(self.threshold, self.examples)


@dataclass(frozen=True, slots=True)
class HowUsed:
    """How were the facts used?"""

    def put(self, world: World) -> Any:
        return world.store.usage()


@dataclass(frozen=True, slots=True)
class ActiveDays:
    """On which days was the memory in use?"""

    def put(self, world: World) -> Any:
        return world.store.active_days()


@dataclass(frozen=True, slots=True)
class HowHealthy:
    """What is not as it should be?"""

    def put(self, world: World) -> Any:
        return world.store.health()


@dataclass(frozen=True, slots=True)
class ChangedFacts:
    """The ids of facts that were stored, observed again or updated since a moment."""

    since: datetime | None

    def put(self, world: World) -> Any:
        return world.store.changed_facts(self.since)


@dataclass(frozen=True, slots=True)
class Reviews:
    """What was proposed for review?"""

    open_only: bool = True

    def put(self, world: World) -> Any:
        return world.store.reviews(self.open_only)


@dataclass(frozen=True, slots=True)
class WhyArchived:
    """Why were these facts archived?"""

    ids: Sequence[str]

    def put(self, world: World) -> Any:
        return world.store.archived_because(self.ids)
