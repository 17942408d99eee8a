"""All routes of the API: facts, recall, graph and the memory as a whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Annotated, Any

from fastapi import Path, Query, Request
from sse_starlette import ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

import cofire
from cofire import AsyncMemory, Fact, Settings, explain
from cofire.activation_paths import ExploreResult, SeedExploration, seed_json
from cofire.cli.config import setting_json
from cofire.cli.facts import PortraitLike, facts_json, portrait_json, stats_result_json
from cofire.cli.graph import exploration_json
from cofire.cli.json_shapes import ForgetResultLike, community_json, forget_json, review_pair_json, undo_json
from cofire.errors import InvalidInput, InvalidSetting, NotFound
from cofire.guide import VERB_GUIDES
from cofire.http import requests, responses
from cofire.http import responses as answers
from cofire.http.errors import OPENAPI_HINT
from cofire.http.requests import JSON_TYPES, PathId, is_of_setting_type, list_settable_settings
from cofire.http.routing import (
    NO_BODY,
    STREAM_RESPONSES,
    MemoryDependency,
    make_event,
    make_event_response,
    make_json_response,
    make_router,
    stream_progress,
    wants_events,
)
from cofire.results import Picture
from cofire.settings import table
from cofire.settings.knobs import Knob
from cofire.settings.table import EMBEDDER_NAME, PRESET, find_knob
from cofire.stores.metadata_filter import parse_expressions


async def fetch_texts(memory: AsyncMemory, ids: Iterable[str]) -> dict[str, str]:
    """The texts of facts, by id. One that was forgotten since it was looked for has none left: its text is empty."""
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


def portrait_response_json(portrait: PortraitLike, texts: Mapping[str, str]) -> dict[str, Any]:
    """A fact, and beside it what hangs on it."""
    fact = explain.fact_json(portrait.fact)
    flat = portrait_json(portrait, dict(texts))
    return {"fact": fact, **{name: value for name, value in flat.items() if name not in fact}}


def forget_response_json(told: ForgetResultLike) -> dict[str, Any]:
    """What went, or would go. The path of the receipt stays on this side."""
    said = forget_json(told, dry_run=told.dry_run)
    kept = said["receipt"]
    return {**said, "receipt": {"id": kept["id"], "expires": kept["expires"]} if kept else None}


def setting_form_json(one: Knob[Any], settings: Settings) -> dict[str, Any]:
    """A setting, with what a form needs to offer it."""
    return {
        **setting_json(one, settings),
        "kind": JSON_TYPES[type(one.default)],
        "choices": list(one.choices),
        "low": one.low,
        "high": one.high,
        "settable": one in list_settable_settings() and not one.needed_to_open,
    }


fact_routes = make_router("facts")

# A search for a picker is no question to memory: it neither keeps silent nor is it remembered as a recall.
PICKER_SETTINGS = {
    "abstention.rule": "off",
    "recall_log.enabled": False,
    "shadow.enabled": False,
    "shadow.assist": False,
}
MAX_SCANNED_FACTS = 5_000


@fact_routes.post("/facts", response_model=responses.RememberResponse)
async def remember(said: requests.RememberBody, memory: MemoryDependency) -> JSONResponse:
    """Remember one fact or several. A fact that is known already keeps its id."""
    if isinstance(said, requests.FactBody):
        return make_json_response({"ids": [await memory.remember(said.keywords())], "skipped": []})
    if said.errors == "skip":
        return make_json_response(await _remember_valid_items(said.facts, memory))
    return make_json_response({"ids": await memory.remember([fact.keywords() for fact in said.facts]), "skipped": []})


async def _remember_valid_items(
    items: Sequence[requests.FactBody | requests.RefusedFact], memory: AsyncMemory
) -> dict[str, Any]:
    """Store the items that are facts, and report the others: those of a wrong shape, and those that memory refuses."""
    facts = {index: item.keywords() for index, item in enumerate(items) if isinstance(item, requests.FactBody)}
    indexes = list(facts)
    result = await memory.remember(list(facts.values()), errors="skip")
    ids = dict(zip(indexes, result, strict=True))
    skipped = [{**asdict(item), "index": indexes[item.index]} for item in result.skipped]
    skipped += [
        {"index": index, "problem": item.problem, "way_out": OPENAPI_HINT}
        for index, item in enumerate(items)
        if isinstance(item, requests.RefusedFact)
    ]
    return {"ids": [ids.get(index) for index in range(len(items))], "skipped": sorted(skipped, key=itemgetter("index"))}


@fact_routes.get("/facts", response_model=responses.FactsPageResponse)
async def list_facts(asked: Annotated[requests.FactsQuery, Query()], memory: MemoryDependency) -> JSONResponse:
    """List facts, newest first, a page at a time; or with `text` find those that say it, best first."""
    if asked.text is not None:
        _refuse_combined_with_text(asked)
        return make_json_response(
            {"facts": facts_json(await _find_facts_by_text(asked.text, asked, memory)), "next": None}
        )
    found = await memory.facts(
        limit=asked.limit,
        before=asked.before,
        pinned=asked.pinned,
        archived=asked.archived,
        superseded=asked.superseded,
        **asked.filters,
    )
    return make_json_response({"facts": facts_json(found), "next": found[-1].id if len(found) == asked.limit else None})


@fact_routes.get("/facts/{id}", response_model=responses.PortraitResponse)
async def show_fact(
    id: PathId, asked: Annotated[requests.LinksQuery, Query()], memory: MemoryDependency
) -> JSONResponse:
    """A fact with its links, descriptions, importance, use and history."""
    portrait = await memory.portrait(id, limit=asked.limit)
    texts = await fetch_texts(memory, [end for link in portrait.links for end in (link.source, link.target)])
    return make_json_response(portrait_response_json(portrait, texts))


@fact_routes.patch("/facts/{id}", response_model=responses.FactResponse)
async def update(id: PathId, said: requests.UpdateBody, memory: MemoryDependency) -> JSONResponse:
    """Change a fact. Its id stays, and what it said before becomes its history."""
    changed = await memory.update(id, **said.model_dump(exclude_unset=True))
    return make_json_response({"fact": explain.fact_json(changed)})


@fact_routes.post("/facts/{id}/pin", response_model=responses.FactsResponse, dependencies=NO_BODY)
async def pin(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Let a fact never fade. Answers with the fact, or nothing if it was pinned already."""
    return make_json_response(_facts_json(await memory.pin(id)))


@fact_routes.post("/facts/{id}/unpin", response_model=responses.FactsResponse, dependencies=NO_BODY)
async def unpin(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Let a fact fade again."""
    return make_json_response(_facts_json(await memory.unpin(id)))


@fact_routes.post("/facts/{id}/archive", response_model=responses.FactsResponse, dependencies=NO_BODY)
async def archive(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Put a fact out of recall without losing it."""
    return make_json_response(_facts_json(await memory.archive(id)))


@fact_routes.post("/facts/{id}/restore", response_model=responses.FactsResponse, dependencies=NO_BODY)
async def restore(id: PathId, memory: MemoryDependency) -> JSONResponse:
    """Bring an archived fact back into recall."""
    return make_json_response(_facts_json(await memory.restore(id)))


@fact_routes.post("/forget", response_model=responses.ForgetResponse)
async def forget(said: requests.ForgetBody, memory: MemoryDependency) -> JSONResponse:
    """Forget facts, by id or by filter; with `dry_run` only tell what would go. The receipt brings them back."""
    if isinstance(said, requests.ForgetIdsBody):
        return make_json_response(forget_response_json(await memory.forget(said.ids, dry_run=said.dry_run)))
    return make_json_response(forget_response_json(await memory.forget(dry_run=said.dry_run, **said.filter.keywords())))


@fact_routes.post("/undo", response_model=responses.UndoResponse)
async def undo(said: requests.UndoBody, memory: MemoryDependency) -> JSONResponse:
    """Bring back what was forgotten, by the id of its receipt."""
    return make_json_response(undo_json(await memory.undo(said.receipt)))


def _refuse_combined_with_text(asked: requests.FactsQuery) -> None:
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


async def _find_facts_by_text(text: str, asked: requests.FactsQuery, memory: AsyncMemory) -> list[Fact]:
    """The facts that words find; where there is none, as when a word is half typed, those that hold the letters."""
    scopes = asked.scope or list((await memory.stats()).size.scopes)
    if not scopes:
        return []
    filters: dict[str, Any] = {**asked.filters, "scope": scopes}
    found = await memory.recall(text, k=asked.limit, mode="minimal", settings=PICKER_SETTINGS, **filters)
    if found.hits:
        return [hit.fact for hit in found.hits]
    newest = await memory.facts(limit=MAX_SCANNED_FACTS, **filters)
    return [fact for fact in newest if _contains_text(fact, text)][: asked.limit]


def _contains_text(fact: Fact, text: str) -> bool:
    wanted = text.strip().casefold()
    return fact.id.casefold() == wanted or wanted in fact.reading.casefold()


def _facts_json(changed: list[Fact]) -> dict[str, Any]:
    return {"facts": facts_json(changed)}


recall_routes = make_router("recall")


@recall_routes.post("/recall", response_model=answers.RecallResponse)
async def recall(said: requests.RecallBody, memory: MemoryDependency) -> JSONResponse:
    """Ask memory a question. The answer has every stage, and the recording of how activation spread."""
    return make_json_response((await memory.recall(said.query, **said.keywords("query"))).to_dict())


@recall_routes.post("/why", response_model=answers.WhyResponse)
async def why(said: requests.WhyBody, memory: MemoryDependency) -> JSONResponse:
    """Why a fact comes back for a question, or where it is lost and what would bring it back."""
    await _refuse_if_explanations_off(memory)
    return make_json_response((await memory.why(said.query, said.id, **said.keywords("query", "id"))).to_dict())


@recall_routes.post("/feedback", response_model=answers.FeedbackResponse)
async def feedback(said: requests.FeedbackBody, memory: MemoryDependency) -> JSONResponse:
    """Tell which facts of a recall helped and which hurt."""
    learned = await memory.feedback(said.id, helped=said.helped, hurt=said.hurt)
    ids = {"helped": list(learned.helped), "hurt": list(learned.hurt)}
    return make_json_response({**ids, "made": learned.made, "changed": learned.changed})


@recall_routes.post("/explore", response_model=answers.ExploreResponse, responses=STREAM_RESPONSES)
async def explore(said: requests.ExploreBody, request: Request, memory: MemoryDependency) -> Response:
    """Follow energy outward from facts. As events: `seed` for each as it is explored, then `done` with the whole."""
    if wants_events(request):
        return make_event_response(_stream_seeds(said.keywords(), memory))
    return make_json_response(await _make_exploration_json(await memory.explore(**said.keywords()), memory))


async def _refuse_if_explanations_off(memory: AsyncMemory) -> None:
    name = table.GRAPH_RECALL_EXPLAIN_DOORS.name
    if not (await memory.settings())[table.GRAPH_RECALL_EXPLAIN_DOORS]:
        raise InvalidInput(
            f"Explanations are switched off by {name}.", way_out=f"Switch them on with PUT /api/v1/settings/{name}."
        )


async def _stream_seeds(keywords: dict[str, Any], memory: AsyncMemory) -> AsyncIterator[ServerSentEvent]:
    """Each seed as it comes, then all together. Where there is none, the whole says why."""
    seeds: list[SeedExploration] = []
    async for seed in memory.explore(**keywords):
        seeds.append(seed)
        yield make_event("seed", seed_json(seed))
    whole = ExploreResult(tuple(seeds), _sum_energies(seeds)) if seeds else await memory.explore(**keywords)
    yield make_event("done", await _make_exploration_json(whole, memory))


def _sum_energies(seeds: list[SeedExploration]) -> dict[str, float]:
    """The energy of each fact over all seeds, the most first."""
    total: dict[str, float] = {}
    for seed in seeds:
        for id, energy in seed.energies.items():
            total[id] = total.get(id, 0.0) + energy
    return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))


async def _make_exploration_json(found: ExploreResult, memory: AsyncMemory) -> dict[str, Any]:
    return exploration_json(found, await fetch_texts(memory, found.ids))


graph_routes = make_router("graph")

DEFAULT_DREAM_BODY, DEFAULT_CURATE_BODY = requests.DreamBody(), requests.CurateBody()


@graph_routes.get("/edges", response_model=responses.EdgesResponse)
async def edges(asked: Annotated[requests.EdgesQuery, Query()], memory: MemoryDependency) -> JSONResponse:
    """Stored edges, the strongest first."""
    wanted = asked.model_dump(include={"kind", "origin", "limit"})
    found = await memory.edges(scope=asked.scope or None, ids=asked.ids or None, **wanted)
    return make_json_response({"edges": [explain.edge_json(edge) for edge in found]})


@graph_routes.post("/edges", response_model=responses.EdgeSchema)
async def connect(said: requests.ConnectBody, memory: MemoryDependency) -> JSONResponse:
    """Make an edge between two facts; `mode` says what to do if it is there: reinforce, update, skip or error."""
    return make_json_response(explain.edge_json(await memory.connect(**said.keywords())))


@graph_routes.get("/graph", response_model=responses.GraphResponse)
async def graph(asked: Annotated[requests.GraphQuery, Query()], memory: MemoryDependency) -> Response:
    """All facts, or those of a community, and the strongest edges between them; above `limit` facts, the communities instead."""
    wanted = asked.model_dump(include={"community", "limit"})
    where = parse_expressions(asked.where) or None
    return await _make_picture_response(
        await memory.graph(kind=asked.kinds, scope=asked.scope or None, where=where, **wanted)
    )


@graph_routes.get("/graph/around", response_model=responses.GraphResponse)
async def around(asked: Annotated[requests.NeighbourhoodQuery, Query()], memory: MemoryDependency) -> Response:
    """Some facts and what lies around them, so many steps away."""
    wanted = asked.model_dump(include={"depth", "limit"})
    where = parse_expressions(asked.where) or None
    return await _make_picture_response(await memory.graph(asked.listed, kind=asked.kinds, where=where, **wanted))


@graph_routes.get("/communities", response_model=responses.CommunitiesResponse)
async def communities(asked: Annotated[requests.CommunitiesQuery, Query()], memory: MemoryDependency) -> JSONResponse:
    """The communities that the last dream found, the largest first."""
    found = await memory.communities(scope=asked.scope or None, limit=asked.limit)
    return make_json_response({"communities": [community_json(one) for one in found]})


@graph_routes.post("/dream", response_model=responses.DreamResponse, responses=STREAM_RESPONSES)
async def dream(request: Request, memory: MemoryDependency, said: requests.DreamBody = DEFAULT_DREAM_BODY) -> Response:
    """Connect what waits in the inbox. As events: `progress` as it goes, then `done` with the report."""
    if wants_events(request):
        return make_event_response(
            stream_progress(lambda listen: memory.dream(scope=said.scope, progress=listen), asdict)
        )
    return make_json_response(asdict(await memory.dream(scope=said.scope)))


@graph_routes.post("/curate", response_model=responses.CurateResponse, responses=STREAM_RESPONSES)
async def curate(
    request: Request, memory: MemoryDependency, said: requests.CurateBody = DEFAULT_CURATE_BODY
) -> Response:
    """Let unused edges fade, archive by the settings, rank and group anew, and check. As events: `progress`, then `done`."""
    if wants_events(request):
        return make_event_response(
            stream_progress(lambda listen: memory.curate(dry_run=said.dry_run, progress=listen), asdict)
        )
    return make_json_response(asdict(await memory.curate(dry_run=said.dry_run)))


@graph_routes.post("/supersede", response_model=responses.EdgeSchema)
async def supersede(said: requests.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """Let a newer fact take the place of an older one."""
    return make_json_response(explain.edge_json(await memory.supersede(said.old, said.new)))


@graph_routes.post("/unsupersede", response_model=responses.DecisionResponse)
async def unsupersede(said: requests.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """Take a supersede back: the older fact is valid as long as it was."""
    await memory.unsupersede(said.old, said.new)
    return make_json_response({"old": said.old, "new": said.new, "state": "undone"})


@graph_routes.get("/review", response_model=responses.ReviewsResponse)
async def review(asked: Annotated[requests.ReviewQuery, Query()], memory: MemoryDependency) -> JSONResponse:
    """Pairs of facts that seem to disagree and wait for a decision."""
    found = await memory.review(everything=asked.everything)
    return make_json_response({"reviews": [review_pair_json(one) for one in found]})


@graph_routes.post("/review/accept", response_model=responses.DecisionResponse)
async def accept(said: requests.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """The newer fact is right: it supersedes the older."""
    await memory.accept(said.old, said.new)
    return make_json_response({"old": said.old, "new": said.new, "state": "accepted"})


@graph_routes.post("/review/dismiss", response_model=responses.DecisionResponse)
async def dismiss(said: requests.FactPairBody, memory: MemoryDependency) -> JSONResponse:
    """Both facts are right; the pair is not proposed again."""
    await memory.dismiss(said.old, said.new)
    return make_json_response({"old": said.old, "new": said.new, "state": "dismissed"})


async def _make_picture_response(picture: Picture) -> Response:
    """A picture of ten thousand facts is megabytes of JSON: they are written in a thread, while others are served."""
    return await run_in_threadpool(lambda: make_json_response(picture.to_dict()))


memory_routes = make_router("care")
open_routes = make_router("care")

# Shown in OpenAPI, and not checked: what does not look so is no setting and no verb, which is said with 404.
SettingNameInPath = Annotated[str, Path(json_schema_extra={"maxLength": 100, "pattern": r"^[A-Za-z0-9_.]+$"})]
VerbInPath = Annotated[str, Path(json_schema_extra={"maxLength": 100, "pattern": r"^[a-z_]+$"})]


@memory_routes.get("/stats", response_model=responses.StatsResponse)
async def stats(memory: MemoryDependency) -> JSONResponse:
    """What memory holds, and how it works just now."""
    return make_json_response(stats_result_json(await memory.stats()))


@memory_routes.get("/scopes", response_model=responses.ScopesResponse)
async def scopes(memory: MemoryDependency) -> JSONResponse:
    """The scopes, and how many facts each holds."""
    return make_json_response({"scopes": dict((await memory.stats()).size.scopes)})


@memory_routes.get("/shadow", response_model=responses.ShadowResponse)
async def shadow(asked: Annotated[requests.ShadowQuery, Query()], memory: MemoryDependency) -> JSONResponse:
    """What the shadow recalls that are kept came to."""
    return make_json_response((await memory.shadow_report(asked.kind)).to_dict())


@memory_routes.get("/guide", response_model=responses.GuideResponse)
async def guide() -> JSONResponse:
    """A short page on each verb, written for agents."""
    return make_json_response({"pages": [asdict(page) for page in VERB_GUIDES.values()]})


@memory_routes.get("/guide/{verb}", response_model=responses.GuideResponse)
async def guide_page(verb: VerbInPath) -> JSONResponse:
    """The page on one verb."""
    if verb not in VERB_GUIDES:
        raise NotFound(f"There is no page on {verb}.", way_out=f"There is one on {', '.join(VERB_GUIDES)}.")
    return make_json_response({"pages": [asdict(VERB_GUIDES[verb])]})


@memory_routes.get("/settings", response_model=responses.SettingsResponse)
async def settings(memory: MemoryDependency) -> JSONResponse:
    """Every setting: its value, where that comes from, and what it may be."""
    held = await memory.settings()
    return make_json_response({"settings": [setting_form_json(one, held) for one, _ in held]})


@memory_routes.put("/settings/{name}", response_model=responses.SettingSchema)
async def configure(name: SettingNameInPath, said: requests.SettingBody, memory: MemoryDependency) -> JSONResponse:
    """Keep a setting in the store, for everybody who opens it."""
    chosen = _find_settable_setting(name, "set {} VALUE")
    if not is_of_setting_type(said.value, chosen):
        raise InvalidSetting(f"{chosen.name} cannot be {said.value!r}.", way_out=f"It must be {chosen.allowed}.")
    held = await memory.settings()
    if chosen is PRESET and held.over({PRESET.name: said.value})[EMBEDDER_NAME] != held[EMBEDDER_NAME]:
        raise _make_embedder_error(f"preset {said.value} --in-store")
    await memory.configure(chosen.name, said.value)
    return await _make_setting_response(chosen.name, memory)


@memory_routes.delete("/settings/{name}", response_model=responses.SettingSchema, dependencies=NO_BODY)
async def reset(name: SettingNameInPath, memory: MemoryDependency) -> JSONResponse:
    """Take a setting out of the store, so that the layer below holds again."""
    chosen = _find_settable_setting(name, "reset {} --in-store")
    held = await memory.settings()
    if chosen is PRESET and (held.layer_of(PRESET), held.layer_of(EMBEDDER_NAME)) == ("store", "preset"):
        raise _make_embedder_error(f"reset {PRESET.name} --in-store")
    await memory.reset(chosen.name)
    return await _make_setting_response(chosen.name, memory)


def _find_settable_setting(name: str, command: str) -> Knob[Any]:
    """A setting that may be changed from outside."""
    chosen = find_knob(name)
    if chosen not in list_settable_settings():
        raise InvalidSetting(
            f"{chosen.name} cannot be changed from outside: it may name files, folders or programs.",
            way_out=f"Change it where the server runs, with: cofire config {command.format(chosen.name)}",
        )
    return chosen


def _make_embedder_error(command: str) -> InvalidSetting:
    """A preset that names another embedder would be kept, and not hold: the server has opened its own."""
    return InvalidSetting(
        f"With this change of preset {EMBEDDER_NAME.name} changes, which is read when the server starts.",
        way_out=f"Stop the server, run cofire config {command}, and start it again.",
    )


async def _make_setting_response(name: str, memory: AsyncMemory) -> JSONResponse:
    return make_json_response(setting_form_json(find_knob(name), await memory.settings()))


@open_routes.get("/health", response_model=responses.HealthResponse)
async def health() -> JSONResponse:
    """Whether anybody is there. Needs no token."""
    return make_json_response({"ok": True, "version": cofire.__version__})
