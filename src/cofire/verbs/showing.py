"""Showing: a recall that is answered to somebody, with an id by which feedback can name it, and logged. Trials are neither."""

from __future__ import annotations

from collections.abc import Iterable

from cofire.asks import Asking
from cofire.graph_settings import IDLE_MINUTES
from cofire.learned import HEBBIAN, Keeping, Way
from cofire.learning_asks import LogShown
from cofire.learning_settings import HEBBIAN_RULE, RECALL_LOG, RECALL_LOG_MOST
from cofire.recollection import Hit, Recollection
from cofire.settings import Settings
from cofire.spreads import Hop
from cofire.verbs.asking import Asked, settings_of
from cofire.verbs.shadowing import recall_beside


def recall_shown(text: object, asked: Asked, settings: Settings) -> Asking[Recollection]:
    """A recall with its id, which is logged with what it showed."""
    found = yield from recall_beside(text, asked, settings)
    held = settings_of(asked, settings)
    if not held[RECALL_LOG] or found.mode == "no_recall":
        return found
    keeping = Keeping(held[RECALL_LOG_MOST], held[HEBBIAN_RULE], held[IDLE_MINUTES])
    id: str = yield LogShown(found.ids, ways_to(found.hits), keeping)
    return found.named(id)


def ways_to(hits: Iterable[Hit]) -> dict[str, tuple[Way, ...]]:
    """The edges that led to each hit, for those that the graph led to."""
    return {hit.id: tuple(_way(hop) for hop in hit.hops) for hit in hits if hit.hops}


def _way(hop: Hop) -> Way:
    """Through a name goes no edge that could be strengthened, so it is the one between the two facts that use would make."""
    if hop.via is None:
        return Way(hop.source, hop.target, hop.kind)
    return Way(min(hop.source, hop.target), max(hop.source, hop.target), HEBBIAN)
