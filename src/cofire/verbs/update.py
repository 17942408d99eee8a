"""Change stored facts: new text or fields with a history, pins, and the archive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypedDict

import numpy as np

from cofire.embedders.base import Vectors
from cofire.errors import InvalidInput
from cofire.model import Change, Edge, Fact, FactVersion
from cofire.runtime.effects import EmbedTexts, ReadClock, Steps
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.store_proxy import store
from cofire.settings.table import SESSION_IDLE_MINUTES, Settings
from cofire.stores.base import MODEL_RECORD, EdgeFilter
from cofire.verbs import validation
from cofire.verbs.embedding_model import VersionedModel, ensure_stored_model
from cofire.verbs.fact_analysis import analyse_facts
from cofire.verbs.listing import read_fact, read_facts
from cofire.verbs.remember import CONTENDED_TRIES, TimeInput, find_new_links

MAX_EDGES = 1_000_000
# Origins of edges that follow from the text of a fact. Edges of sessions, of use and of users stay.
TEXT_DERIVED_ORIGINS = frozenset({"auto_link", "similarity", "neighbours", "dream"})

IdsInput = str | Iterable[str]


class UpdateOptions(TypedDict, total=False):
    """The fields of a fact to change. Omitted fields stay; None removes a value."""

    text: Annotated[str, "The new text."]
    tags: Annotated[str | Iterable[str] | None, "The new tags; they replace the old ones."]
    category: Annotated[str | None, "The new category."]
    subject: Annotated[str | None, "The new subject."]
    at: Annotated[TimeInput, "When it happened."]
    metadata: Annotated[Mapping[str, Any] | None, "The new metadata; they replace the old ones."]
    valid_from: Annotated[TimeInput, "When it begins to be true."]
    valid_until: Annotated[TimeInput, "When it stops being true."]
    expires: Annotated[TimeInput, "When it is to be left out of every recall; a past time leaves it out at once."]


def update(id: str, changes: UpdateOptions, settings: Settings) -> Steps[Fact]:
    """Change fields of a fact, and recompute its words, names, vector and links.

    If the values are equal to the stored ones, no history is written.
    """
    return (yield from retry_on_conflict(partial(_update_once, id, changes, settings), tries=CONTENDED_TRIES))


def read_history(id: str) -> Steps[list[FactVersion]]:
    """The previous versions of a fact, oldest first."""
    yield from read_fact(id)
    history = yield from store.read_history(id)
    return list(history.versions)


def _update_once(id: str, changes: UpdateOptions, settings: Settings) -> Steps[Fact]:
    before = yield from read_fact(id)
    after = _apply_changes(before, changes, settings)
    if after == before:
        return before
    yield from _refuse_duplicate_text(before, after)
    now: datetime = yield ReadClock()
    (analysed,) = yield from analyse_facts([after], {}, settings)
    model, vectors = yield from _embed_new_text(before, analysed.fact)
    revision = replace(analysed, vector=vectors.get(id))
    links = yield from find_new_links([revision.fact], vectors, model, now, settings)
    outdated_edges = yield from _find_outdated_edges(before, revision.fact)
    change = Change(
        now=now,
        revisions=(revision,),
        ended=outdated_edges,
        edges=links.edges,
        descriptions=links.descriptions,
        idle_minutes=settings[SESSION_IDLE_MINUTES],
        as_read={id: before},
    )
    yield from store.write(change, {MODEL_RECORD: model.version} if model else {})
    return (yield from read_fact(id))


def _apply_changes(before: Fact, changes: UpdateOptions, settings: Settings) -> Fact:
    fields = {label: getattr(before, label) for label in validation.FACT_FIELDS}
    checked = validation.parse_fact({**fields, **changes}, settings)
    return replace(before, **{label: getattr(checked, label) for label in UpdateOptions.__annotations__})


def _refuse_duplicate_text(before: Fact, after: Fact) -> Steps[None]:
    stored_ids = yield from store.find_ids_by_hash([after.hash])
    twin = stored_ids.get(after.hash, before.id)
    if twin != before.id:
        raise InvalidInput(
            f"The fact {twin} says this already.", way_out=f"Forget {before.id}, or update {twin} with what it lacks."
        )


def _embed_new_text(before: Fact, after: Fact) -> Steps[tuple[VersionedModel | None, dict[str, bytes]]]:
    """The store's model and the new vector by id; none without an embedder or a new text."""
    if after.reading == before.reading:
        return None, {}
    model = yield from ensure_stored_model()
    if model is None:
        return None, {}
    embedded: Vectors | None = yield EmbedTexts([after.reading], "fact")
    if embedded is None:
        return None, {}
    return model, {after.id: embedded.astype(np.float16)[0].tobytes()}


def _find_outdated_edges(before: Fact, after: Fact) -> Steps[tuple[Edge, ...]]:
    """Edges that were derived from the old text; none if the text is the same."""
    if after.reading == before.reading:
        return ()
    edges = yield from store.list_edges(EdgeFilter(ids=frozenset([before.id])), MAX_EDGES)
    return tuple(edge for edge in edges if edge.origin in TEXT_DERIVED_ORIGINS or edge.origin.startswith("cue: "))


def pin(ids: IdsInput, pinned: bool) -> Steps[list[Fact]]:
    """Exempt facts from decay and archiving, or end that. Returns the facts that changed."""
    facts = yield from read_facts(ids)
    pins = {fact.id: pinned for fact in facts if fact.pinned is not pinned}
    now: datetime = yield ReadClock()
    return (yield from _write_marks(Change(now=now, pins=pins), pins))


def archive(ids: IdsInput, archived: bool) -> Steps[list[Fact]]:
    """Exclude facts from recall, or include them again. Returns the facts that changed."""
    facts = yield from read_facts(ids)
    marks = {fact.id: archived for fact in facts if fact.archived is not archived}
    now: datetime = yield ReadClock()
    return (yield from _write_marks(Change(now=now, archive=marks), marks))


def _write_marks(change: Change, marks: Mapping[str, bool]) -> Steps[list[Fact]]:
    """Write the change if it marks any fact, and read the marked facts again."""
    if not marks:
        return []
    yield from store.write(change)
    return (yield from read_facts(list(marks)))
