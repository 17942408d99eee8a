"""The application: routes, errors and the page, behind the walls."""

from __future__ import annotations

from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp, Receive, Scope, Send

import cofire
from cofire.doors.http import care, facts, graph, pages, recalling, refusals
from cofire.doors.http.routing import BASE
from cofire.doors.http.walls import API, Guard, Walls

ROUTES = (facts.routes, recalling.routes, graph.routes, care.routes)
ABOUT = (
    "Associative memory for AI agents. The verbs are those of `cofire.Memory`; `GET /api/v1/guide` has a page on each."
)


def application(memory: cofire.AsyncMemory, walls: Walls, *, page: Path = pages.FOLDER) -> ASGIApp:
    """A memory as an application for a server."""
    api, shown = described(guarded=walls.token is not None), pages.page(page)
    api.state.memory = memory

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        await (api if scope["path"].startswith(API) else shown)(scope, receive, send)

    return Guard(either, walls)


def described(*, guarded: bool) -> FastAPI:
    """All routes of the API, as OpenAPI describes them. The pages that FastAPI would add load scripts from elsewhere."""
    app = FastAPI(
        title="cofire",
        version=cofire.__version__,
        description=ABOUT,
        openapi_url=f"{BASE}/openapi.json",
        docs_url=None,
        redoc_url=None,
        exception_handlers=dict(refusals.HANDLERS),
    )
    asks_for_token = [Depends(HTTPBearer(description="As cofire serve prints it.", auto_error=False))]
    for routes in ROUTES:
        app.include_router(routes, dependencies=asks_for_token if guarded else [])
    app.include_router(care.open_routes)
    app.state.routes = [route for routes in (*ROUTES, care.open_routes) for route in routes.routes]
    return app
