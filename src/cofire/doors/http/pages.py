"""The page: built from web/ into the folder page/ beside this module, and served as it lies there."""

from __future__ import annotations

from html import escape
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from cofire import installation
from cofire.doors.http.refusals import HANDLERS

FOLDER = installation.PAGE
# The names of assets change with their content.
FOR_EVER, ASK_AGAIN = "public, max-age=31536000, immutable", "no-cache"
NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>cofire</title></head>
<body><h1>cofire is running</h1>
<p>The API answers at <code>/api/v1</code>. This installation has no page.</p>
<p>{way_out}</p></body></html>
"""


class Page(StaticFiles):
    """The files of the page, which browsers may keep if their name tells their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = FOR_EVER if path.startswith("assets/") else ASK_AGAIN
        return response


def page(folder: Path) -> Starlette:
    """An application that serves the page or, where there is none, says how to get it."""
    built = installation.page_is_built(folder)
    shown: BaseRoute = Mount("/", Page(directory=folder, html=True)) if built else Route("/", not_built)
    return Starlette(routes=[shown], exception_handlers=dict(HANDLERS))


async def not_built(_: Request) -> HTMLResponse:
    return HTMLResponse(NOT_BUILT.format(way_out=escape(installation.page_way_out())))
