"""Routes that ask memory: recall, why, explore and feedback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from sse_starlette import ServerSentEvent
from starlette.responses import JSONResponse, Response

from cofire import AsyncMemory
from cofire.doors.cli.exploring import exploration_json
from cofire.doors.http import given
from cofire.doors.http import recall_answers as answers
from cofire.doors.http.routing import STREAMED, TheMemory, answer, router
from cofire.doors.http.shapes import texts_of
from cofire.doors.http.streams import event, told, wants_events
from cofire.errors import InvalidInput
from cofire.settings import recall_settings
from cofire.spreads import Exploration, SeedExploration, seed_json

routes = router("recall")


@routes.post("/recall", response_model=answers.Recollection)
async def recall(said: given.Question, memory: TheMemory) -> JSONResponse:
    """Ask memory a question. The answer has every stage, and the recording of how activation spread."""
    return answer((await memory.recall(said.query, **said.keywords("query"))).to_dict())


@routes.post("/why", response_model=answers.Why)
async def why(said: given.WhyQuestion, memory: TheMemory) -> JSONResponse:
    """Why a fact comes back for a question, or where it is lost and what would bring it back."""
    await _refuse_if_not_explained(memory)
    return answer((await memory.why(said.query, said.id, **said.keywords("query", "id"))).to_dict())


@routes.post("/feedback", response_model=answers.Learned)
async def feedback(said: given.Feedback, memory: TheMemory) -> JSONResponse:
    """Tell which facts of a recall helped and which hurt."""
    learned = await memory.feedback(said.id, helped=said.helped, hurt=said.hurt)
    ids = {"helped": list(learned.helped), "hurt": list(learned.hurt)}
    return answer({**ids, "made": learned.made, "changed": learned.changed})


@routes.post("/explore", response_model=answers.Exploration, responses=STREAMED)
async def explore(said: given.Start, request: Request, memory: TheMemory) -> Response:
    """Follow energy outward from facts. As events: `seed` for each as it is explored, then `done` with the whole."""
    if wants_events(request):
        return told(_seed_by_seed(said.keywords(), memory))
    return answer(await _shown(await memory.explore(**said.keywords()), memory))


async def _refuse_if_not_explained(memory: AsyncMemory) -> None:
    name = recall_settings.EXPLAIN_DOORS.name
    if not (await memory.settings())[recall_settings.EXPLAIN_DOORS]:
        raise InvalidInput(
            f"Explanations are switched off by {name}.", way_out=f"Switch them on with PUT /api/v1/settings/{name}."
        )


async def _seed_by_seed(keywords: dict[str, Any], memory: AsyncMemory) -> AsyncIterator[ServerSentEvent]:
    """Each seed as it comes, then all together. Where there is none, the whole says why."""
    seeds: list[SeedExploration] = []
    async for seed in memory.explore(**keywords):
        seeds.append(seed)
        yield event("seed", seed_json(seed))
    whole = Exploration(tuple(seeds), _summed(seeds)) if seeds else await memory.explore(**keywords)
    yield event("done", await _shown(whole, memory))


def _summed(seeds: list[SeedExploration]) -> dict[str, float]:
    """The energy of each fact over all seeds, the most first."""
    total: dict[str, float] = {}
    for seed in seeds:
        for id, energy in seed.energies.items():
            total[id] = total.get(id, 0.0) + energy
    return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))


async def _shown(found: Exploration, memory: AsyncMemory) -> dict[str, Any]:
    return exploration_json(found, await texts_of(memory, found.ids))
