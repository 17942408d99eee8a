"""The tool `remember`: what is new is stored, what recall gave is not stored again."""

from __future__ import annotations

from typing import Any

from cofire.doors.mcp.desk import Answer, Desk
from cofire.doors.refused_items import refusal_in_words
from cofire.errors import CofireError, InvalidFact
from cofire.fencing import unfenced

# Who says when something was said, or by whom, tells of another moment, also in the same words.
_ANOTHER_TELLING = {"at", "speaker", "session"}


async def remember(desk: Desk, said: dict[str, Any]) -> Answer:
    texts = [own_words(text) for text in _texts(said)]
    echoes = {} if said.keys() & _ANOTHER_TELLING else await _echoes(desk, texts)
    new = [text for text in texts if text not in echoes]
    superseded = said.get("supersedes", [])
    if superseded:
        await desk.facts(superseded)
    stored = await _store(desk, new, said) if new else []
    for known_id in dict.fromkeys(echoes.values()):
        for old in superseded:
            await desk.memory.supersede(old, known_id)
    ids = {**dict(zip(new, stored, strict=True)), **echoes}
    known = list(dict.fromkeys(echoes.values()))
    return Answer(_in_words(stored, known), {"ids": [ids[text] for text in texts], "known": known})


async def _store(desk: Desk, texts: list[str], said: dict[str, Any]) -> list[str]:
    """Store all texts, or none and say which is refused."""
    try:
        ids: list[str] = await desk.memory.remember(texts, scope=desk.scope, **said)
        return ids
    except CofireError as error:
        raise refusal_in_words(error, len(texts)) from error


async def _echoes(desk: Desk, texts: list[str]) -> dict[str, str]:
    """Texts that were shown, with the ids of their facts."""
    return {text: id for text in texts if (id := await desk.shown(text)) is not None}


def _texts(said: dict[str, Any]) -> list[str]:
    """The facts given, one or several, taken out of what was said."""
    one, several = said.pop("text", None), said.pop("facts", [])
    texts = [*([one] if one is not None else []), *several]
    if not texts:
        raise InvalidFact("Nothing was given to remember.", way_out="Give text, or a list of facts.")
    return texts


def own_words(text: str) -> str:
    """A text without the recalled blocks in it; refused if it is nothing else."""
    own = unfenced(text)
    if not own and text.strip():
        raise InvalidFact(
            "This is recalled text: memory has it already.", way_out="Remember only what is new, in your words."
        )
    return own


def _in_words(stored: list[str], known: list[str]) -> str:
    said = [f"Remembered: {', '.join(stored)}."] if stored else []
    said += [f"Not stored again, since it was recalled: {', '.join(known)}."] if known else []
    return " ".join(said)
