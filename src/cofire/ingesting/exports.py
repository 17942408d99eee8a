"""Exports: the shapes in which chat programs hand out conversations, each recognised by what it holds, not by its name. No I/O."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingesting.messages import (
    TITLES,
    WORDS,
    Message,
    first,
    is_message,
    label_of,
    session_of,
    time_of,
    turn,
)
from cofire.ingesting.moments import moment
from cofire.ingesting.turns import NOTICE, SYSTEM, WORDLESS, Turn, Unsaid, clean

Told = Turn | Unsaid

_CHATGPT_WORDS = ("text", "multimodal_text")
_CHATGPT_CITATION = re.compile("\ue200[^\ue201]*\ue201|【[^】]*†[^】]*】")
_CLAUDE_CODE_MARKS = ("sessionId", "parentUuid", "isSidechain", "leafUuid", "messageId")
_CLAUDE_CODE_ASIDE = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_CLAUDE_CODE_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_CLAUDE_CODE_NOISE = re.compile(
    r"<(?:command|local-command|bash|task)-|\[Request interrupted|Caveat: The messages below"
)
_SLACK_SPOKEN = (None, "bot_message", "thread_broadcast", "file_share", "me_message")
_SLACK_LINK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to hand out conversations. A `whole` one holds a conversation in each item, the others a message."""

    fits: Callable[[Message], bool]
    read: Callable[[Message], Iterable[Told]]
    whole: bool


@dataclass(frozen=True, slots=True)
class Unfolded:
    """The turns of one item, and whether it was a whole conversation."""

    turns: Iterable[Told]
    whole: bool


def unfold(item: object) -> Unfolded:
    """The turns in one item of an export, by the first shape that fits."""
    if isinstance(item, Mapping):
        shape = next((shape for shape in SHAPES if shape.fits(item)), None)
        if shape is not None:
            return Unfolded(shape.read(item), shape.whole)
    raise InvalidInput(
        f"No conversation is recognised in {_seen(item)}.",
        way_out="A message is a mapping with role (or speaker, author, name) and content (or text). Exports of ChatGPT, Claude, "
        "Slack and WhatsApp, Claude Code sessions and JSON with a list of messages are read as they are.",
    )


def _seen(item: object) -> str:
    if not isinstance(item, Mapping):
        return type(item).__name__
    labels = [str(label)[:40] for label in item]
    return f"a mapping of {', '.join(labels[:8]) or 'nothing'}{', …' if len(labels) > 8 else ''}"


def _in_conversation(
    turns: Iterable[Told], *, session: str | None, title: str | None, at: datetime | None = None
) -> Iterator[Told]:
    """Turns with what their conversation says of them all, unless they say it themselves."""
    for one in turns:
        if isinstance(one, Unsaid):
            yield one
        else:
            yield replace(one, session=one.session or session, title=title, at=one.at or at)


def _is_chatgpt(item: Message) -> bool:
    nodes = item.get("mapping")
    return isinstance(nodes, Mapping) and all(isinstance(node, Mapping) for node in nodes.values())


def _chatgpt(item: Message) -> Iterator[Told]:
    """The branch that is shown: from the current node up to the root, read the other way."""
    messages = [node["message"] for node in _branch(item) if isinstance(node.get("message"), Mapping)]
    session = label_of(first(item, ("conversation_id", "id")))
    return _in_conversation(map(_chatgpt_turn, messages), session=session, title=label_of(item.get("title")))


def _branch(item: Message) -> list[Message]:
    nodes: Mapping[str, Message] = item["mapping"]
    at: Any = item.get("current_node") or _last_leaf(nodes)
    path: dict[str, Message] = {}
    while isinstance(at, str) and at in nodes and at not in path:
        path[at] = nodes[at]
        at = nodes[at].get("parent")
    return list(path.values())[::-1]


def _last_leaf(nodes: Mapping[str, Message]) -> str | None:
    return next((name for name in reversed(list(nodes)) if not nodes[name].get("children")), None)


def _chatgpt_turn(message: Message) -> Told:
    content, notes = message.get("content"), message.get("metadata")
    if isinstance(notes, Mapping) and notes.get("is_visually_hidden_from_conversation"):
        return Unsaid(SYSTEM)
    spoken = not isinstance(content, Mapping) or content.get("content_type", "text") in _CHATGPT_WORDS
    if not spoken or message.get("recipient", "all") != "all":
        return Unsaid(WORDLESS)
    said = turn(message)
    if isinstance(said, Unsaid):
        return said
    text = clean(_CHATGPT_CITATION.sub("", said.text))
    return replace(said, text=text) if text else Unsaid(WORDLESS)


def _is_claude(item: Message) -> bool:
    return isinstance(item.get("chat_messages"), list)


def _claude(item: Message) -> Iterator[Told]:
    return _in_conversation(
        (_message(_with_pasted(one)) for one in item["chat_messages"]),
        session=label_of(item.get("uuid")),
        title=label_of(first(item, TITLES)),
    )


def _with_pasted(message: object) -> object:
    """A message with the text that was pasted into it, which Claude keeps apart."""
    attached = message.get("attachments") if isinstance(message, Mapping) else None
    if not isinstance(message, Mapping) or not isinstance(attached, list):
        return message
    pasted = [one.get("extracted_content") for one in attached if isinstance(one, Mapping)]
    return {**message, "content": [first(message, WORDS), *pasted]}


def _is_request(item: Message) -> bool:
    return any(isinstance(item.get(label), list) for label in ("messages", "conversations"))


def _request(item: Message) -> Iterator[Told]:
    """A request to a model: its messages, and the system text that stands beside them."""
    messages = item.get("messages") or item.get("conversations") or []
    system = [{"role": "system", "content": item["system"]}] if item.get("system") else []
    return _in_conversation(
        map(_message, [*system, *messages]), session=session_of(item), title=label_of(item.get("title"))
    )


def _is_response(item: Message) -> bool:
    choices = item.get("choices")
    return isinstance(choices, list) and all(
        isinstance(one, Mapping) and isinstance(one.get("message"), Mapping) for one in choices
    )


def _response(item: Message) -> Iterator[Told]:
    """A model's answer: of several choices the first."""
    return _in_conversation(
        (_message(one["message"]) for one in item["choices"][:1]),
        session=session_of(item),
        title=None,
        at=moment(item.get("created")),
    )


def _is_claude_code(item: Message) -> bool:
    return "type" in item and "role" not in item and any(mark in item for mark in _CLAUDE_CODE_MARKS)


def _claude_code(item: Message) -> Iterator[Told]:
    yield _claude_code_turn(item)


def _claude_code_turn(item: Message) -> Told:
    """A line of a session. What the program put in by itself is no turn."""
    message = item.get("message")
    if item["type"] not in ("user", "assistant") or not isinstance(message, Mapping):
        return Unsaid(NOTICE)
    if any(item.get(mark) for mark in _CLAUDE_CODE_ASIDE):
        return Unsaid(NOTICE)
    said = turn({"role": item["type"], "content": message.get("content")})
    if isinstance(said, Unsaid):
        return said
    text = clean(_CLAUDE_CODE_REMINDER.sub("", said.text))
    if not text or _CLAUDE_CODE_NOISE.match(text):
        return Unsaid(NOTICE)
    return replace(said, text=text, at=time_of(item), session=session_of(item))


def _is_slack(item: Message) -> bool:
    return isinstance(item.get("ts"), str) and isinstance(item.get("text"), str) and "role" not in item


def _slack(item: Message) -> Iterator[Told]:
    if item.get("subtype") not in _SLACK_SPOKEN:
        yield Unsaid(NOTICE)
        return
    name = _slack_name(item)
    yield turn({"speaker": name, "text": _slack_text(item["text"]), "ts": item["ts"]})


def _slack_name(item: Message) -> str | None:
    for label in ("user_profile", "bot_profile"):
        profile = item.get(label)
        if isinstance(profile, Mapping) and (name := first(profile, ("real_name", "display_name", "name"))):
            return label_of(name)
    return label_of(first(item, ("username", "user", "bot_id")))


def _slack_text(text: str) -> str:
    """Without Slack's own marks: `<@U1>` is @U1, `<https://a.org|site>` is site (https://a.org).

    >>> _slack_text("<@U1> see <https://a.org|the site> &amp; <#C2|general>")
    '@U1 see the site (https://a.org) & #general'
    """
    return html.unescape(_SLACK_LINK.sub(_slack_link, text))


def _slack_link(found: re.Match[str]) -> str:
    target, label = found[1], found[2]
    if target[0] in "@#!":
        mark = "@" if target[0] == "!" else target[0]
        return f"{mark}{label.lstrip('@#') if label else target[1:]}"
    return f"{label} ({target})" if label else target


def _message(item: object) -> Told:
    if isinstance(item, Mapping) and is_message(item):
        return turn(item)
    raise InvalidInput(
        f"A message cannot be {_seen(item)}.",
        way_out="Each needs role (or speaker, author, name) and content (or text).",
    )


def _single(item: Message) -> Iterator[Told]:
    yield turn(item)


SHAPES = (
    Shape(_is_chatgpt, _chatgpt, whole=True),
    Shape(_is_claude, _claude, whole=True),
    Shape(_is_request, _request, whole=True),
    Shape(_is_response, _response, whole=True),
    Shape(_is_claude_code, _claude_code, whole=False),
    Shape(_is_slack, _slack, whole=False),
    Shape(is_message, _single, whole=False),
)
