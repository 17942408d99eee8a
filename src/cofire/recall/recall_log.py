"""Recalls with an id and a log entry, so that feedback can refer to them."""

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
    """Answer a question, and log the ids of the hits and the edges that led to them."""
    recollection = yield from recall_with_shadow(text, options, settings)
    call_settings = apply_call_settings(options, settings)
    if not call_settings[RECALL_LOG_ENABLED] or recollection.mode == "no_recall":
        return recollection
    now = yield ReadClock()
    [id] = yield MintIds(now, 1)
    session = yield ReadSession()
    logged = LoggedRecall(id, now, session, recollection.ids, collect_used_edges(recollection.hits))
    log_options = RecallLogOptions(
        call_settings[RECALL_LOG_MOST], call_settings[HEBBIAN_RULE], call_settings[SESSION_IDLE_MINUTES]
    )
    yield from store.log_recall(logged, log_options)
    return recollection.with_id(id)


def collect_used_edges(hits: Iterable[Hit]) -> dict[str, tuple[PathEdge, ...]]:
    """The edges of the path to each hit, for hits that have a path."""
    return {hit.id: tuple(_make_used_edge(hop) for hop in hit.hops) for hit in hits if hit.hops}


def _make_used_edge(hop: ActivationHop) -> PathEdge:
    """The edge of a hop. A hop over a name has no stored edge; it stands for a Hebbian edge of the two facts."""
    if hop.via is None:
        return PathEdge(hop.source, hop.target, hop.kind)
    return PathEdge(min(hop.source, hop.target), max(hop.source, hop.target), HEBBIAN_KIND)
