"""A recall for a user: given an id and logged, so that feedback can refer to it."""

from __future__ import annotations

from collections.abc import Iterable

from cofire.activation_paths import ActivationHop
from cofire.recall.compare import recall_with_shadow
from cofire.recall.request import RecallOptions, apply_call_settings
from cofire.results import Hit, Recollection
from cofire.runtime.effects import MintIds, ReadClock, ReadSession, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.table import HEBBIAN_RULE, RECALL_LOG_ENABLED, RECALL_LOG_MOST, SESSION_IDLE_MINUTES, Settings
from cofire.stores.learning_rows import HEBBIAN_KIND, LoggedRecall, PathEdge, RecallLogOptions


def recall_and_log(text: object, options: RecallOptions, settings: Settings) -> Steps[Recollection]:
    """A recall with its id, which is logged with what it showed."""
    found = yield from recall_with_shadow(text, options, settings)
    held = apply_call_settings(options, settings)
    if not held[RECALL_LOG_ENABLED] or found.mode == "no_recall":
        return found
    keeping = RecallLogOptions(held[RECALL_LOG_MOST], held[HEBBIAN_RULE], held[SESSION_IDLE_MINUTES])
    now = yield ReadClock()
    [id] = yield MintIds(now, 1)
    session = yield ReadSession()
    yield from store.log_recall(LoggedRecall(id, now, session, found.ids, collect_used_edges(found.hits)), keeping)
    return found.with_id(id)


def collect_used_edges(hits: Iterable[Hit]) -> dict[str, tuple[PathEdge, ...]]:
    """The edges that led to each hit, for those that the graph led to."""
    return {hit.id: tuple(_make_used_edge(hop) for hop in hit.hops) for hit in hits if hit.hops}


def _make_used_edge(hop: ActivationHop) -> PathEdge:
    """Through a name goes no edge that could be strengthened, so it is the one between the two facts that use would make."""
    if hop.via is None:
        return PathEdge(hop.source, hop.target, hop.kind)
    return PathEdge(min(hop.source, hop.target), max(hop.source, hop.target), HEBBIAN_KIND)
