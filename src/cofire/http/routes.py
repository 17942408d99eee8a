"""The routes of the API: facts, recall, graph and memory as a whole. A route has the name of its verb."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

import cofire
from cofire import AsyncMemory, Fact, Settings, explain
from cofire.activation_paths import ExploreResult, SeedExploration, seed_json
from cofire.algorithms.energy import sum_energies
from cofire.errors import CofireError, InvalidInput, InvalidSetting, NotFound
from cofire.guide import VERB_GUIDES
from cofire.http import schemas
from cofire.http.errors import OPENAPI_HINT, make_refusal
from cofire.http.schemas import (
    JSON_TYPES,
    RECALL_PARTS,
    WHY_PARTS,
    IncludedPart,
    PathId,
    is_of_setting_type,
    list_settable_settings,
)
from cofire.interfaces.json_shapes import (
    community_json,
    exploration_json,
    facts_json,
    forget_json,
    portrait_json,
    review_pair_json,
    setting_json,
    stats_result_json,
    undo_json,
)
from cofire.interfaces.reports import WorkProgress
from cofire.model import Edge
from cofire.results import CandidateRanking, Picture, Recollection, ShadowReport
from cofire.settings import table
from cofire.settings.knobs import Knob
from cofire.settings.table import EMBEDDER_NAME, PRESET, find_knob
from cofire.stores.metadata_filter import parse_expressions
from cofire.verbs.curate import CurateResult
from cofire.verbs.dream import DreamResult
from cofire.verbs.feedback import FeedbackResult
from cofire.verbs.forget import UndoResult
from cofire.verbs.keyword_arguments import find_near_miss

API_BASE = "/api/v1"
EVENT_STREAM_TYPE = "text/event-stream"


async def _get_memory(request: Request) -> AsyncMemory:
    memory: AsyncMemory = request.app.state.memory
    return memory


async def _refuse_unknown_query(request: Request) -> None:
    """Refuse parameters in the address that a route does not take. FactsQuery checks its own."""
    names = frozenset(field.alias for field in request.scope["route"].dependant.query_params)
    if "query" in names:
        return
    unknown = [name for name in request.query_params if name not in names]
    if unknown:
        raise RequestValidationError([_make_unknown_error(name, names) for name in unknown])


def _make_unknown_error(name: str, names: frozenset[str]) -> dict[str, Any]:
    near = find_near_miss(name, names)
    return {"type": "extra_forbidden", "loc": ("query", name), "msg": "", "ctx": {"near": near} if near else {}}


async def _refuse_body(request: Request) -> None:
    """Refuse a body where there are no fields. An empty object counts as none."""
    if b"".join((await request.body()).split()) not in (b"", b"{}"):
        error = {"type": "no_body", "loc": ("body",), "msg": "there are no fields to give here"}
        raise RequestValidationError([error])


def _make_router(tag: str) -> APIRouter:
    return APIRouter(prefix=API_BASE, tags=[tag], dependencies=[Depends(_refuse_unknown_query)])


NO_BODY = [Depends(_refuse_body)]
MemoryDependency = Annotated[AsyncMemory, Depends(_get_memory)]
# In an address a list is a repeated name.
QueryNames = Annotated[Sequence[schemas.Name], Query(max_length=schemas.MAX_NAMES)]
QueryIds = Annotated[Sequence[schemas.Id], Query(max_length=schemas.MAX_NAMES)]
QueryConditions = Annotated[Sequence[schemas.Expression], Query(max_length=schemas.MAX_NAMES)]
fact_routes = _make_router("facts")
recall_routes = _make_router("recall")
graph_routes = _make_router("graph")
memory_routes = _make_router("memory")
open_routes = _make_router("memory")


# Server-sent events.

STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {EVENT_STREAM_TYPE: {"schema": {"type": "string"}}}}
}


def wants_events(request: Request) -> bool:
    return EVENT_STREAM_TYPE in request.headers.get("accept", "")


def make_event(name: str, value: Any) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(value, ensure_ascii=False), event=name)


def make_event_response(request: Request, events: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
    """A stream of events. An error is its last event, since the status is sent before it."""

    async def end_with_error() -> AsyncIterator[ServerSentEvent]:
        try:
            async for event in events:
                yield event
        except CofireError as error:
            yield make_event("error", make_refusal(error).problem_json(request.scope["path"]))

    return EventSourceResponse(end_with_error())


async def stream_progress(
    work: Callable[[Callable[[Any], None]], Awaitable[Any]],
) -> AsyncIterator[ServerSentEvent]:
    """Report the progress of some work. The work stops when the client disconnects; the next call goes on from there."""
    steps: asyncio.Queue[WorkProgress | None] = asyncio.Queue()
    working = asyncio.ensure_future(work(steps.put_nowait))
    working.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (step := await steps.get()) is not None:
            yield make_event("progress", {"done": step.done, "total": step.total, "stage": step.doing})
        yield make_event("done", {"report": asdict(await working)})
    finally:
        working.cancel()


# Facts.

# A search for a picker is no recall: it neither abstains nor is it logged.
PICKER_SETTINGS = {
    "abstention.rule": "off",
    "recall_log.enabled": False,
    "shadow.enabled": False,
    "shadow.assist": False,
}
MAX_SCANNED_FACTS = 5_000


@fact_routes.post("/facts", response_model=schemas.RememberResponse)
async def remember(body: schemas.RememberBody, memory: MemoryDependency) -> JSONResponse:
    """Store one fact or several. A fact that is stored already keeps its id."""
    if isinstance(body, schemas.FactBody):
        return JSONResponse({"ids": [await memory.remember(body.keywords())], "skipped": []})
    if body.errors == "skip":
        return JSONResponse(await _remember_valid_items(body.facts, memory))
    ids = await memory.remember([fact.keywords() for fact in body.facts])
    return JSONResponse({"ids": ids, "skipped": []})


async def _remember_valid_items(
    items: Sequence[schemas.FactBody | schemas.RefusedFact], memory: AsyncMemory
) -> dict[str, Any]:
    """Store the valid items, and report those of a wrong shape and those that memory refuses."""
    facts = {index: item.keywords() for index, item in enumerate(items) if isinstance(item, schemas.FactBody)}
    indexes = list(facts)
    result = await memory.remember(list(facts.values()), errors="skip")
    ids = dict(zip(indexes, result, strict=True))
    skipped = [{**asdict(item), "index": indexes[item.index]} for item in result.skipped]
    skipped += [
        {"index": index, "problem": item.problem, "way_out": OPENAPI_HINT}
        for index, item in enumerate(items)
        if isinstance(item, schemas.RefusedFact)
    ]
    return {
        "ids": [ids.get(index) for index in range(len(items))],
        "skipped": sorted(skipped, key=itemgetter("index")),
    }


@fact_routes.get("/facts", response_model=schemas.FactsPageResponse)
async def facts(query: Annotated[schemas.FactsQuery, Query()], memory: MemoryDependency) -> JSONResponse:
    """List facts, newest first, a page at a time; with `text`, find facts by their words, best first."""
    if query.text is not None:
        _refuse_combined_with_text(query)
        matches = await _find_facts_by_text(query.text, query, memory)
        return JSONResponse({"facts": facts_json(matches), "next": None})
    page = await memory.facts(
        limit=query.limit,
        before=query.before,
        pinned=query.pinned,
        archived=query.archived,
        superseded=query.superseded,
        **query.filters,
    )
    next_id = page[-1].id if len(page) == query.limit else None
    return JSONResponse({"facts": facts_json(page), "next": next_id})


def _refuse_combined_with_text(query: schemas.FactsQuery) -> None:
    if query.pinned or query.archived or query.superseded:
        raise InvalidInput(
            "text cannot be combined with pinned, archived or superseded.",
            way_out="Leave text out, or the other.",
        )
    if query.before is not None:
        raise InvalidInput(
            "With text, the best facts are found, and there is no next page.",
            way_out="Leave text out, or before; a higher limit finds more.",
        )


async def _find_facts_by_text(text: str, query: schemas.FactsQuery, memory: AsyncMemory) -> list[Fact]:
    """Facts that match by words; where none does, as with half a word, facts that contain the letters."""
    scopes = query.scope or list((await memory.stats()).scopes)
    if not scopes:
        return []
    filters: dict[str, Any] = {**query.filters, "scope": scopes}
    recollection = await memory.recall(text, k=query.limit, mode="minimal", settings=PICKER_SETTINGS, **filters)
    if recollection.hits:
        return [hit.fact for hit in recollection.hits]
    letters = text.strip().casefold()
    newest = await memory.facts(limit=MAX_SCANNED_FACTS, **filters)
    matches = [fact for fact in newest if fact.id.casefold() == letters or letters in fact.reading.casefold()]
    return matches[: query.limit]


@fact_routes.get("/facts/{id}", response_model=schemas.PortraitResponse)
async def portrait(id: PathId, memory: MemoryDependency, limit: schemas.ResultLimit = 100) -> JSONResponse:
    """A fact with its links, descriptions, importance, use and history."""
    result = await memory.portrait(id, limit=limit)
    texts = await fetch_texts(memory, [end for link in result.links for end in (link.source, link.target)])
    fact = explain.fact_json(result.fact)
    others = {name: value for name, value in portrait_json(result, texts).items() if name not in fact}
    return JSONResponse({"fact": fact, **others})


async def fetch_texts(memory: AsyncMemory, ids: Iterable[str]) -> dict[str, str]:
    """The texts of facts by id. The text of a fact that was forgotten in the meantime is empty."""
    wanted = sorted(set(ids))
    try:
        found = await memory.facts(wanted)
    except NotFound:
        found = [fact for id in wanted for fact in await _fetch_if_stored(memory, id)]
    return dict.fromkeys(wanted, "") | {fact.id: fact.text for fact in found}


async def _fetch_if_stored(memory: AsyncMemory, id: str) -> list[Fact]:
    try:
        return await memory.facts(id)
    except NotFound:
        return []


@fact_routes.patch("/facts/{id}", response_model=schemas.FactResponse)
async def update(id: PathId, body: schemas.UpdateBody, memory: MemoryDependency) -> JSONResponse:
    """Change a fact. It keeps its id; the version before is kept in its history."""
    fact = await memory.update(id, **body.model_dump(exclude_unset=True))
    return JSONResponse({"fact": explain.fact_json(fact)})


@fact_routes.post("/facts/{id}/pin", response_model=schemas.FactsResponse, dependencies=NO_BODY)
async def pin(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Exempt a fact from decay. The response is empty if it was pinned already."""
    return JSONResponse({"facts": facts_json(await memory.pin(id))})


@fact_routes.post("/facts/{id}/unpin", response_model=schemas.FactsResponse, dependencies=NO_BODY)
async def unpin(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Let a fact decay again. The response is empty if it was not pinned."""
    return JSONResponse({"facts": facts_json(await memory.unpin(id))})


@fact_routes.post("/facts/{id}/archive", response_model=schemas.FactsResponse, dependencies=NO_BODY)
async def archive(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Exclude a fact from recall without removing it. The response is empty if it was archived already."""
    return JSONResponse({"facts": facts_json(await memory.archive(id))})


@fact_routes.post("/facts/{id}/restore", response_model=schemas.FactsResponse, dependencies=NO_BODY)
async def restore(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Return an archived fact to recall. The response is empty if it was not archived."""
    return JSONResponse({"facts": facts_json(await memory.restore(id))})


@fact_routes.post("/forget", response_model=schemas.ForgetResponse)
async def forget(body: schemas.ForgetBody, memory: MemoryDependency) -> JSONResponse:
    """Remove facts by id or by filter. The receipt restores them; `dry_run` only reports what would be removed."""
    if isinstance(body, schemas.ForgetIdsBody):
        result = await memory.forget(body.ids, dry_run=body.dry_run)
    else:
        result = await memory.forget(dry_run=body.dry_run, **body.filter.keywords())
    response = forget_json(result, dry_run=result.dry_run)
    receipt = response["receipt"]
    # The path of the receipt's file stays on the server.
    response["receipt"] = {"id": receipt["id"], "expires": receipt["expires"]} if receipt else None
    return JSONResponse(response)


@fact_routes.post("/undo", response_model=UndoResult)
async def undo(body: schemas.UndoBody, memory: MemoryDependency) -> JSONResponse:
    """Restore forgotten facts by the id of their receipt."""
    return JSONResponse(undo_json(await memory.undo(body.receipt)))


# Recall.


@recall_routes.post("/recall", response_model=schemas.RecallResponse)
async def recall(body: schemas.RecallBody, memory: MemoryDependency) -> JSONResponse:
    """Ask memory a question: the facts that answer it, best first. `include` adds how they were found."""
    recollection = await memory.recall(body.query, **body.keywords("query", "include"))
    return JSONResponse(recall_json(recollection, body.include))


def recall_json(recollection: Recollection, include: Sequence[schemas.RecallInclude]) -> dict[str, Any]:
    """A recall as JSON: the hits by id, text and score, and what `include` names."""
    whole = recollection.to_dict()
    if "ranking" in include:
        whole["ranking"] = _ranking_json(recollection.ranking)
    if "xray" in include:
        whole["xray"] = recollection.xray()
    if "prompt" in include:
        whole["prompt"] = recollection.text()
    parts = [RECALL_PARTS[name] for name in include]
    hit_members = {*schemas.HIT_MEMBERS, *(member for part in parts for member in part.hit)}
    for hits in ("hits", "guesses"):
        whole[hits] = [{name: hit[name] for name in hit if name in hit_members} for hit in whole[hits]]
    return _select_members(whole, schemas.RECALL_MEMBERS, parts)


def _ranking_json(ranking: CandidateRanking | None) -> list[dict[str, Any]]:
    if ranking is None:
        return []
    return [{"id": ranking.ids[row], "score": float(ranking.total[row])} for row in ranking.order]


def _select_members(whole: Mapping[str, Any], always: Iterable[str], parts: Iterable[IncludedPart]) -> dict[str, Any]:
    members = {*always, *(member for part in parts for member in part.response)}
    return {name: value for name, value in whole.items() if name in members}


@recall_routes.post("/why", response_model=schemas.WhyResponse)
async def why(body: schemas.WhyBody, memory: MemoryDependency) -> JSONResponse:
    """Why a fact comes back for a question, or the stage where it is lost and what would bring it back."""
    name = table.GRAPH_RECALL_EXPLAIN_DOORS.name
    if not (await memory.settings())[table.GRAPH_RECALL_EXPLAIN_DOORS]:
        raise InvalidInput(
            f"Explanations are switched off by {name}.", way_out=f"Switch them on with PUT {API_BASE}/settings/{name}."
        )
    result = await memory.why(body.query, body.id, **body.keywords("query", "id", "include"))
    parts = [WHY_PARTS[part] for part in body.include]
    return JSONResponse(_select_members(result.to_dict(), schemas.WHY_MEMBERS, parts))


@recall_routes.post("/feedback", response_model=FeedbackResult)
async def feedback(body: schemas.FeedbackBody, memory: MemoryDependency) -> JSONResponse:
    """Report which facts of a recall helped and which hurt. The edges on the paths to them change."""
    return JSONResponse(asdict(await memory.feedback(body.id, helped=body.helped, hurt=body.hurt)))


@recall_routes.post("/explore", response_model=schemas.ExploreResponse, responses=STREAM_RESPONSES)
async def explore(body: schemas.ExploreBody, request: Request, memory: MemoryDependency) -> Response:
    """Follow energy along edges from some facts. As events: `seed` for each explored seed, then `done` with the whole."""
    keywords, include = body.keywords("include"), body.include
    if wants_events(request):
        return make_event_response(request, _stream_seeds(keywords, include, memory))
    return JSONResponse(await _make_exploration_json(await memory.explore(**keywords), include, memory))


async def _stream_seeds(
    keywords: dict[str, Any], include: Sequence[schemas.ExploreInclude], memory: AsyncMemory
) -> AsyncIterator[ServerSentEvent]:
    """Each seed once it is explored, then the whole. Without any seed, the whole says why."""
    seeds: list[SeedExploration] = []
    async for seed in memory.explore(**keywords):
        seeds.append(seed)
        yield make_event("seed", _select_seed_members(seed_json(seed), include))
    energies = sum_energies(seed.energies for seed in seeds)
    whole = ExploreResult(tuple(seeds), energies) if seeds else await memory.explore(**keywords)
    yield make_event("done", await _make_exploration_json(whole, include, memory))


async def _make_exploration_json(
    result: ExploreResult, include: Sequence[schemas.ExploreInclude], memory: AsyncMemory
) -> dict[str, Any]:
    whole = exploration_json(result, await fetch_texts(memory, result.ids))
    return {**whole, "seeds": [_select_seed_members(seed, include) for seed in whole["seeds"]]}


def _select_seed_members(seed: dict[str, Any], include: Sequence[schemas.ExploreInclude]) -> dict[str, Any]:
    members = {*schemas.SEED_MEMBERS, *include}
    return {name: value for name, value in seed.items() if name in members}


# The graph.

DEFAULT_DREAM_BODY, DEFAULT_CURATE_BODY = schemas.DreamBody(), schemas.CurateBody()


@graph_routes.get("/edges", response_model=schemas.EdgesResponse)
async def edges(
    memory: MemoryDependency,
    *,
    ids: QueryIds = (),
    kind: QueryNames = (),
    scope: QueryNames = (),
    origin: schemas.Name | None = None,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 1_000,
) -> JSONResponse:
    """List stored edges, strongest first."""
    listed = await memory.edges(scope=scope or None, ids=ids or None, kind=kind, origin=origin, limit=limit)
    return JSONResponse({"edges": [explain.edge_json(edge) for edge in listed]})


@graph_routes.post("/edges", response_model=Edge)
async def connect(body: schemas.ConnectBody, memory: MemoryDependency) -> JSONResponse:
    """Make an edge between two facts. `mode` says what to do if it exists: reinforce, update, skip or error."""
    return JSONResponse(explain.edge_json(await memory.connect(**body.keywords())))


@graph_routes.get("/graph", response_model=schemas.GraphResponse)
async def graph(
    memory: MemoryDependency,
    *,
    scope: QueryNames = (),
    kinds: QueryNames = (),
    where: QueryConditions = (),
    community: schemas.CommunityNumber | None = None,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000,
) -> Response:
    """All facts, or those of a community, and the strongest edges between them; above `limit` facts, the communities."""
    conditions = parse_expressions(where) or None
    return await _make_picture_response(
        await memory.graph(kind=kinds, scope=scope or None, where=conditions, community=community, limit=limit)
    )


@graph_routes.get("/graph/around", response_model=schemas.GraphResponse)
async def graph_around(
    memory: MemoryDependency,
    *,
    ids: Annotated[list[schemas.CommaSeparatedIds], Query(min_length=1)],
    depth: schemas.Depth = 1,
    kinds: QueryNames = (),
    where: QueryConditions = (),
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> Response:
    """Some facts and their neighbours, up to `depth` edges away."""
    seeds = [id for several in ids for id in several.split(",")]
    conditions = parse_expressions(where) or None
    return await _make_picture_response(
        await memory.graph(seeds, kind=kinds, where=conditions, depth=depth, limit=limit)
    )


async def _make_picture_response(picture: Picture) -> Response:
    """Ten thousand facts are megabytes of JSON: write them in a thread, so that other requests go on."""
    return await run_in_threadpool(lambda: JSONResponse(picture.to_dict()))


@graph_routes.get("/communities", response_model=schemas.CommunitiesResponse)
async def communities(
    memory: MemoryDependency, scope: QueryNames = (), limit: schemas.ResultLimit = 100
) -> JSONResponse:
    """List the communities that the last dream found, largest first."""
    listed = await memory.communities(scope=scope or None, limit=limit)
    return JSONResponse({"communities": [community_json(community) for community in listed]})


@graph_routes.post("/dream", response_model=DreamResult, responses=STREAM_RESPONSES)
async def dream(request: Request, memory: MemoryDependency, body: schemas.DreamBody = DEFAULT_DREAM_BODY) -> Response:
    """Link the facts that wait for it. As events: `progress`, then `done` with the report."""
    if wants_events(request):
        progress = stream_progress(lambda listen: memory.dream(scope=body.scope, progress=listen))
        return make_event_response(request, progress)
    return JSONResponse(asdict(await memory.dream(scope=body.scope)))


@graph_routes.post("/curate", response_model=CurateResult, responses=STREAM_RESPONSES)
async def curate(
    request: Request, memory: MemoryDependency, body: schemas.CurateBody = DEFAULT_CURATE_BODY
) -> Response:
    """Decay unused edges, archive facts by the settings, rank and group all facts, and check the store. As events: `progress`,
    then `done` with the report."""
    if wants_events(request):
        progress = stream_progress(lambda listen: memory.curate(dry_run=body.dry_run, progress=listen))
        return make_event_response(request, progress)
    return JSONResponse(asdict(await memory.curate(dry_run=body.dry_run)))


@graph_routes.post("/supersede", response_model=Edge)
async def supersede(body: schemas.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """Mark an older fact as replaced by a newer one."""
    return JSONResponse(explain.edge_json(await memory.supersede(body.old, body.new)))


@graph_routes.post("/unsupersede", response_model=schemas.DecisionResponse)
async def unsupersede(body: schemas.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """Undo a supersede: the older fact is valid as long as it was before."""
    await memory.unsupersede(body.old, body.new)
    return JSONResponse({"old": body.old, "new": body.new, "state": "undone"})


@graph_routes.get("/review", response_model=schemas.ReviewsResponse)
async def review(memory: MemoryDependency, everything: bool = False) -> JSONResponse:
    """List pairs of facts that seem to contradict each other and wait for a decision."""
    listed = await memory.review(everything=everything)
    return JSONResponse({"reviews": [review_pair_json(proposal) for proposal in listed]})


@graph_routes.post("/review/accept", response_model=schemas.DecisionResponse)
async def accept(body: schemas.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """Accept a pair: the newer fact supersedes the older one."""
    await memory.accept(body.old, body.new)
    return JSONResponse({"old": body.old, "new": body.new, "state": "accepted"})


@graph_routes.post("/review/dismiss", response_model=schemas.DecisionResponse)
async def dismiss(body: schemas.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """Dismiss a pair: both facts stay valid, and the pair is not proposed again."""
    await memory.dismiss(body.old, body.new)
    return JSONResponse({"old": body.old, "new": body.new, "state": "dismissed"})


# Memory as a whole.

# For OpenAPI alone: another name is no setting and no verb, which is a 404.
SettingName = Annotated[str, Path(json_schema_extra={"maxLength": 100, "pattern": r"^[A-Za-z0-9_.]+$"})]
VerbName = Annotated[str, Path(json_schema_extra={"maxLength": 100, "pattern": r"^[a-z_]+$"})]


@open_routes.get("/health", response_model=schemas.HealthResponse)
async def health() -> JSONResponse:
    """Whether the server is running. Needs no token."""
    return JSONResponse({"ok": True, "version": cofire.__version__})


@memory_routes.get("/stats", response_model=schemas.StatsResponse)
async def stats(memory: MemoryDependency) -> JSONResponse:
    """What the store holds, and how it is searched."""
    return JSONResponse(stats_result_json(await memory.stats()))


@memory_routes.get("/scopes", response_model=schemas.ScopesResponse)
async def scopes(memory: MemoryDependency) -> JSONResponse:
    """The scopes, and the number of facts in each."""
    return JSONResponse({"scopes": dict((await memory.stats()).scopes)})


@memory_routes.get("/shadow", response_model=ShadowReport)
async def shadow_report(memory: MemoryDependency, kind: Literal["recall", "assist"] | None = None) -> JSONResponse:
    """What the shadow recalls in the log show."""
    return JSONResponse((await memory.shadow_report(kind)).to_dict())


@memory_routes.get("/guide", response_model=schemas.GuideResponse)
async def guide() -> JSONResponse:
    """A short page on each verb, for agents."""
    return JSONResponse({"pages": [asdict(page) for page in VERB_GUIDES.values()]})


@memory_routes.get("/guide/{verb}", response_model=schemas.GuideResponse)
async def guide_page(verb: VerbName) -> JSONResponse:
    """The page on one verb."""
    if verb not in VERB_GUIDES:
        raise NotFound(f"There is no page on {verb}.", way_out=f"There is one on {', '.join(VERB_GUIDES)}.")
    return JSONResponse({"pages": [asdict(VERB_GUIDES[verb])]})


@memory_routes.get("/settings", response_model=schemas.SettingsResponse)
async def settings(memory: MemoryDependency) -> JSONResponse:
    """Every setting: its value, where that comes from, and what it may be."""
    values = await memory.settings()
    return JSONResponse({"settings": [_make_setting_json(knob, values) for knob, _ in values]})


def _make_setting_json(knob: Knob[Any], values: Settings) -> dict[str, Any]:
    return {
        **setting_json(knob, values),
        "kind": JSON_TYPES[type(knob.default)],
        "choices": list(knob.choices),
        "low": knob.low,
        "high": knob.high,
        "settable": knob in list_settable_settings() and not knob.needed_to_open,
    }


@memory_routes.put("/settings/{name}", response_model=schemas.SettingResponse)
async def configure(name: SettingName, body: schemas.SettingBody, memory: MemoryDependency) -> JSONResponse:
    """Keep a setting in the store, for every program that opens it."""
    knob = _find_settable_setting(name, "set {} VALUE")
    if not is_of_setting_type(body.value, knob):
        raise InvalidSetting(f"{knob.name} cannot be {body.value!r}.", way_out=f"It must be {knob.allowed}.")
    values = await memory.settings()
    if knob is PRESET and values.over({PRESET.name: body.value})[EMBEDDER_NAME] != values[EMBEDDER_NAME]:
        raise _make_embedder_error(f"preset {body.value} --in-store")
    await memory.configure(knob.name, body.value)
    return JSONResponse(_make_setting_json(knob, await memory.settings()))


@memory_routes.delete("/settings/{name}", response_model=schemas.SettingResponse, dependencies=NO_BODY)
async def reset(name: SettingName, memory: MemoryDependency) -> JSONResponse:
    """Remove a setting from the store, so that the layer below applies again."""
    knob = _find_settable_setting(name, "reset {} --in-store")
    values = await memory.settings()
    if knob is PRESET and (values.layer_of(PRESET), values.layer_of(EMBEDDER_NAME)) == ("store", "preset"):
        raise _make_embedder_error(f"reset {PRESET.name} --in-store")
    await memory.reset(knob.name)
    return JSONResponse(_make_setting_json(knob, await memory.settings()))


def _find_settable_setting(name: str, command: str) -> Knob[Any]:
    knob = find_knob(name)
    if knob not in list_settable_settings():
        raise InvalidSetting(
            f"{knob.name} cannot be changed over HTTP: it may name files, folders or programs.",
            way_out=f"Change it where the server runs, with: cofire config {command.format(knob.name)}",
        )
    return knob


def _make_embedder_error(command: str) -> InvalidSetting:
    """A preset with another embedder would be stored without effect: the server opens its embedder at the start."""
    return InvalidSetting(
        f"This preset changes {EMBEDDER_NAME.name}, which is read when the server starts.",
        way_out=f"Stop the server, run cofire config {command}, and start it again.",
    )
