"""Update: a fact says something else from now on. Its id stays, what it said before becomes its history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypedDict

import numpy as np

from cofire.asks import Asking, Embed, Now, Recognise, Write, again_on_conflict
from cofire.embedders.base import Vectors
from cofire.errors import InvalidInput
from cofire.graph_asks import Edges
from cofire.graph_settings import IDLE_MINUTES
from cofire.model import Change, Edge, Fact, NewFact, Past
from cofire.receipt_asks import HistoryOf
from cofire.settings import Settings
from cofire.stores.base import MODEL_RECORD, EdgeFilter
from cofire.verbs import accepting
from cofire.verbs.autolink import Links, auto_links, links_now
from cofire.verbs.listing import fact_by_id
from cofire.verbs.model_of_store import Settled, settle_model
from cofire.verbs.reading_facts import understood
from cofire.verbs.remember import PATIENT, When

MANY = 1_000_000
# Edges that memory drew from what a fact says; those of a session, of use and of people stay.
DRAWN_FROM_TEXT = frozenset({"auto_link", "similarity", "neighbours", "dream"})


class Said(TypedDict, total=False):
    """What may be changed in a fact. What is left out stays; None takes a value away."""

    text: Annotated[str, "The new text."]
    tags: Annotated[str | Iterable[str] | None, "The new tags; they replace the old ones."]
    category: Annotated[str | None, "The new category."]
    subject: Annotated[str | None, "The new subject."]
    at: Annotated[When, "When it happened."]
    metadata: Annotated[Mapping[str, Any] | None, "The new metadata; they replace the old ones."]
    valid_from: Annotated[When, "When it begins to be true."]
    valid_until: Annotated[When, "When it stops being true."]
    expires: Annotated[When, "When it is to be left out of every recall; a past time leaves it out at once."]


def update(id: str, said: Said, settings: Settings) -> Asking[Fact]:
    """Change a fact, and let its words, names, vector and links follow. What changes nothing leaves no history."""
    return (yield from again_on_conflict(partial(_update, id, said, settings), tries=PATIENT))


def history(id: str) -> Asking[list[Past]]:
    """What a fact said before it was changed, the oldest first."""
    yield from fact_by_id(id)
    found: list[Past] = yield HistoryOf(id)
    return found


def _update(id: str, said: Said, settings: Settings) -> Asking[Fact]:
    before = yield from fact_by_id(id)
    after = _changed(before, said, settings)
    if after == before:
        return before
    yield from _refuse_twin(before, after)
    now: datetime = yield Now()
    (new,) = yield from understood([after], {}, settings)
    settled, vectors = yield from _vectors(before, new)
    new = replace(new, vector=vectors.get(id))
    links = yield from _links(new, vectors, settled, now, settings)
    change = Change(
        now=now,
        revisions=(new,),
        ended=(yield from _outdated(before, new)),
        edges=links.edges,
        descriptions=links.descriptions,
        idle_minutes=settings[IDLE_MINUTES],
        as_read={id: before},
    )
    yield Write(change, {MODEL_RECORD: settled.version} if settled else {})
    return (yield from fact_by_id(id))


def _changed(before: Fact, said: Said, settings: Settings) -> Fact:
    checked = accepting.fact({label: getattr(before, label) for label in accepting.GIVEN} | dict(said), settings)
    return replace(before, **{label: getattr(checked, label) for label in Said.__annotations__})


def _refuse_twin(before: Fact, after: Fact) -> Asking[None]:
    known: Mapping[bytes, str] = yield Recognise([after.hash])
    twin = known.get(after.hash, before.id)
    if twin != before.id:
        raise InvalidInput(
            f"The fact {twin} says this already.", way_out=f"Forget {before.id}, or update {twin} with what it lacks."
        )


def _vectors(before: Fact, new: NewFact) -> Asking[tuple[Settled | None, dict[str, bytes]]]:
    """A vector of the new text, where there is an embedder and the text is another."""
    if new.fact.reading == before.reading:
        return None, {}
    settled = yield from settle_model()
    made: Vectors | None = (yield Embed([new.fact.reading], "fact")) if settled else None
    if made is None:
        return None, {}
    return settled, {new.fact.id: made.astype(np.float16)[0].tobytes()}


def _links(
    new: NewFact, vectors: Mapping[str, bytes], settled: Settled | None, now: datetime, settings: Settings
) -> Asking[Links]:
    if settled is None or not links_now(1, settings):
        return Links()
    return (yield from auto_links([new.fact], vectors, settled.model, now, settings))


def _outdated(before: Fact, new: NewFact) -> Asking[tuple[Edge, ...]]:
    """Links that the old text had, if it is another now."""
    if new.fact.reading == before.reading:
        return ()
    drawn: list[Edge] = yield Edges(EdgeFilter(ids=frozenset([before.id])), MANY)
    return tuple(edge for edge in drawn if edge.origin in DRAWN_FROM_TEXT or edge.origin.startswith("cue: "))
