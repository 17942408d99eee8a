"""Routes about the graph: edges, pictures, communities, dreams, curation, and facts that disagree."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from cofire import xray
from cofire.doors.http import answers, given
from cofire.doors.http.routing import STREAMED, TheMemory, answer, router
from cofire.doors.http.streams import progress_of, told, wants_events
from cofire.doors.shapes import community_json, proposal_json
from cofire.metadata_filter import parse_expressions
from cofire.pictures import Picture

routes = router("graph")

ALL_THAT_WAITS, IN_EARNEST = given.Dream(), given.Curate()


@routes.get("/edges", response_model=answers.Edges)
async def edges(asked: Annotated[given.EdgesAsked, Query()], memory: TheMemory) -> JSONResponse:
    """Stored edges, the strongest first."""
    wanted = asked.model_dump(include={"kind", "origin", "limit"})
    found = await memory.edges(scope=asked.scope or None, ids=asked.ids or None, **wanted)
    return answer({"edges": [xray.edge_json(edge) for edge in found]})


@routes.post("/edges", response_model=answers.EdgeShape)
async def connect(said: given.NewEdge, memory: TheMemory) -> JSONResponse:
    """Make an edge between two facts; `mode` says what to do if it is there: reinforce, update, skip or error."""
    return answer(xray.edge_json(await memory.connect(**said.keywords())))


@routes.get("/graph", response_model=answers.Graph)
async def graph(asked: Annotated[given.GraphAsked, Query()], memory: TheMemory) -> Response:
    """All facts, or those of a community, and the strongest edges between them; above `limit` facts, the communities instead."""
    wanted = asked.model_dump(include={"community", "limit"})
    where = parse_expressions(asked.where) or None
    return await _drawn(await memory.graph(kind=asked.kinds, scope=asked.scope or None, where=where, **wanted))


@routes.get("/graph/around", response_model=answers.Graph)
async def around(asked: Annotated[given.AroundAsked, Query()], memory: TheMemory) -> Response:
    """Some facts and what lies around them, so many steps away."""
    wanted = asked.model_dump(include={"depth", "limit"})
    where = parse_expressions(asked.where) or None
    return await _drawn(await memory.graph(asked.listed, kind=asked.kinds, where=where, **wanted))


@routes.get("/communities", response_model=answers.Communities)
async def communities(asked: Annotated[given.CommunitiesAsked, Query()], memory: TheMemory) -> JSONResponse:
    """The communities that the last dream found, the largest first."""
    found = await memory.communities(scope=asked.scope or None, limit=asked.limit)
    return answer({"communities": [community_json(one) for one in found]})


@routes.post("/dream", response_model=answers.Dreamed, responses=STREAMED)
async def dream(request: Request, memory: TheMemory, said: given.Dream = ALL_THAT_WAITS) -> Response:
    """Connect what waits in the inbox. As events: `progress` as it goes, then `done` with the report."""
    if wants_events(request):
        return told(progress_of(lambda listen: memory.dream(scope=said.scope, progress=listen), asdict))
    return answer(asdict(await memory.dream(scope=said.scope)))


@routes.post("/curate", response_model=answers.Curated, responses=STREAMED)
async def curate(request: Request, memory: TheMemory, said: given.Curate = IN_EARNEST) -> Response:
    """Let unused edges fade, archive by the settings, rank and group anew, and check. As events: `progress`, then `done`."""
    if wants_events(request):
        return told(progress_of(lambda listen: memory.curate(dry_run=said.dry_run, progress=listen), asdict))
    return answer(asdict(await memory.curate(dry_run=said.dry_run)))


@routes.post("/supersede", response_model=answers.EdgeShape)
async def supersede(said: given.Pair, memory: TheMemory) -> JSONResponse:
    """Let a newer fact take the place of an older one."""
    return answer(xray.edge_json(await memory.supersede(said.old, said.new)))


@routes.post("/unsupersede", response_model=answers.Decided)
async def unsupersede(said: given.Pair, memory: TheMemory) -> JSONResponse:
    """Take a supersede back: the older fact is valid as long as it was."""
    await memory.unsupersede(said.old, said.new)
    return answer({"old": said.old, "new": said.new, "state": "undone"})


@routes.get("/review", response_model=answers.Reviews)
async def review(asked: Annotated[given.ReviewAsked, Query()], memory: TheMemory) -> JSONResponse:
    """Pairs of facts that seem to disagree and wait for a decision."""
    found = await memory.review(everything=asked.everything)
    return answer({"reviews": [proposal_json(one) for one in found]})


@routes.post("/review/accept", response_model=answers.Decided)
async def accept(said: given.Pair, memory: TheMemory) -> JSONResponse:
    """The newer fact is right: it supersedes the older."""
    await memory.accept(said.old, said.new)
    return answer({"old": said.old, "new": said.new, "state": "accepted"})


@routes.post("/review/dismiss", response_model=answers.Decided)
async def dismiss(said: given.Pair, memory: TheMemory) -> JSONResponse:
    """Both facts are right; the pair is not proposed again."""
    await memory.dismiss(said.old, said.new)
    return answer({"old": said.old, "new": said.new, "state": "dismissed"})


async def _drawn(picture: Picture) -> Response:
    """A picture of ten thousand facts is megabytes of JSON: they are written in a thread, while others are served."""
    return await run_in_threadpool(lambda: answer(picture.to_dict()))
