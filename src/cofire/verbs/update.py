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
from cofire.model import Change, Edge, Fact, FactVersion, FactWrite
from cofire.runtime.effects import EmbedTexts, ReadClock, Steps
from cofire.runtime.retries import retry_on_conflict
from cofire.runtime.store_proxy import store
from cofire.settings.table import SESSION_IDLE_MINUTES, Settings
from cofire.stores.base import MODEL_RECORD, EdgeFilter
from cofire.verbs import validation
from cofire.verbs.edge_selection import AutoLinks, find_auto_links, is_linked_at_once
from cofire.verbs.embedding_model import VersionedModel, ensure_stored_model
from cofire.verbs.fact_analysis import analyse_facts
from cofire.verbs.listing import read_fact, read_facts
from cofire.verbs.remember import CONTENDED_TRIES, TimeInput

MAX_EDGES = 1_000_000
# Edges that memory drew from what a fact says; those of a session, of use and of people stay.
TEXT_DERIVED_ORIGINS = frozenset({"auto_link", "similarity", "neighbours", "dream"})


class UpdateOptions(TypedDict, total=False):
    """What may be changed in a fact. What is left out stays; None takes a value away."""

    text: Annotated[str, "The new text."]
    tags: Annotated[str | Iterable[str] | None, "The new tags; they replace the old ones."]
    category: Annotated[str | None, "The new category."]
    subject: Annotated[str | None, "The new subject."]
    at: Annotated[TimeInput, "When it happened."]
    metadata: Annotated[Mapping[str, Any] | None, "The new metadata; they replace the old ones."]
    valid_from: Annotated[TimeInput, "When it begins to be true."]
    valid_until: Annotated[TimeInput, "When it stops being true."]
    expires: Annotated[TimeInput, "When it is to be left out of every recall; a past time leaves it out at once."]


def update(id: str, said: UpdateOptions, settings: Settings) -> Steps[Fact]:
    """Change a fact, and let its words, names, vector and links follow. What changes nothing leaves no history."""
    return (yield from retry_on_conflict(partial(_update_once, id, said, settings), tries=CONTENDED_TRIES))


def read_history(id: str) -> Steps[list[FactVersion]]:
    """What a fact said before it was changed, the oldest first."""
    yield from read_fact(id)
    history = yield from store.read_history(id)
    return list(history.versions)


def _update_once(id: str, said: UpdateOptions, settings: Settings) -> Steps[Fact]:
    before = yield from read_fact(id)
    after = _apply_changes(before, said, settings)
    if after == before:
        return before
    yield from _refuse_duplicate_text(before, after)
    now: datetime = yield ReadClock()
    (new,) = yield from analyse_facts([after], {}, settings)
    settled, vectors = yield from _embed_new_text(before, new)
    new = replace(new, vector=vectors.get(id))
    links = yield from _find_links(new, vectors, settled, now, settings)
    change = Change(
        now=now,
        revisions=(new,),
        ended=(yield from _find_outdated_links(before, new)),
        edges=links.edges,
        descriptions=links.descriptions,
        idle_minutes=settings[SESSION_IDLE_MINUTES],
        as_read={id: before},
    )
    yield from store.write(change, {MODEL_RECORD: settled.version} if settled else {})
    return (yield from read_fact(id))


def _apply_changes(before: Fact, said: UpdateOptions, settings: Settings) -> Fact:
    checked = validation.parse_fact(
        {label: getattr(before, label) for label in validation.FACT_FIELDS} | dict(said), settings
    )
    return replace(before, **{label: getattr(checked, label) for label in UpdateOptions.__annotations__})


def _refuse_duplicate_text(before: Fact, after: Fact) -> Steps[None]:
    known = yield from store.find_ids_by_hash([after.hash])
    twin = known.get(after.hash, before.id)
    if twin != before.id:
        raise InvalidInput(
            f"The fact {twin} says this already.", way_out=f"Forget {before.id}, or update {twin} with what it lacks."
        )


def _embed_new_text(before: Fact, new: FactWrite) -> Steps[tuple[VersionedModel | None, dict[str, bytes]]]:
    """A vector of the new text, where there is an embedder and the text is another."""
    if new.fact.reading == before.reading:
        return None, {}
    settled = yield from ensure_stored_model()
    made: Vectors | None = (yield EmbedTexts([new.fact.reading], "fact")) if settled else None
    if made is None:
        return None, {}
    return settled, {new.fact.id: made.astype(np.float16)[0].tobytes()}


def _find_links(
    new: FactWrite, vectors: Mapping[str, bytes], settled: VersionedModel | None, now: datetime, settings: Settings
) -> Steps[AutoLinks]:
    if settled is None or not is_linked_at_once(1, settings):
        return AutoLinks()
    return (yield from find_auto_links([new.fact], vectors, settled.model, now, settings))


def _find_outdated_links(before: Fact, new: FactWrite) -> Steps[tuple[Edge, ...]]:
    """Links that the old text had, if it is another now."""
    if new.fact.reading == before.reading:
        return ()
    drawn = yield from store.list_edges(EdgeFilter(ids=frozenset([before.id])), MAX_EDGES)
    return tuple(edge for edge in drawn if edge.origin in TEXT_DERIVED_ORIGINS or edge.origin.startswith("cue: "))


IdsInput = str | Iterable[str]


def pin(ids: IdsInput, pinned: bool) -> Steps[list[Fact]]:
    """Let facts never fade nor be archived by themselves, or let them again. Returns those that changed."""
    found = yield from read_facts(ids)
    marks = {fact.id: pinned for fact in found if fact.pinned is not pinned}
    now: datetime = yield ReadClock()
    return (yield from _write_marks(Change(now=now, pins=marks), marks))


def archive(ids: IdsInput, archived: bool) -> Steps[list[Fact]]:
    """Put facts out of recall without losing them, or back. Returns those that changed."""
    found = yield from read_facts(ids)
    marks = {fact.id: archived for fact in found if fact.archived is not archived}
    now: datetime = yield ReadClock()
    return (yield from _write_marks(Change(now=now, archive=marks), marks))


def _write_marks(change: Change, marks: Mapping[str, bool]) -> Steps[list[Fact]]:
    if not marks:
        return []
    yield from store.write(change)
    return (yield from read_facts(list(marks)))
