"""The ASGI application: API routes and the web page behind the access guard."""

from __future__ import annotations

from html import escape
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

import cofire
from cofire import installation
from cofire.http import endpoints, errors
from cofire.http.access import API_PREFIX, AccessGuard, AccessRules
from cofire.http.errors import EXCEPTION_HANDLERS
from cofire.http.routing import API_BASE

PAGE_FOLDER = installation.PAGE_FOLDER
# The names of assets change with their content.
CACHE_FOREVER, NO_CACHE = "public, max-age=31536000, immutable", "no-cache"
NOT_BUILT_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>cofire</title></head>
<body><h1>cofire is running</h1>
<p>The API answers at <code>/api/v1</code>. This installation has no page.</p>
<p>{way_out}</p></body></html>
"""


class PageFiles(StaticFiles):
    """The files of the page, which browsers may keep if their name tells their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = CACHE_FOREVER if path.startswith("assets/") else NO_CACHE
        return response


def make_page_application(folder: Path) -> Starlette:
    """An application that serves the page or, where there is none, says how to get it."""
    built = installation.page_is_built(folder)
    shown: BaseRoute = Mount("/", PageFiles(directory=folder, html=True)) if built else Route("/", answer_not_built)
    return Starlette(routes=[shown], exception_handlers=dict(EXCEPTION_HANDLERS))


async def answer_not_built(_: Request) -> HTMLResponse:
    return HTMLResponse(NOT_BUILT_HTML.format(way_out=escape(installation.missing_page_way_out())))


ROUTERS = (endpoints.fact_routes, endpoints.recall_routes, endpoints.graph_routes, endpoints.memory_routes)
API_DESCRIPTION = (
    "Associative memory for AI agents. The verbs are those of `cofire.Memory`; `GET /api/v1/guide` has a page on each."
)


def make_application(memory: cofire.AsyncMemory, walls: AccessRules, *, page: Path = PAGE_FOLDER) -> ASGIApp:
    """A memory as an application for a server."""
    api, shown = make_api(guarded=walls.token is not None), make_page_application(page)
    api.state.memory = memory

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        await (api if scope["path"].startswith(API_PREFIX) else shown)(scope, receive, send)

    return AccessGuard(either, walls)


def make_api(*, guarded: bool) -> FastAPI:
    """All routes of the API, as OpenAPI describes them. The pages that FastAPI would add load scripts from elsewhere."""
    app = FastAPI(
        title="cofire",
        version=cofire.__version__,
        description=API_DESCRIPTION,
        openapi_url=f"{API_BASE}/openapi.json",
        docs_url=None,
        redoc_url=None,
        exception_handlers=dict(errors.EXCEPTION_HANDLERS),
    )
    asks_for_token = [Depends(HTTPBearer(description="As cofire serve prints it.", auto_error=False))]
    for routes in ROUTERS:
        app.include_router(routes, dependencies=asks_for_token if guarded else [])
    app.include_router(endpoints.open_routes)
    app.state.routes = [route for routes in (*ROUTERS, endpoints.open_routes) for route in routes.routes]
    return app
