"""WhatsApp: its text exports, whose dates follow the phone's country. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from cofire.ingesting.turns import EMPTY, MEDIA, NOTICE, Turn, Unsaid, clean

_STAMPED = re.compile(
    r"[\u200e\u200f\u202a-\u202e\ufeff]*"
    r"(?P<bracket>\[)?(?P<date>\d{1,4}[./-]\d{1,2}[./-]\d{2,4})\.?,?\s(?:\w{2,3}\s)?"
    r"(?P<time>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)(?:\s?(?P<half>[ap])\.?\s?m\.?)?"
    r"(?(bracket)\]|\s[-–])\s(?P<rest>.*)",
    re.IGNORECASE,
)
_SAID = re.compile(r"(?P<name>[^:]{1,100}):\s(?P<text>.*)", re.DOTALL)
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]")
_EDITED = re.compile("(?<=\\S)\\s*\u200e<[^<>]*>$")
_QUOTATION_MARK = re.compile('["“”„«»]')
_SUFFIX = "jpe?g|png|webp|gif|heic|mp4|mov|3gp|opus|ogg|m4a|mp3|aac|wav|pdf|vcf|docx?|xlsx?|pptx?|odt|csv|txt|zip|apk"
_MEDIA = re.compile(rf"<(?![^<>]*://)[^<>@]*>|\S+\.(?:{_SUFFIX})(?: \([^()]*\)| •.*)?", re.IGNORECASE)

ORDERS = {"day first": (2, 1, 0), "month first": (2, 0, 1), "year first": (0, 1, 2)}  # places of year, month and day


@dataclass(frozen=True, slots=True)
class Entry:
    """A stamped line with the lines that follow it."""

    bracketed: bool
    numbers: tuple[int, ...]
    clock: str
    half: str | None
    text: str


def is_whatsapp(text: str) -> bool:
    """Whether the first line that is not blank is stamped as WhatsApp does."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return _STAMPED.match(first) is not None


def turns(text: str) -> Iterator[Turn | Unsaid]:
    """The messages of an export, each with all its lines."""
    entries = list(_entries(text))
    order = _order(entries)
    return (_turn(entry, order) for entry in entries)


def _entries(text: str) -> Iterator[Entry]:
    stamp: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        found = _STAMPED.match(line)
        if found is None:
            lines.append(line)
            continue
        if stamp is not None:
            yield _entry(stamp, lines)
        stamp, lines = found, [found["rest"]]
    if stamp is not None:
        yield _entry(stamp, lines)


def _entry(stamp: re.Match[str], lines: list[str]) -> Entry:
    numbers = tuple(int(part) for part in re.split(r"[./-]", stamp["date"]))
    return Entry(bool(stamp["bracket"]), numbers, stamp["time"].replace(".", ":"), stamp["half"], "\n".join(lines))


def _turn(entry: Entry, order: str) -> Turn | Unsaid:
    found = _SAID.match(entry.text)
    if found is None or _opens_quotation(found["name"]):
        return Unsaid(NOTICE)
    raw = _EDITED.sub("", found["text"])
    text = clean(_MARKS.sub("", raw))
    if _MEDIA.fullmatch(text) or (entry.bracketed and _is_by_the_phone(raw)):
        return Unsaid(MEDIA)
    if not text:
        return Unsaid(EMPTY)
    name = clean(_MARKS.sub("", found["name"])).lstrip("~").strip()
    return Turn(text, name, None, _moment(entry, order), None)


def _opens_quotation(name: str) -> bool:
    """Whether the colon stands in the title that a notice quotes, so that nobody speaks.

    >>> _opens_quotation('Ana changed the subject to "Trip'), _opens_quotation('Ana "Nan" Lima')
    (True, False)
    """
    return len(_QUOTATION_MARK.findall(name)) % 2 == 1


def _is_by_the_phone(raw: str) -> bool:
    """Whether the phone wrote this in place of a picture or the like. Exports with brackets, and only they, mark it, in any language;
    a poll, which has several lines, and a place, which has an address, are marked too but have words."""
    return raw.startswith("\u200e") and "\n" not in raw.strip() and "://" not in raw


def _order(entries: list[Entry]) -> str:
    """How the dates are to be read: so that each is one, and the chat goes forward in time and lasts no longer than it must.

    Where several orders do as well, clocks of twelve hours go with the month first, others with the day.
    """
    twelve = any(entry.half for entry in entries)
    likely = ("month first", "day first") if twelve else ("day first", "month first")
    return min((*likely, "year first"), key=lambda order: _oddness(entries, order))


def _oddness(entries: list[Entry], order: str) -> tuple[int, int, bool, timedelta]:
    """How many dates are none, how many go back in time, whether the order is a rare one, and how long the chat lasts."""
    moments = [_moment(entry, order) for entry in entries]
    known = [moment for moment in moments if moment is not None]
    backward = sum(later < earlier for earlier, later in pairwise(known))
    span = max(known) - min(known) if known else timedelta()
    return len(moments) - len(known), backward, order == "year first", span


def _moment(entry: Entry, order: str) -> datetime | None:
    year, month, day = (entry.numbers[place] for place in ORDERS[order])
    hour, minute, second = (*map(int, entry.clock.split(":")), 0)[:3]
    if entry.half:
        hour = hour % 12 + (12 if entry.half.lower() == "p" else 0)
    if (year >= 100) != (max(entry.numbers) >= 100):
        return None
    try:
        return datetime(year if year >= 100 else 2000 + year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
