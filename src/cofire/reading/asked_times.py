"""Asked times: the times that a question asks about, and how close a moment is to them. No clock is read.

`times` reads a fact, whose date without a year is the nearest one. A question looks back over all that is remembered: there
such a date is that of every year of memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cofire.reading import almanac
from cofire.reading.almanac import Period
from cofire.reading.base import Span
from cofire.reading.times import plain_letters, times
from cofire.reading.vocabulary import MONTHS

Floats = NDArray[np.float64]
Relation = Literal["in", "before", "after"]
# A period that a text speaks of, and where.
Placed = tuple[int, Span]

MOST_YEARS = 8
LONGEST = 400  # Letters of a question that are looked at.
_SECONDS = 86_400.0
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class AskedSpan:
    """A stretch of time, from `start` up to but not including `end`, and whether it, what was before it or what came after
    is asked about. `from_now` tells that it is so only as seen from the moment of the question."""

    start: datetime
    end: datetime
    surface: str
    relation: Relation
    from_now: bool = False


def asked_spans(
    text: str, *, now: datetime, earliest: datetime | None, latest: datetime | None
) -> tuple[AskedSpan, ...]:
    """The times a question asks about, in its order. `earliest` and `latest` bound memory; without them the year of now is tried.

    >>> now, first = datetime(2024, 6, 15, tzinfo=UTC), datetime(2022, 3, 1, tzinfo=UTC)
    >>> asked = "Where did we eat on 3 July, before last week?"
    >>> [
    ...     (str(span.start.date()), str(span.end.date()), span.surface, span.relation)
    ...     for span in asked_spans(asked, now=now, earliest=first, latest=now)
    ... ]  # doctest: +NORMALIZE_WHITESPACE
    [('2022-07-03', '2022-07-04', '3 July', 'in'), ('2023-07-03', '2023-07-04', '3 July', 'in'),
     ('2024-07-03', '2024-07-04', '3 July', 'in'), ('2024-06-03', '2024-06-10', 'last week', 'before')]
    >>> asked_spans("May I ask whether 3.11 took a second?", now=now, earliest=first, latest=now)
    ()
    """
    text, now = plain_letters(text[:LONGEST]), _zoned(now)
    yearless = list(_yearless(text, now, _years(now, earliest, latest))) if _may_name_a_date(text) else []
    taken = [(start, start + len(span.surface)) for start, span in yearless]
    said, from_now = _said(text, now)
    free = [(start, span) for start, span in said if not _overlaps(start, span, taken)]
    seen = from_now.intersection(free)
    found = sorted([*yearless, *free], key=lambda placed: (placed[0], placed[1].start))
    return tuple(
        AskedSpan(span.start, span.end, span.surface, relation, (start, span) in seen)
        for start, span in _stretched(text, found)
        for relation in _relations(text[:start])
    )


def closeness(
    spans: Sequence[AskedSpan],
    moments: Floats,
    *,
    later_days: float,
    earlier_days: float,
    earlier_share: float,
    beyond_days: float,
) -> Floats:
    """How well moments, in POSIX seconds, fit the times asked about, within [0, 1]; the best span counts. NaN fits none.

    In a span 1; d days after it, when one may still tell of it, e^(−d/later_days); d days before it
    earlier_share · e^(−d/earlier_days). Where what was before a span is asked for, a moment d days before its start has
    e^(−d/beyond_days) and any other 0; what came after, the same from its end on. At day 7, 10.5, 17 and 41, for day 10:

    >>> fading = {"later_days": 6.0, "earlier_days": 3.0, "earlier_share": 0.7, "beyond_days": 30.0}
    >>> start, end = datetime(1970, 1, 11, tzinfo=UTC), datetime(1970, 1, 12, tzinfo=UTC)
    >>> moments = np.array([7.0, 10.5, 17.0, 41.0]) * 86_400
    >>> closeness([AskedSpan(start, end, "", "in")], moments, **fading).round(4).tolist()
    [0.2575, 1.0, 0.3679, 0.0067]
    >>> closeness([AskedSpan(start, end, "", "before")], moments, **fading).round(4).tolist()
    [0.9048, 0.0, 0.0, 0.0]
    >>> closeness([AskedSpan(start, end, "", "after")], moments, **fading).round(4).tolist()
    [0.0, 0.0, 0.8187, 0.3679]
    """
    best = np.zeros(len(moments))
    for span in spans:
        before = (span.start.timestamp() - moments) / _SECONDS
        after = (moments - span.end.timestamp()) / _SECONDS
        if span.relation == "before":
            fit = _fallen(before, beyond_days)
        elif span.relation == "after":
            fit = _fallen(after, beyond_days)
        else:
            around = np.maximum(_fallen(after, later_days), earlier_share * _fallen(before, earlier_days))
            fit = np.where((before <= 0) & (after < 0), 1.0, around)
        best = np.maximum(best, fit)
    return best


def _fallen(days: Floats, scale: float) -> Floats:
    """e^(−days/scale), and nothing for days on the other side."""
    return np.where(days >= 0, np.exp(-np.maximum(days, 0.0) / scale), 0.0)


def _zoned(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _years(now: datetime, earliest: datetime | None, latest: datetime | None) -> range:
    """The years of memory, at most the latest eight, in the zone of now."""
    zone = now.tzinfo
    last = _zoned(latest).astimezone(zone).year if latest else now.year
    first = _zoned(earliest).astimezone(zone).year if earliest else last
    return range(max(first, last - MOST_YEARS + 1), last + 1)


def _said(text: str, now: datetime) -> tuple[list[Placed], frozenset[Placed]]:
    """What `times` finds, and what of that is seen from now. Beside a day that is named in full such a time is seen from there as well:
    "the Sunday before 25 October 2022" is one reading, "what I said yesterday about the meeting of 25 October 2022" the other."""
    found = _placed(text, times(text, now))
    told = {span.surface for span in times(text, None)} if found else set()
    in_full = [placed for placed in found if placed[1].surface in told]
    from_now = [placed for placed in found if placed[1].surface not in told and not _is_in_title(text, *placed)]
    days = [span for _, span in in_full if span.end - span.start <= _DAY and span.start <= now]
    if not days or not from_now:
        return [*in_full, *from_now], frozenset(from_now)
    places = {start for start, _ in from_now}
    seen = _placed(text, times(text, days[0].start + (days[0].end - days[0].start) / 2))
    from_there = [placed for placed in seen if placed[0] in places and placed not in from_now]
    return [*in_full, *from_now, *from_there], frozenset(from_now)


def _placed(text: str, spans: Sequence[Span]) -> list[Placed]:
    """Spans in the order of the text, with their places."""
    found, place = list[Placed](), 0
    for span in spans:
        start = max(text.find(span.surface, place), 0)
        place = start + len(span.surface)
        found.append((start, span))
    return found


def _overlaps(start: int, span: Span, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < until and since < start + len(span.surface) for since, until in taken)


def _is_in_title(text: str, start: int, span: Span) -> bool:
    """Whether a time is part of something in quotes, as titles are, and no question by itself."""
    end = start + len(span.surface)
    titles = (match.span() for match in _TITLE.finditer(text) if match.group() != text.strip())
    return any(since < start and end < until for since, until in titles)


def _may_name_a_date(text: str) -> bool:
    """Whether any month or season is spelled there: to look for those is sooner done than for dates."""
    low = text.lower()
    return any(part in low for part in _PARTS_OF_YEAR)


def _yearless(text: str, now: datetime, years: range) -> Iterator[tuple[int, Span]]:
    """Dates without their year, in every year of memory that has them."""
    end = 0
    for match in _DATE.finditer(text):
        if _is_a_time(match, since=end):
            end = match.end()
            periods = (_in_year(match, now, year) for year in years)
            yield from ((match.start(), Span(*period, surface=match.group())) for period in periods if period)


def _is_a_time(match: re.Match[str], *, since: int) -> bool:
    """A day of a month always is; a month or a season by itself if the words before it say so, or it is joined to such a one."""
    if match["day"] or match["later"]:
        return True
    before = match.string[: match.start()]
    if match["season"]:
        return bool(_BEFORE_SEASON.search(before))
    joined = since > 0 and _JOINT.fullmatch(before, since)
    capital = match.group()[0].isupper() and _BEFORE_CAPITAL.search(before)
    return bool(joined or capital or _BEFORE_MONTH.search(before))


def _stretched(text: str, found: Sequence[tuple[int, Span]]) -> list[tuple[int, Span]]:
    """Two times with "between … and" or "from … to" around them are one stretch, as short as their years allow."""
    places = {start: [span for place, span in found if place == start] for start, _ in found}
    for first, last in pairwise(list(places)):
        begins = places[first]
        between = text[first + len(begins[0].surface) : last] if begins else ""
        if _FROM.search(text[:first]) and _TO.fullmatch(between):
            surface = text[first : last + len(places[last][0].surface)]
            places[first] = list(_bridged(begins, places[last], surface))
            places[last] = []
    return [(start, span) for start, spans in places.items() for span in spans]


def _bridged(begins: Sequence[Span], ends: Sequence[Span], surface: str) -> Iterator[Span]:
    for end in ends:
        if earlier := [begin.start for begin in begins if begin.start <= end.start]:
            yield Span(max(earlier), end.end, surface)


def _in_year(match: re.Match[str], now: datetime, year: int) -> Period | None:
    """None where the year has no such day (29 February), or the calendar no such year."""
    try:
        if match["season"]:
            return almanac.season(now, year, match["season"])
        month = almanac.month(now, year, _number(match["of"] or match["with"] or match["month"]))
        day = match["day"] or match["later"]
        return almanac.day(month[0].replace(day=int(day)), 0) if day else month
    except (ValueError, OverflowError):
        return None


def _number(month: str) -> int:
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(month[:3].lower()))


def _relations(before: str) -> tuple[Relation, ...]:
    """What the words in front of a time make of it: "since May" is in May and after it."""
    found = _RELATION.search(before)
    return _RELATIONS[found["word"].lower()] if found else ("in",)


_RELATIONS: dict[str, tuple[Relation, ...]] = {
    **dict.fromkeys(("before", "until", "till", "prior to", "earlier than"), ("before",)),
    **dict.fromkeys(("after", "following", "later than"), ("after",)),
    "since": ("in", "after"),
    "by": ("in", "before"),
}
_SOFTLY = r"(?:\s+(?:the|about|around|early|late|mid|end of|start of|beginning of|month of|year|on))*[\s-]+"
_RELATION = re.compile(rf"(?i)\b(?P<word>{'|'.join(_RELATIONS)}){_SOFTLY}$")

# Capitals tell May, March and August from the words; behind "in" there is no doubt.
_CAPITAL = (
    "[Jj]anuary|[Ff]ebruary|March|[Aa]pril|May|[Jj]une|[Jj]uly|August|[Ss]eptember|[Oo]ctober|[Nn]ovember|[Dd]ecember"
    "|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b"
)
_ANY = f"(?i:{'|'.join(MONTHS)})|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b"
_PARTS_OF_YEAR = (*(month[:3].lower() for month in MONTHS), "spring", "summer", "autumn", "fall", "winter")
_TH = "(?:st|nd|rd|th)?"
_NO_YEAR = (
    r"(?!\w|[.:/-]\d|\.?,?\s+(?:of\s+)?(?:1\d|20)\d\d\b|\s+(?:people|users|items|times|points|rows|miles|km)\b|\s?%)"
)
_DATE = re.compile(
    rf"(?<![\w.])(?:(?P<day>\d{{1,2}}){_TH}(?:\s+of)?\s+(?P<of>{_CAPITAL})|(?P<with>{_CAPITAL})\.?\s+(?:the\s+)?(?P<later>\d{{1,2}}){_TH}"
    rf"|(?P<month>{_ANY})(?!\s+(?:on|\d))|(?P<season>spring|summer|autumn|fall|winter)(?!\s+(?:of|back|on|in)\b)){_NO_YEAR}"
)
_EARLY = r"(?:(?:early|late|mid|the month of|the (?:beginning|start|middle|end) of)[\s-]+)?"
_BEFORE_MONTH = re.compile(rf"\b(?i:in|during|since|until|till|early|late|mid)[\s-]+{_EARLY}$")
_BEFORE_CAPITAL = re.compile(rf"\b(?i:before|after|by|from|through|of|around|between|the)\s+{_EARLY}$")
_BEFORE_SEASON = re.compile(rf"\b(?i:in|during|since|until|before|after|of)\s+(?:the\s+)?{_EARLY}$")
# An inch is no quotation mark.
_TITLE = re.compile(r'(?<!\w)"[^"?]*"|“[^”?]*”')
_FROM = re.compile(r"(?i)\b(?:between|from)\s+(?:the\s+)?$")
_TO = re.compile(r"(?i)\s*,?\s+(?:and|to|until|till|through)\s+(?:the\s+)?")
_JOINT = re.compile(r"\s*(?:,|,?\s+(?:and|or|to|through))\s+")
