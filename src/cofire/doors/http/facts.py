"""Routes about facts: remember, list, look at, change, pin, archive, forget and undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import JSONResponse

from cofire import AsyncMemory, Fact, xray
from cofire.doors.cli.listing import facts_json
from cofire.doors.http import answers, given
from cofire.doors.http.refusals import SHAPES
from cofire.doors.http.routing import WITHOUT_BODY, TheMemory, answer, router
from cofire.doors.http.shapes import gone_json, texts_of, whole_fact_json
from cofire.doors.http.words import IdInPath
from cofire.doors.shapes import restored_json
from cofire.errors import InvalidInput

routes = router("facts")

# A search for a picker is no question to memory: it neither keeps silent nor is it remembered as a recall.
PICKING = {"abstention.rule": "off", "recall_log.enabled": False, "shadow.enabled": False, "shadow.assist": False}
SEARCHED = 5_000


@routes.post("/facts", response_model=answers.Remembered)
async def remember(said: given.Facts, memory: TheMemory) -> JSONResponse:
    """Remember one fact or several. A fact that is known already keeps its id."""
    if isinstance(said, given.NewFact):
        return answer({"ids": [await memory.remember(said.keywords())], "skipped": []})
    if said.errors == "skip":
        return answer(await _remember_valid(said.facts, memory))
    return answer({"ids": await memory.remember([fact.keywords() for fact in said.facts]), "skipped": []})


async def _remember_valid(items: Sequence[given.NewFact | given.RefusedFact], memory: AsyncMemory) -> dict[str, Any]:
    """Store the items that are facts, and report the others: those of a wrong shape, and those that memory refuses."""
    facts = {index: item.keywords() for index, item in enumerate(items) if isinstance(item, given.NewFact)}
    indexes = list(facts)
    result = await memory.remember(list(facts.values()), errors="skip")
    ids = dict(zip(indexes, result, strict=True))
    skipped = [{**asdict(item), "index": indexes[item.index]} for item in result.skipped]
    skipped += [
        {"index": index, "problem": item.problem, "way_out": SHAPES}
        for index, item in enumerate(items)
        if isinstance(item, given.RefusedFact)
    ]
    return {"ids": [ids.get(index) for index in range(len(items))], "skipped": sorted(skipped, key=itemgetter("index"))}


@routes.get("/facts", response_model=answers.FactsPage)
async def list_facts(asked: Annotated[given.FactsAsked, Query()], memory: TheMemory) -> JSONResponse:
    """List facts, newest first, a page at a time; or with `text` find those that say it, best first."""
    if asked.text is not None:
        _refuse_besides_text(asked)
        return answer({"facts": facts_json(await _saying(asked.text, asked, memory)), "next": None})
    found = await memory.facts(
        limit=asked.limit,
        before=asked.before,
        pinned=asked.pinned,
        archived=asked.archived,
        superseded=asked.superseded,
        **asked.filters,
    )
    return answer({"facts": facts_json(found), "next": found[-1].id if len(found) == asked.limit else None})


@routes.get("/facts/{id}", response_model=answers.Portrait)
async def show_fact(id: IdInPath, asked: Annotated[given.LinksAsked, Query()], memory: TheMemory) -> JSONResponse:
    """A fact with its links, descriptions, importance, use and history."""
    portrait = await memory.portrait(id, limit=asked.limit)
    texts = await texts_of(memory, [end for link in portrait.links for end in (link.source, link.target)])
    return answer(whole_fact_json(portrait, texts))


@routes.patch("/facts/{id}", response_model=answers.OneFact)
async def update(id: IdInPath, said: given.Changes, memory: TheMemory) -> JSONResponse:
    """Change a fact. Its id stays, and what it said before becomes its history."""
    changed = await memory.update(id, **said.model_dump(exclude_unset=True))
    return answer({"fact": xray.fact_json(changed)})


@routes.post("/facts/{id}/pin", response_model=answers.Facts, dependencies=WITHOUT_BODY)
async def pin(id: IdInPath, memory: TheMemory) -> JSONResponse:
    """Let a fact never fade. Answers with the fact, or nothing if it was pinned already."""
    return answer(_facts(await memory.pin(id)))


@routes.post("/facts/{id}/unpin", response_model=answers.Facts, dependencies=WITHOUT_BODY)
async def unpin(id: IdInPath, memory: TheMemory) -> JSONResponse:
    """Let a fact fade again."""
    return answer(_facts(await memory.unpin(id)))


@routes.post("/facts/{id}/archive", response_model=answers.Facts, dependencies=WITHOUT_BODY)
async def archive(id: IdInPath, memory: TheMemory) -> JSONResponse:
    """Put a fact out of recall without losing it."""
    return answer(_facts(await memory.archive(id)))


@routes.post("/facts/{id}/restore", response_model=answers.Facts, dependencies=WITHOUT_BODY)
async def restore(id: IdInPath, memory: TheMemory) -> JSONResponse:
    """Bring an archived fact back into recall."""
    return answer(_facts(await memory.restore(id)))


@routes.post("/forget", response_model=answers.Forgotten)
async def forget(said: given.Doomed, memory: TheMemory) -> JSONResponse:
    """Forget facts, by id or by filter; with `dry_run` only tell what would go. The receipt brings them back."""
    if isinstance(said, given.ForgetIds):
        return answer(gone_json(await memory.forget(said.ids, dry_run=said.dry_run)))
    return answer(gone_json(await memory.forget(dry_run=said.dry_run, **said.filter.keywords())))


@routes.post("/undo", response_model=answers.Restored)
async def undo(said: given.Undo, memory: TheMemory) -> JSONResponse:
    """Bring back what was forgotten, by the id of its receipt."""
    return answer(restored_json(await memory.undo(said.receipt)))


def _refuse_besides_text(asked: given.FactsAsked) -> None:
    if asked.pinned or asked.archived or asked.superseded:
        raise InvalidInput(
            "text cannot be combined with pinned, archived or superseded.",
            way_out="Leave text out, or the other.",
        )
    if asked.before is not None:
        raise InvalidInput(
            "With text, the best facts are found, and there is no next page.",
            way_out="Leave text out, or before; a higher limit finds more.",
        )


async def _saying(text: str, asked: given.FactsAsked, memory: AsyncMemory) -> list[Fact]:
    """The facts that words find; where there is none, as when a word is half typed, those that hold the letters."""
    scopes = asked.scope or list((await memory.stats()).size.scopes)
    if not scopes:
        return []
    filters: dict[str, Any] = {**asked.filters, "scope": scopes}
    found = await memory.recall(text, k=asked.limit, mode="minimal", settings=PICKING, **filters)
    if found.hits:
        return [hit.fact for hit in found.hits]
    newest = await memory.facts(limit=SEARCHED, **filters)
    return [fact for fact in newest if _holds(fact, text)][: asked.limit]


def _holds(fact: Fact, text: str) -> bool:
    wanted = text.strip().casefold()
    return fact.id.casefold() == wanted or wanted in fact.reading.casefold()


def _facts(changed: list[Fact]) -> dict[str, Any]:
    return {"facts": facts_json(changed)}
