"""Routes about the memory as a whole: is it there, what does it hold, how is it set, and what are the verbs for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Path, Query
from starlette.responses import JSONResponse

import cofire
from cofire import AsyncMemory
from cofire.doors.cli.listing import held_json
from cofire.doors.http import answers, given
from cofire.doors.http.routing import WITHOUT_BODY, TheMemory, answer, router
from cofire.doors.http.shapes import full_setting_json
from cofire.doors.http.words import is_of_kind, settable
from cofire.errors import InvalidSetting, NotFound
from cofire.guide import PAGES
from cofire.settings import EMBEDDER, PRESET, Knob, knob

routes = router("care")
open_routes = router("care")

# Shown in OpenAPI, and not checked: what does not look so is no setting and no verb, which is said with 404.
SettingName = Annotated[str, Path(json_schema_extra={"maxLength": 100, "pattern": r"^[A-Za-z0-9_.]+$"})]
Verb = Annotated[str, Path(json_schema_extra={"maxLength": 100, "pattern": r"^[a-z_]+$"})]


@routes.get("/stats", response_model=answers.Stats)
async def stats(memory: TheMemory) -> JSONResponse:
    """What memory holds, and how it works just now."""
    return answer(held_json(await memory.stats()))


@routes.get("/scopes", response_model=answers.Scopes)
async def scopes(memory: TheMemory) -> JSONResponse:
    """The scopes, and how many facts each holds."""
    return answer({"scopes": dict((await memory.stats()).size.scopes)})


@routes.get("/shadow", response_model=answers.Shadow)
async def shadow(asked: Annotated[given.ShadowAsked, Query()], memory: TheMemory) -> JSONResponse:
    """What the shadow recalls that are kept came to."""
    return answer((await memory.shadow_report(asked.kind)).to_dict())


@routes.get("/guide", response_model=answers.Guide)
async def guide() -> JSONResponse:
    """A short page on each verb, written for agents."""
    return answer({"pages": [asdict(page) for page in PAGES.values()]})


@routes.get("/guide/{verb}", response_model=answers.Guide)
async def guide_page(verb: Verb) -> JSONResponse:
    """The page on one verb."""
    if verb not in PAGES:
        raise NotFound(f"There is no page on {verb}.", way_out=f"There is one on {', '.join(PAGES)}.")
    return answer({"pages": [asdict(PAGES[verb])]})


@routes.get("/settings", response_model=answers.Settings)
async def settings(memory: TheMemory) -> JSONResponse:
    """Every setting: its value, where that comes from, and what it may be."""
    held = await memory.settings()
    return answer({"settings": [full_setting_json(one, held) for one, _ in held]})


@routes.put("/settings/{name}", response_model=answers.Setting)
async def configure(name: SettingName, said: given.Value, memory: TheMemory) -> JSONResponse:
    """Keep a setting in the store, for everybody who opens it."""
    chosen = _from_outside(name, "set {} VALUE")
    if not is_of_kind(said.value, chosen):
        raise InvalidSetting(f"{chosen.name} cannot be {said.value!r}.", way_out=f"It must be {chosen.allowed}.")
    held = await memory.settings()
    if chosen is PRESET and held.over({PRESET.name: said.value})[EMBEDDER] != held[EMBEDDER]:
        raise _other_embedder(f"preset {said.value} --in-store")
    await memory.configure(chosen.name, said.value)
    return await _setting(chosen.name, memory)


@routes.delete("/settings/{name}", response_model=answers.Setting, dependencies=WITHOUT_BODY)
async def reset(name: SettingName, memory: TheMemory) -> JSONResponse:
    """Take a setting out of the store, so that the layer below holds again."""
    chosen = _from_outside(name, "reset {} --in-store")
    held = await memory.settings()
    if chosen is PRESET and (held.layer_of(PRESET), held.layer_of(EMBEDDER)) == ("store", "preset"):
        raise _other_embedder(f"reset {PRESET.name} --in-store")
    await memory.reset(chosen.name)
    return await _setting(chosen.name, memory)


def _from_outside(name: str, command: str) -> Knob[Any]:
    """A setting that may be changed from outside."""
    chosen = knob(name)
    if chosen not in settable():
        raise InvalidSetting(
            f"{chosen.name} cannot be changed from outside: it may name files, folders or programs.",
            way_out=f"Change it where the server runs, with: cofire config {command.format(chosen.name)}",
        )
    return chosen


def _other_embedder(command: str) -> InvalidSetting:
    """A preset that names another embedder would be kept, and not hold: the server has opened its own."""
    return InvalidSetting(
        f"With this change of preset {EMBEDDER.name} changes, which is read when the server starts.",
        way_out=f"Stop the server, run cofire config {command}, and start it again.",
    )


async def _setting(name: str, memory: AsyncMemory) -> JSONResponse:
    return answer(full_setting_json(knob(name), await memory.settings()))


@open_routes.get("/health", response_model=answers.Health)
async def health() -> JSONResponse:
    """Whether anybody is there. Needs no token."""
    return answer({"ok": True, "version": cofire.__version__})
