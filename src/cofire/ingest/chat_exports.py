"""Chat exports of ChatGPT, Claude, Slack and WhatsApp, and plain transcripts."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from cofire.errors import InvalidInput
from cofire.ingest.facts import parse_iso_time, parse_time
from cofire.ingest.messages import (
    CONTENT_LABELS,
    EMPTY_REASON,
    MEDIA_REASON,
    NOTICE_REASON,
    ROLES_BY_NAME,
    SYSTEM_REASON,
    TITLE_LABELS,
    WORDLESS_REASON,
    ChatTurn,
    MessageMapping,
    SkippedTurn,
    clean_text,
    first_value,
    is_message,
    read_session,
    read_time,
    read_turn,
    to_label,
)

ParsedTurn = ChatTurn | SkippedTurn

_CHATGPT_TEXT_TYPES = ("text", "multimodal_text")
_CHATGPT_CITATION = re.compile("\ue200[^\ue201]*\ue201|【[^】]*†[^】]*】")
_CLAUDE_CODE_MARKS = ("sessionId", "parentUuid", "isSidechain", "leafUuid", "messageId")
_CLAUDE_CODE_HIDDEN_MARKS = (
    "isMeta",
    "isSidechain",
    "isCompactSummary",
    "isApiErrorMessage",
    "isVisibleInTranscriptOnly",
)
_CLAUDE_CODE_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_CLAUDE_CODE_NOISE = re.compile(
    r"<(?:command|local-command|bash|task)-|\[Request interrupted|Caveat: The messages below"
)
_SLACK_MESSAGE_SUBTYPES = (None, "bot_message", "thread_broadcast", "file_share", "me_message")
_SLACK_LINK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format of exported conversations. An item is a `whole` conversation or a single message."""

    fits: Callable[[MessageMapping], bool]
    read: Callable[[MessageMapping], Iterable[ParsedTurn]]
    whole: bool


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """The turns of one item, and whether it was a whole conversation."""

    turns: Iterable[ParsedTurn]
    whole: bool


def parse_item(item: object) -> ParsedItem:
    """The turns of one item of an export, by the first format that fits."""
    if isinstance(item, Mapping):
        shape = next((shape for shape in EXPORT_FORMATS if shape.fits(item)), None)
        if shape is not None:
            return ParsedItem(shape.read(item), shape.whole)
    raise InvalidInput(
        f"No conversation is recognised in {_describe_item(item)}.",
        way_out="A message is a mapping with role (or speaker, author, name) and content (or text). Exports of ChatGPT, Claude, "
        "Slack and WhatsApp, Claude Code sessions and JSON with a list of messages are read as they are.",
    )


def _describe_item(item: object) -> str:
    if not isinstance(item, Mapping):
        return type(item).__name__
    labels = [str(label)[:40] for label in item]
    return f"a mapping of {', '.join(labels[:8]) or 'nothing'}{', …' if len(labels) > 8 else ''}"


def _with_conversation(
    turns: Iterable[ParsedTurn], *, session: str | None, title: str | None, at: datetime | None = None
) -> Iterator[ParsedTurn]:
    """Turns with the session, title and time of their conversation as defaults."""
    for turn in turns:
        if isinstance(turn, SkippedTurn):
            yield turn
        else:
            yield replace(turn, session=turn.session or session, title=title, at=turn.at or at)


def _is_chatgpt(item: MessageMapping) -> bool:
    nodes = item.get("mapping")
    return isinstance(nodes, Mapping) and all(isinstance(node, Mapping) for node in nodes.values())


def _read_chatgpt(item: MessageMapping) -> Iterator[ParsedTurn]:
    """The visible branch: from the current node up to the root, reversed."""
    messages = [node.get("message") for node in _shown_branch(item)]
    turns = [_read_chatgpt_turn(message) for message in messages if isinstance(message, Mapping)]
    session = to_label(first_value(item, ("conversation_id", "id")))
    return _with_conversation(turns, session=session, title=to_label(item.get("title")))


def _shown_branch(item: MessageMapping) -> list[MessageMapping]:
    nodes: Mapping[str, MessageMapping] = item["mapping"]
    at: Any = item.get("current_node") or _find_last_leaf(nodes)
    path: dict[str, MessageMapping] = {}
    while isinstance(at, str) and at in nodes and at not in path:
        path[at] = nodes[at]
        at = nodes[at].get("parent")
    return list(path.values())[::-1]


def _find_last_leaf(nodes: Mapping[str, MessageMapping]) -> str | None:
    return next((name for name in reversed(list(nodes)) if not nodes[name].get("children")), None)


def _read_chatgpt_turn(message: MessageMapping) -> ParsedTurn:
    content, notes = message.get("content"), message.get("metadata")
    if isinstance(notes, Mapping) and notes.get("is_visually_hidden_from_conversation"):
        return SkippedTurn(SYSTEM_REASON)
    spoken = not isinstance(content, Mapping) or content.get("content_type", "text") in _CHATGPT_TEXT_TYPES
    if not spoken or message.get("recipient", "all") != "all":
        return SkippedTurn(WORDLESS_REASON)
    turn = read_turn(message)
    if isinstance(turn, SkippedTurn):
        return turn
    text = clean_text(_CHATGPT_CITATION.sub("", turn.text))
    return replace(turn, text=text) if text else SkippedTurn(WORDLESS_REASON)


def _is_claude(item: MessageMapping) -> bool:
    return isinstance(item.get("chat_messages"), list)


def _read_claude(item: MessageMapping) -> Iterator[ParsedTurn]:
    return _with_conversation(
        (_read_message(_add_pasted_text(message)) for message in item["chat_messages"]),
        session=to_label(item.get("uuid")),
        title=to_label(first_value(item, TITLE_LABELS)),
    )


def _add_pasted_text(message: object) -> object:
    """A message with the text of its attachments, which Claude stores separately."""
    attached = message.get("attachments") if isinstance(message, Mapping) else None
    if not isinstance(message, Mapping) or not isinstance(attached, list):
        return message
    pasted = [attachment.get("extracted_content") for attachment in attached if isinstance(attachment, Mapping)]
    return {**message, "content": [first_value(message, CONTENT_LABELS), *pasted]}


def _is_request(item: MessageMapping) -> bool:
    return any(isinstance(item.get(label), list) for label in ("messages", "conversations"))


def _read_request(item: MessageMapping) -> Iterator[ParsedTurn]:
    """A request to a model: its messages, and the separate system text."""
    messages = item.get("messages") or item.get("conversations") or []
    system = [{"role": "system", "content": item["system"]}] if item.get("system") else []
    return _with_conversation(
        map(_read_message, [*system, *messages]), session=read_session(item), title=to_label(item.get("title"))
    )


def _is_response(item: MessageMapping) -> bool:
    choices = item.get("choices")
    return isinstance(choices, list) and all(
        isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping) for choice in choices
    )


def _read_response(item: MessageMapping) -> Iterator[ParsedTurn]:
    """The response of a model: the first choice."""
    return _with_conversation(
        (_read_message(choice["message"]) for choice in item["choices"][:1]),
        session=read_session(item),
        title=None,
        at=parse_time(item.get("created")),
    )


def _is_claude_code(item: MessageMapping) -> bool:
    return "type" in item and "role" not in item and any(mark in item for mark in _CLAUDE_CODE_MARKS)


def _read_claude_code(item: MessageMapping) -> Iterator[ParsedTurn]:
    yield _read_claude_code_turn(item)


def _read_claude_code_turn(item: MessageMapping) -> ParsedTurn:
    """A line of a session. Entries that the program added itself are skipped."""
    message = item.get("message")
    if item["type"] not in ("user", "assistant") or not isinstance(message, Mapping):
        return SkippedTurn(NOTICE_REASON)
    if any(item.get(mark) for mark in _CLAUDE_CODE_HIDDEN_MARKS):
        return SkippedTurn(NOTICE_REASON)
    turn = read_turn({"role": item["type"], "content": message.get("content")})
    if isinstance(turn, SkippedTurn):
        return turn
    text = clean_text(_CLAUDE_CODE_REMINDER.sub("", turn.text))
    if not text or _CLAUDE_CODE_NOISE.match(text):
        return SkippedTurn(NOTICE_REASON)
    return replace(turn, text=text, at=read_time(item), session=read_session(item))


def _is_slack(item: MessageMapping) -> bool:
    return isinstance(item.get("ts"), str) and isinstance(item.get("text"), str) and "role" not in item


def _read_slack(item: MessageMapping) -> Iterator[ParsedTurn]:
    if item.get("subtype") not in _SLACK_MESSAGE_SUBTYPES:
        yield SkippedTurn(NOTICE_REASON)
        return
    name = _read_slack_name(item)
    yield read_turn({"speaker": name, "text": _clean_slack_text(item["text"]), "ts": item["ts"]})


def _read_slack_name(item: MessageMapping) -> str | None:
    for label in ("user_profile", "bot_profile"):
        profile = item.get(label)
        if isinstance(profile, Mapping) and (name := first_value(profile, ("real_name", "display_name", "name"))):
            return to_label(name)
    return to_label(first_value(item, ("username", "user", "bot_id")))


def _clean_slack_text(text: str) -> str:
    """Without Slack's markup: `<@U1>` is @U1, `<https://a.org|site>` is site (https://a.org).

    >>> _clean_slack_text("<@U1> see <https://a.org|the site> &amp; <#C2|general>")
    '@U1 see the site (https://a.org) & #general'
    """
    return html.unescape(_SLACK_LINK.sub(_format_slack_link, text))


def _format_slack_link(link: re.Match[str]) -> str:
    target, label = link[1], link[2]
    if target[0] in "@#!":
        mark = "@" if target[0] == "!" else target[0]
        return f"{mark}{label.lstrip('@#') if label else target[1:]}"
    return f"{label} ({target})" if label else target


def _read_message(item: object) -> ParsedTurn:
    if isinstance(item, Mapping) and is_message(item):
        return read_turn(item)
    raise InvalidInput(
        f"A message cannot be {_describe_item(item)}.",
        way_out="Each needs role (or speaker, author, name) and content (or text).",
    )


def _read_single_message(item: MessageMapping) -> Iterator[ParsedTurn]:
    yield read_turn(item)


EXPORT_FORMATS = (
    ExportFormat(_is_chatgpt, _read_chatgpt, whole=True),
    ExportFormat(_is_claude, _read_claude, whole=True),
    ExportFormat(_is_request, _read_request, whole=True),
    ExportFormat(_is_response, _read_response, whole=True),
    ExportFormat(_is_claude_code, _read_claude_code, whole=False),
    ExportFormat(_is_slack, _read_slack, whole=False),
    ExportFormat(is_message, _read_single_message, whole=False),
)


_TRANSCRIPT_LINE = re.compile(
    r"(?:[\[(]?(?P<stamp>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(?::\d\d)?)[\])]?"
    r"\s*[-–]?\s*)?"
    r"(?P<name>[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,3}):(?:\s+(?P<text>.*))?"
)
_LOG_LEVELS = {"trace", "debug", "info", "notice", "warn", "warning", "error", "critical", "fatal"}


def is_transcript(text: str) -> bool:
    """Whether lines are turns of a conversation.

    The first line must be a turn. Then roles alternate, or half of the lines start with names that repeat.

    >>> is_transcript("Ana: Hi!\\nBen: Hello.\\nAna: Tea?"), is_transcript("Title: Tea\\nAuthor: Ana")
    (True, False)
    """
    lines = [_match_opening(line) for line in text.split("\n") if line.strip()]
    turns = [opening for opening in lines if opening]
    if not turns or lines[0] is None:
        return False
    if _is_between_roles(turns):
        return True
    names = {opening["name"] for opening in turns}
    return len(turns) * 2 >= len(lines) and (len(names) < len(turns) or bool(turns[0]["stamp"]))


def read_transcript(text: str) -> Iterator[ChatTurn | SkippedTurn]:
    """The turns of a transcript. A line that starts no turn continues the one before."""
    openings = [_match_opening(line) for line in text.split("\n")]
    only_roles = _is_between_roles([opening for opening in openings if opening])
    current: re.Match[str] | None = None
    lines: list[str] = []
    for line, opening in zip(text.split("\n"), openings, strict=True):
        if opening is None or (only_roles and _opening_role(opening) is None):
            lines.append(line)
            continue
        if current is not None:
            yield _make_transcript_turn(current, lines)
        current, lines = opening, [opening["text"] or ""]
    if current is not None:
        yield _make_transcript_turn(current, lines)


def _match_opening(line: str) -> re.Match[str] | None:
    opening = _TRANSCRIPT_LINE.fullmatch(line.rstrip())
    return None if opening is None or opening["name"].casefold() in _LOG_LEVELS else opening


def _is_between_roles(turns: list[re.Match[str]]) -> bool:
    """Whether a user and an assistant talk. Then a line such as "Note: …" in an answer is no turn."""
    return (
        bool(turns)
        and _opening_role(turns[0]) is not None
        and len({role for turn in turns if (role := _opening_role(turn))}) >= 2
    )


def _opening_role(opening: re.Match[str]) -> str | None:
    return ROLES_BY_NAME.get(opening["name"].casefold())


def _make_transcript_turn(opening: re.Match[str], lines: list[str]) -> ChatTurn | SkippedTurn:
    text, role = clean_text("\n".join(lines)), _opening_role(opening)
    if not text:
        return SkippedTurn(EMPTY_REASON)
    return ChatTurn(text, role or opening["name"], role, parse_iso_time(opening["stamp"] or ""), None)


_STAMPED_LINE = re.compile(
    r"[\u200e\u200f\u202a-\u202e\ufeff]*"
    r"(?P<bracket>\[)?(?P<date>\d{1,4}[./-]\d{1,2}[./-]\d{2,4})\.?,?\s(?:\w{2,3}\s)?"
    r"(?P<time>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)(?:\s?(?P<half>[ap])\.?\s?m\.?)?"
    r"(?(bracket)\]|\s[-–])\s(?P<rest>.*)",
    re.IGNORECASE,
)
_SPEAKER_LINE = re.compile(r"(?P<name>[^:]{1,100}):\s(?P<text>.*)", re.DOTALL)
_DIRECTION_MARK = re.compile("[\u200e\u200f\u202a-\u202e]")
_EDIT_NOTICE = re.compile("(?<=\\S)\\s*\u200e<[^<>]*>$")
_QUOTATION_MARK = re.compile('["“”„«»]')
_MEDIA_SUFFIXES = (
    "jpe?g|png|webp|gif|heic|mp4|mov|3gp|opus|ogg|m4a|mp3|aac|wav|pdf|vcf|docx?|xlsx?|pptx?|odt|csv|txt|zip|apk"
)
_MEDIA_PLACEHOLDER = re.compile(
    rf"<(?![^<>]*://)[^<>@]*>|\S+\.(?:{_MEDIA_SUFFIXES})(?: \([^()]*\)| •.*)?", re.IGNORECASE
)

DATE_ORDERS = {
    "day first": (2, 1, 0),
    "month first": (2, 0, 1),
    "year first": (0, 1, 2),
}  # places of year, month and day


@dataclass(frozen=True, slots=True)
class WhatsAppEntry:
    """A line with a timestamp, and the lines that follow it."""

    bracketed: bool
    numbers: tuple[int, ...]
    clock: str
    half: str | None
    text: str


def is_whatsapp(text: str) -> bool:
    """Whether the first line that is not blank has a timestamp of WhatsApp."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return _STAMPED_LINE.match(first) is not None


def read_whatsapp(text: str) -> Iterator[ChatTurn | SkippedTurn]:
    """The messages of an export, each with all its lines."""
    entries = list(_split_whatsapp_entries(text))
    order = _detect_date_order(entries)
    return (_make_whatsapp_turn(entry, order) for entry in entries)


def _split_whatsapp_entries(text: str) -> Iterator[WhatsAppEntry]:
    stamp: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        next_stamp = _STAMPED_LINE.match(line)
        if next_stamp is None:
            lines.append(line)
            continue
        if stamp is not None:
            yield _make_whatsapp_entry(stamp, lines)
        stamp, lines = next_stamp, [next_stamp["rest"]]
    if stamp is not None:
        yield _make_whatsapp_entry(stamp, lines)


def _make_whatsapp_entry(stamp: re.Match[str], lines: list[str]) -> WhatsAppEntry:
    numbers = tuple(int(part) for part in re.split(r"[./-]", stamp["date"]))
    return WhatsAppEntry(
        bool(stamp["bracket"]), numbers, stamp["time"].replace(".", ":"), stamp["half"], "\n".join(lines)
    )


def _make_whatsapp_turn(entry: WhatsAppEntry, order: str) -> ChatTurn | SkippedTurn:
    line = _SPEAKER_LINE.match(entry.text)
    if line is None or _has_open_quotation(line["name"]):
        return SkippedTurn(NOTICE_REASON)
    raw = _EDIT_NOTICE.sub("", line["text"])
    text = clean_text(_DIRECTION_MARK.sub("", raw))
    if _MEDIA_PLACEHOLDER.fullmatch(text) or (entry.bracketed and _is_phone_notice(raw)):
        return SkippedTurn(MEDIA_REASON)
    if not text:
        return SkippedTurn(EMPTY_REASON)
    name = clean_text(_DIRECTION_MARK.sub("", line["name"])).lstrip("~").strip()
    return ChatTurn(text, name, None, _parse_entry_time(entry, order), None)


def _has_open_quotation(name: str) -> bool:
    """Whether the colon is inside a quoted title in a notice, so that there is no speaker.

    >>> _has_open_quotation('Ana changed the subject to "Trip'), _has_open_quotation('Ana "Nan" Lima')
    (True, False)
    """
    return len(_QUOTATION_MARK.findall(name)) % 2 == 1


def _is_phone_notice(raw: str) -> bool:
    """Whether WhatsApp wrote this in place of media.

    Exports with brackets mark such lines in any language. Polls (several lines) and places (with an
    address) are marked too, but have text.
    """
    return raw.startswith("\u200e") and "\n" not in raw.strip() and "://" not in raw


def _detect_date_order(entries: list[WhatsAppEntry]) -> str:
    """The date order for which all dates are valid, time goes forward, and the chat is shortest.

    Between equal orders, clocks with am and pm prefer the month first, others the day.
    """
    twelve = any(entry.half for entry in entries)
    likely = ("month first", "day first") if twelve else ("day first", "month first")
    return min((*likely, "year first"), key=lambda order: _rate_date_order(entries, order))


def _rate_date_order(entries: list[WhatsAppEntry], order: str) -> tuple[int, int, bool, timedelta]:
    """Number of invalid dates, number of steps back in time, whether the order is rare, duration."""
    moments = [_parse_entry_time(entry, order) for entry in entries]
    valid = [moment for moment in moments if moment is not None]
    backward = sum(later < earlier for earlier, later in pairwise(valid))
    span = max(valid) - min(valid) if valid else timedelta()
    return len(moments) - len(valid), backward, order == "year first", span


def _parse_entry_time(entry: WhatsAppEntry, order: str) -> datetime | None:
    year, month, day = (entry.numbers[place] for place in DATE_ORDERS[order])
    hour, minute, second = (*map(int, entry.clock.split(":")), 0)[:3]
    if entry.half:
        hour = hour % 12 + (12 if entry.half.lower() == "p" else 0)
    if (year >= 100) != (max(entry.numbers) >= 100):
        return None
    try:
        return datetime(year if year >= 100 else 2000 + year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
